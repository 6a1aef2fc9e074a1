/* The supervisor's side of the broker. */
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "broker/broker_wire.h"

int ab_broker_fd(const struct ab_broker *broker)
{
	return broker->helper.sock;
}

static int take_answer(struct ab_broker *broker, struct answer *a, int *ret_fd, size_t *ret_lines,
		       struct ab_error *err)
{
	size_t nfds = 1;
	ssize_t n = ab_recv_fds(broker->helper.sock, a, ANSWER_LEN(TEXT_ROOM), ret_fd, &nfds, 0);

	if (n < (ssize_t)ANSWER_LEN(0))
		return ab_fail(err, AB_ESYSTEM, 0, "the broker has died");
	*ret_lines = (size_t)n - ANSWER_LEN(0);
	a->lines[*ret_lines] = '\0';
	return 0;
}

/* Wait for the reply to ASK_SWEEP. The broker may have ended the run before: then *ret_fatal says
 * why. */
static int wait_for_answer(struct ab_broker *broker, struct answer *a, size_t *ret_lines,
			   struct ab_error *ret_fatal, struct ab_error *err)
{
	for (;;) {
		ab_autoclose int fd = -1;

		if (take_answer(broker, a, &fd, ret_lines, err) < 0) {
			if (ret_fatal->code != AB_ENONE)
				*err = *ret_fatal;
			return -1;
		}
		if (a->kind == ANSWER_SWEPT)
			return 0;
		if (a->kind == ANSWER_FATAL && ret_fatal->code == AB_ENONE)
			*ret_fatal = a->error;
		explicit_bzero(a->lines, *ret_lines);
	}
}

/* A text too long for a packet; its NUL comes with it. */
static int map_text(struct ab_broker_news *news, int fd)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) < 0)
		return ab_fail(&news->error, AB_ESYSTEM, errno, "read the broker's text");
	if (st.st_size < 1 || st.st_size > AB_BROKER_TEXT_MAX + 1)
		return ab_fail(&news->error, AB_ESYSTEM, EFBIG, "read the broker's text");
	news->mapped = (size_t)st.st_size;
	map = mmap(NULL, news->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		news->mapped = 0;
		return ab_fail(&news->error, AB_ESYSTEM, errno, "read the broker's text");
	}
	news->text = map;
	news->len = news->mapped - 1;
	return 0;
}

int ab_broker_hear(struct ab_broker *broker, struct ab_broker_news *ret, struct ab_error *err)
{
	static struct answer a;
	ab_autoclose int fd = -1;
	size_t len = 0;

	if (take_answer(broker, &a, &fd, &len, err) == 0) {
		if (a.kind < AB_NEWS_COUNT) {
			*ret = (struct ab_broker_news){ .kind = a.kind,
							.ticket = a.ticket,
							.number = a.number,
							.fd = -1,
							.error = a.error };
			if (a.kind == AB_NEWS_AGENT)
				ret->fd = ab_take_fd(&fd);
			else if (a.result == 0 && fd >= 0) {
				(void)map_text(ret, fd);
			} else if (a.result == 0) {
				ret->text = a.lines;
				ret->len = len;
			}
			return 0;
		}
		*err = a.error;
	}
	if (!err->hint[0])
		ab_hint(err, "the run was ended because protected files were no longer watched; "
			     "run it again");
	return ab_step(err, "broker");
}

void ab_broker_forget(struct ab_broker_news *news)
{
	char *text = (char *)(uintptr_t)news->text;

	if (news->mapped)
		munmap(text, news->mapped);
	else if (text)
		explicit_bzero(text, news->len);
	ab_closep(&news->fd);
	news->text = NULL;
	news->mapped = 0;
}

