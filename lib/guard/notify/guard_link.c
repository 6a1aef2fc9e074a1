#include "guard/notify/guard_link.h"

/* How long the guard may take between its last notes. */
enum { LEAVE_MS = 2000 };

int ab_guard_link_open(struct ab_guard_link **ret, struct ab_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ab_fail_step(err, "enforcement", errno, "make a socket pair");
	*ret = ab_alloc(sizeof(**ret));
	**ret = (struct ab_guard_link){ .sock = pair[0], .seat = pair[1] };
	return 0;
}

void ab_guard_link_leave_seat(struct ab_guard_link *c)
{
	close(ab_take_fd(&c->seat));
}

int ab_guard_link_add(struct ab_guard_link *c, int listener, const struct ab_guard_more *more)
{
	return ab_send_fds(c->sock, more, sizeof(*more), &listener, 1);
}

#define LAST(text) (offsetof(struct ab_note, text) + sizeof(((struct ab_note *)0)->text) - 1)

int ab_guard_link_hear(struct ab_guard_link *c, struct ab_note *ret, struct ab_error *err)
{
	/* The guard may be hostile: texts end where they must. */
	static const size_t texts[] = { LAST(access), LAST(call), LAST(exe),
					LAST(hint),   LAST(rule), LAST(reason),
					LAST(by),     LAST(path), LAST(command) };
	ssize_t n = ab_recv_fds(c->sock, ret, sizeof(*ret), NULL, NULL, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n != (ssize_t)sizeof(*ret) || ret->decision > AB_FORBIDDEN ||
	    ret->kind >= AB_NOTE_KINDS || ret->words > sizeof(ret->command)) {
		ab_fail(err, AB_ESYSTEM, 0, "the guard process has died");
		ab_hint(err,
			"the run was ended because it could not create files any more; run it again");
		return ab_step(err, "enforcement");
	}
	for (size_t i = 0; i < AB_COUNT(texts); i++)
		((char *)ret)[texts[i]] = '\0';
	return 1;
}

void ab_guard_link_dismiss(struct ab_guard_link *c)
{
	shutdown(c->sock, SHUT_WR);
}

bool ab_guard_link_await(const struct ab_guard_link *c)
{
	return ab_poll(c->sock, POLLIN, LEAVE_MS) > 0;
}

void ab_guard_link_free(struct ab_guard_link *c)
{
	if (!c)
		return;
	ab_closep(&c->seat);
	close(c->sock);
	free(c);
}
