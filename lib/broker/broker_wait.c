/*
 * The broker of a box that waits for its command. Until the run begins it only says, when it is asked,
 * whether the box is still the one that a new run would get: while it looks, the supervisor looks at
 * the rest.
 */
#include <sys/eventfd.h>

#include "audit/write/copy.h"
#include "audit/write/log.h"
#include "broker/broker_state.h"
#include "host/cgroup.h"
#include "state/state.h"

static void answer_check(struct broker *b)
{
	static struct answer a = { .kind = ANSWER_CHECKED };
	struct ab_broker_view view = { 0 };
	const char *why;
	size_t len;

	/* Whether a settings file exists counts from here. */
	ab_settings_watch_free(b->settings);
	b->settings = ab_settings_watch_new(&b->duty);
	why = b->duty.wait->check(b->duty.wait->arg, &view);
	a.claims = view.claims;
	len = why ? strnlen(why, TEXT_ROOM) : 0;
	a.result = why ? -1 : 0;
	memcpy(a.lines, why ? why : "", len);
	/* If the supervisor is gone, the socket says so next. Else it would wait for ever: it sees our
	 * end, and does without this box. */
	if (ab_send_fds(b->sock, &a, ANSWER_LEN(len), NULL, 0) < 0 && errno != EPIPE &&
	    errno != ECONNRESET)
		_exit(1);
	if (!b->rehearsed)
		b->duty.wait->forget(b->duty.wait->arg);
	else if (!why)
		b->duty.survey = view.survey;
	b->rehearsed = true;
}

/* The copy of the record, to end it if the supervisor dies. */
static void take_copy(struct broker *b)
{
	static struct ab_copy copy = AB_COPY_NONE;
	static struct ab_log_setup log;
	struct ab_error late;

	if (!b->passed.len || ab_copy_open_own("--audit", "records", ab_take_fd(&b->passed.v[0]),
					       false, &copy, &late) < 0)
		return;
	b->passed.len = 0;
	log = *b->duty.log;
	log.copy = &copy;
	b->duty.log = &log;
}

/* The supervisor died. Once the run has appeared its command may have started, even if we were not told:
 * then we end the run as every broker does. */
static bool has_appeared(const struct broker *b)
{
	const struct ab_run *run = b->duty.run;

	return faccessat(run->state->live, run->id, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The run does not come; the box ends with the supervisor. */
static _Noreturn void give_up(struct broker *b)
{
	(void)ab_poll(b->duty.init, POLLIN, -1);
	if (b->duty.cgroup)
		(void)ab_cgroup_remove(b->duty.cgroup, b->duty.run->id);
	ab_run_forget(b->duty.run);
	_exit(0);
}

void ab_broker_wait(struct broker *b)
{
	static struct ask ask;
	struct pollfd p[] = { { .fd = b->sock, .events = POLLIN },
			      { .fd = b->wake, .events = POLLIN } };
	eventfd_t unused;

	for (;;) {
		ssize_t n;

		if (poll(p, AB_COUNT(p), -1) < 0)
			continue;
		if (p[1].revents && eventfd_read(b->wake, &unused) == 0)
			answer_check(b);
		if (!p[0].revents)
			continue;

		b->passed.len = AB_COUNT(b->passed.v);
		n = ab_recv_fds(b->sock, &ask, ASK_LEN(TEXT_ROOM), b->passed.v, &b->passed.len, 0);
		if (ab_broker_is_alone(n) && has_appeared(b))
			return;
		if (ab_broker_is_alone(n))
			give_up(b);
		/* The supervisor sees our end, and does without this box. */
		if (n < 0)
			_exit(1);
		if (n < (ssize_t)ASK_LEN(0) || ask.kind == ASK_LEAVE)
			_exit(0);
		if (ask.kind != ASK_BEGIN || n < (ssize_t)ASK_LEN(1))
			continue;
		b->begun = true;
		b->yes = ask.text[0] == '1';
		b->cwd = ab_strndup(ask.text + 1, (size_t)n - ASK_LEN(1));
		take_copy(b);
		return;
	}
}