/* Does not wait: -1 when there is no room. */
static int send_request(struct ab_broker *broker, enum kind kind, uint32_t ticket, const void *body,
			size_t len)
{
	uint32_t head[] = { kind, ticket };
	struct iovec iov[] = {
		{ head, sizeof(head) },
		{ (void *)(uintptr_t)body, len },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = AB_COUNT(iov) };
	ssize_t n;

	_Static_assert(sizeof(head) == ASK_LEN(0), "the text follows");
	if (len > TEXT_ROOM)
		return -1;
	do
		n = sendmsg(broker->helper.sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

int ab_broker_check(struct ab_broker *broker)
{
	return eventfd_write(broker->wake, 1);
}

int ab_broker_checked(struct ab_broker *broker, uint64_t *ret_claims, char **ret_why,
		      struct ab_error *err)
{
	static struct answer a;
	ab_autoclose int fd = -1;
	size_t len = 0;

	*ret_why = NULL;
	if (take_answer(broker, &a, &fd, &len, err) < 0)
		return ab_step(err, "broker");
	*ret_claims = a.claims;
	if (a.kind == ANSWER_CHECKED && a.result == 0)
		return 0;
	*ret_why = ab_strdup(a.kind == ANSWER_CHECKED ? a.lines : a.error.text);
	return 1;
}

/* Waits until there is room. */
static int send_waiting(struct ab_broker *broker, enum kind kind, const void *body, size_t len,
			const int *fds, size_t nfds)
{
	static struct ask ask;

	if (len > TEXT_ROOM)
		return -1;
	ask.kind = kind;
	memcpy(ask.text, body, len);
	return ab_send_fds(broker->helper.sock, &ask, ASK_LEN(len), fds, nfds);
}

int ab_broker_begin(struct ab_broker *broker, const char *cwd, bool yes, int copy)
{
	ab_autofree char *text = ab_printf("%c%s", yes ? '1' : '0', cwd);

	return send_waiting(broker, ASK_BEGIN, text, strlen(text), &copy, copy >= 0);
}

int ab_broker_start_guard(struct ab_broker *broker, int listener, const struct ab_built *built)
{
	if (ab_poll(broker->helper.sock, POLLOUT, 0) <= 0)
		return 1;
	return send_waiting(broker, ASK_GUARD, built, sizeof(*built), &listener, 1);
}

void ab_broker_unheld(struct ab_broker *broker)
{
	(void)send_request(broker, ASK_UNHELD, 0, "", 0);
}

int ab_broker_walls(struct ab_broker *broker, const int *fds, size_t nfds)
{
	return send_waiting(broker, ASK_WALLS, "", 0, fds, nfds);
}

void ab_broker_secret(struct ab_broker *broker, size_t i)
{
	uint32_t secret = (uint32_t)i;

	(void)send_request(broker, ASK_SECRET, 0, &secret, sizeof(secret));
}

int ab_broker_find_owner(struct ab_broker *broker, uint32_t ticket, const struct ab_peer *peer)
{
	return send_request(broker, ASK_OWNER, ticket, peer, sizeof(*peer));
}

int ab_broker_agent(struct ab_broker *broker, uint32_t ticket)
{
	return send_request(broker, ASK_AGENT, ticket, "", 0);
}

int ab_broker_approve(struct ab_broker *broker, uint32_t ticket, const char *request, size_t len)
{
	return send_request(broker, ASK_APPROVE, ticket, request, len);
}

int ab_broker_remember(struct ab_broker *broker, uint32_t ticket, enum ab_remember where,
		       const char *entry)
{
	ab_autofree char *text = ab_printf("%c%s", '0' + (int)where, entry);

	if (!entry[0] || strlen(text) > ENTRY_ROOM)
		return -1;
	return send_request(broker, ASK_REMEMBER, ticket, text, strlen(text));
}

int ab_broker_reload(struct ab_broker *broker, uint32_t ticket)
{
	return send_request(broker, ASK_RELOAD, ticket, "", 0);
}

int ab_broker_violation(struct ab_broker *broker, const char *line, size_t len)
{
	return send_request(broker, ASK_VIOLATION, 0, line, len);
}

void ab_broker_notice(struct ab_broker *broker, const char *text, size_t len)
{
	(void)send_request(broker, ASK_NOTICE, 0, text, len < NOTICE_ROOM ? len : NOTICE_ROOM);
}

int ab_broker_sweep(struct ab_broker *broker, bool empty, struct ab_error *err)
{
	if (send_waiting(broker, empty ? ASK_SWEEP_EMPTY : ASK_SWEEP, "", 0, NULL, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "ask the broker");
	return 0;
}

int ab_broker_swept(struct ab_broker *broker, struct ab_strv *ret, struct ab_strv *ret_notes,
		    struct ab_error *err)
{
	static struct answer a;
	struct ab_error fatal = { 0 };
	size_t len = 0;

	if (wait_for_answer(broker, &a, &len, &fatal, err) < 0)
		return -1;
	broker->swept = true;
	for (size_t i = 0; i < len; i += strlen(a.lines + i) + 1)
		ab_strv_add(a.number ? ret_notes : ret, a.lines + i), a.number -= a.number > 0;
	if (fatal.code == AB_ENONE && a.result == 0)
		return 0;
	*err = fatal.code != AB_ENONE ? fatal : a.error;
	return -1;
}

bool ab_broker_has_swept(const struct ab_broker *broker)
{
	return broker->swept;
}

void ab_broker_dismiss(struct ab_broker *broker)
{
	if (broker->dismissed)
		return;
	broker->dismissed = true;
	/* A broker that does not get this would never exit. */
	if (send_waiting(broker, ASK_LEAVE, "", 0, NULL, 0) < 0)
		kill(broker->helper.pid, SIGKILL);
	/* Nor would one that blocks in send(). */
	shutdown(broker->helper.sock, SHUT_RD);
}

static void reap(struct ab_broker *broker)
{
	(void)ab_await(broker->helper.pid);
	ab_close_all(&broker->helper.sock, &broker->wake);
	free(broker);
}

void ab_broker_end(struct ab_broker *broker)
{
	ab_broker_dismiss(broker);
	reap(broker);
}

void ab_broker_abandon(struct ab_broker *broker)
{
	close(ab_take_fd(&broker->helper.sock));
	reap(broker);
}
