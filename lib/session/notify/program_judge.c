#include "session/notify/program_judge.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"

/* How long the judge may take between its last notes. */
enum { LEAVE_MS = 2000 };

struct ab_program_judge {
	int sock, seat;
	bool begun;
};

int ab_program_judge_open(struct ab_program_judge **ret, struct ab_error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "make a socket pair");
		return ab_step(err, "enforcement");
	}
	*ret = ab_alloc(sizeof(**ret));
	**ret = (struct ab_program_judge){ .sock = pair[0], .seat = pair[1] };
	return 0;
}

int ab_program_judge_seat(const struct ab_program_judge *c)
{
	return c->seat;
}

void ab_program_judge_leave_seat(struct ab_program_judge *c)
{
	close(ab_take_fd(&c->seat));
}

void ab_program_judge_begin(struct ab_program_judge *c)
{
	c->begun = true;
}

bool ab_program_judge_begun(const struct ab_program_judge *c)
{
	return c->begun;
}

int ab_program_judge_add(struct ab_program_judge *c, int listener, const struct ab_judge_more *more)
{
	return ab_send_fds(c->sock, more, sizeof(*more), &listener, 1);
}

static int fail_gone(struct ab_error *err)
{
	ab_fail(err, AB_ESYSTEM, 0, "the judge process has died");
	ab_hint(err, "the run was ended because it could not create files any more; run it again");
	return ab_step(err, "enforcement");
}

int ab_program_judge_fd(const struct ab_program_judge *c)
{
	return c->sock;
}

int ab_program_judge_hear(struct ab_program_judge *c, struct ab_note *ret, struct ab_error *err)
{
	ssize_t n = ab_recv_fds(c->sock, ret, sizeof(*ret), NULL, NULL, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n != (ssize_t)sizeof(*ret) || ret->decision > AB_FORBIDDEN ||
	    ret->kind >= AB_NOTE_KINDS || ret->words > sizeof(ret->command))
		return fail_gone(err);
	ret->access[sizeof(ret->access) - 1] = '\0';
	ret->call[sizeof(ret->call) - 1] = '\0';
	ret->exe[sizeof(ret->exe) - 1] = '\0';
	ret->hint[sizeof(ret->hint) - 1] = '\0';
	ret->rule[sizeof(ret->rule) - 1] = '\0';
	ret->reason[sizeof(ret->reason) - 1] = '\0';
	ret->by[sizeof(ret->by) - 1] = '\0';
	ret->path[sizeof(ret->path) - 1] = '\0';
	ret->command[sizeof(ret->command) - 1] = '\0';
	return 1;
}

void ab_program_judge_dismiss(struct ab_program_judge *c)
{
	shutdown(c->sock, SHUT_WR);
}

bool ab_program_judge_await(const struct ab_program_judge *c)
{
	struct pollfd notes = { .fd = c->sock, .events = POLLIN };
	int r;

	do
		r = poll(&notes, 1, LEAVE_MS);
	while (r < 0 && errno == EINTR);
	return r > 0;
}

void ab_program_judge_free(struct ab_program_judge *c)
{
	if (!c)
		return;
	ab_closep(&c->seat);
	close(c->sock);
	free(c);
}
