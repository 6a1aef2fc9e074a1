/*
 * Theory of operation.
 *
 * One poll loop over the supervisor's socket and the pidfd of init, with a
 * look at the watched folders and the files of secrets in between. States:
 * watching (the box lives), swept (the box is gone and everything was looked
 * at once more).
 *
 * Should: answer each request; when the socket ends without a goodbye, do
 * alone what is left to do.
 * Mustn't: hold the caller's stdio or listeners (a pipe would wait for us),
 * answer what the table does not allow in the present state.
 */
#include "session/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/audit.h"
#include "audit/copy.h"
#include "audit/log.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "policy/layers.h"
#include "session/broker_wire.h"
#include "session/cgroup.h"
#include "session/renewals.h"
#include "session/sources.h"
#include "session/state.h"
#include "session/sweep.h"
#include "session/tend.h"
#include "session/walls.h"
#include "workspace/quarantine.h"

struct broker {
	struct ab_broker_duty duty;
	int sock;
	struct ab_quarantine *quarantine;
	struct ab_walls *walls;
	struct ab_renewals *renewals;	/* NULL: no secrets */
	bool swept;
};

static void reply(struct broker *b, const struct answer *a, size_t lines,
		  int fd)
{
	if (ab_send_fds(b->sock, a, ANSWER_LEN(lines), &fd, fd >= 0) < 0)
		_exit(1);
}

/* A protected object that the host has replaced is open to the box. */
static void check_walls(struct broker *b)
{
	static struct answer a;

	if (!ab_walls_look(b->walls) || !b->duty.strict)
		return;
	b->duty.strict = false;	/* once is enough */
	a.result = ab_walls_explain(b->walls, &a.error);
	reply(b, &a, 0, -1);
}

static void sweep(struct broker *b)
{
	if (b->swept)
		return;
	check_walls(b);
	ab_quarantine_sweep(b->quarantine);
	ab_quarantine_review(b->quarantine);
	if (b->duty.cgroup)
		ab_cgroup_remove(b->duty.cgroup, b->duty.run->id);
	b->swept = true;
}

/* The box is gone when init is: everything in its pid namespace died first. */
static void await_box(struct broker *b)
{
	struct pollfd init = { .fd = b->duty.init, .events = POLLIN };

	while (poll(&init, 1, -1) < 0 && errno == EINTR)
		;
}

static void answer_sweep(struct broker *b, const struct ask *ask)
{
	static struct answer a;
	ab_autostrv struct ab_strv lines = { 0 };
	size_t n = 0;

	(void)ask;
	await_box(b);
	sweep(b);
	ab_walls_lines(b->walls, &lines);
	ab_sweep_lines(b->quarantine, b->duty.run, &lines);
	for (size_t i = 0; i < lines.len; i++) {
		size_t len = strlen(lines.v[i]) + 1;

		if (n + len > ANSWER_ROOM)
			break;
		memcpy(a.lines + n, lines.v[i], len);
		n += len;
	}
	reply(b, &a, n, -1);
	/* Beside the supervisor's own end. */
	ab_run_retire(b->duty.run);
	_exit(0);
}

/* The bytes that were checked are the bytes that are handed over. */
static void answer_config(struct broker *b, const struct ask *ask)
{
	static struct answer a;
	ab_autoclose int sealed = -1;
	ab_autofree char *text = NULL;
	size_t len;

	a.result = ab_policy_read_file(b->duty.input, ask->path, &text, &len,
				       &a.error);
	if (a.result == 0 &&
	    (sealed = ab_memfd_sealed("agentbox-config", text, len)) < 0)
		a.result = ab_fail(&a.error, AB_ESYSTEM, errno, "seal %s",
				   ask->path);
	reply(b, &a, 0, sealed);
}

/* In a process that has read a source: it answers by itself, so that the
 * value is nowhere else. */
static void send_news(void *arg, size_t i, const struct ab_sourced *value,
		      const struct ab_error *err)
{
	static struct answer a;
	struct broker *b = arg;

	a.news = (uint32_t)i + 1;
	a.result = value->data ? 0 : -1;
	a.error = *err;
	if (value->data)
		memcpy(a.lines, value->data, value->len);
	reply(b, &a, value->len, -1);
	explicit_bzero(a.lines, value->len);
}

static void answer_secret(struct broker *b, const struct ask *ask)
{
	if (b->renewals && !b->swept)
		ab_renewals_ask(b->renewals, ask->secret);
}

static void answer_leave(struct broker *b, const struct ask *ask)
{
	(void)b;
	(void)ask;
	_exit(0);
}

/* What may be asked, how long it is, and whether the box may still live. */
static const struct {
	size_t len;
	void (*answer)(struct broker *b, const struct ask *ask);
} asks[] = {
	[ASK_SWEEP] = { ASK_LEN(kind), answer_sweep },
	[ASK_CONFIG] = { ASK_LEN(path), answer_config },
	[ASK_SECRET] = { ASK_LEN(secret), answer_secret },
	[ASK_LEAVE] = { ASK_LEN(kind), answer_leave },
};

/* The supervisor died: finish the run in its place. */
static _Noreturn void finish_alone(struct broker *b)
{
	struct ab_log log = AB_LOG_NONE;
	struct ab_buf line = { 0 };
	struct ab_error err;
	ab_autostrv struct ab_strv lines = { 0 };

	/* Before a shell draws its next prompt; the box had no way to the
	 * terminal but through the supervisor. */
	ab_terminal_rescue(&b->duty.rescue);
	await_box(b);
	sweep(b);
	ab_sweep_lines(b->quarantine, b->duty.run, &lines);
	ab_record_open(&line, b->duty.run->id, "end");
	ab_record_text(&line, "error", "the supervisor was killed");
	ab_record_list(&line, "findings", &lines);
	/* With nobody left to tell, the record is best effort. By its name:
	 * the file that the supervisor opened first may be full by now. */
	if (ab_log_resume(b->duty.log, &log, &err) == 0)
		(void)ab_log_write(&log, &line, &err);
	ab_run_retire(b->duty.run);
	_exit(0);
}

static void take_ask(struct broker *b)
{
	struct ask ask;
	ssize_t n = ab_recv_fds(b->sock, &ask, sizeof(ask), NULL, NULL, 0);

	if (n <= 0)
		finish_alone(b);
	if (n < (ssize_t)sizeof(ask.kind) || ask.kind >= AB_COUNT(asks) ||
	    (size_t)n != asks[ask.kind].len)
		_exit(1);
	ask.path[PATH_ROOM - 1] = '\0';
	asks[ask.kind].answer(b, &ask);
}

static _Noreturn void serve(struct broker *b)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = b->sock, .events = POLLIN },
			{ .fd = b->swept ? -1 : b->duty.init,
			  .events = POLLIN },
		};

		if (poll(fds, AB_COUNT(fds),
			 b->swept ? -1 : AB_QUARANTINE_MS) < 0 &&
		    errno != EINTR)
			_exit(1);
		/* Beside the supervisor's own wait for init's end. */
		if (fds[1].revents)
			sweep(b);
		if (!b->swept) {
			check_walls(b);
			ab_quarantine_look(b->quarantine);
			if (b->renewals)
				ab_renewals_look(b->renewals);
		}
		if (fds[0].revents)
			take_ask(b);
	}
}

static void start_renewals(struct broker *b)
{
	struct ab_renewals_setup setup = { .secrets = b->duty.secrets,
					   .environ = b->duty.environ,
					   .stamps = b->duty.stamps,
					   .answer = send_news,
					   .arg = b };

	b->renewals = ab_renewals_new(&setup);
}

static _Noreturn void be_broker(const struct ab_broker_duty *duty, int sock)
{
	static struct broker b;
	static struct answer a;
	static const struct ab_strv none;
	const struct ab_run *run = duty->run;
	int keep[] = { sock,
		       duty->init,
		       duty->rescue.fd,
		       run->dir,
		       duty->log->copy ? duty->log->copy->fd : -1,
		       run->state->live,
		       run->state->runs };

	b.duty = *duty;
	b.sock = sock;
	prctl(PR_SET_NAME, "agentbox-broker");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int fd = 0; fd < 3; fd++)
		if (fd != duty->rescue.fd)
			close(fd);
	if (ab_close_others(keep, AB_COUNT(keep)) < 0 ||
	    ab_quarantine_open(duty->survey, run->dir, &b.quarantine,
			       &a.error) < 0) {
		a.result = -1;
		reply(&b, &a, 0, -1);
		_exit(1);
	}
	b.walls = ab_walls_open(duty->plan,
				duty->hidden ? duty->hidden : &none);
	if (duty->secrets && duty->secrets->len)
		start_renewals(&b);
	ab_tend(run, sock);
	serve(&b);
}

int ab_broker_start(const struct ab_broker_duty *duty,
		    struct ab_broker **ret, struct ab_error *err)
{
	struct ab_broker broker;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "make a socket pair");
		return ab_step(err, "broker");
	}
	broker.pid = fork();
	if (broker.pid == 0)
		be_broker(duty, pair[1]);
	close(pair[1]);
	broker.sock = pair[0];
	if (broker.pid < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "fork the broker");
		close(broker.sock);
		return ab_step(err, "broker");
	}
	*ret = ab_alloc(sizeof(**ret));
	**ret = broker;
	return 0;
}
