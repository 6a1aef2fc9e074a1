#include "serve/supervised.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>

#include "base/process/helper.h"
#include "consent/request.h"
#include "serve/child.h"
#include "serve/request.h"
#include "session/run/run.h"
#include "session/warm/warm.h"

enum { INLINE_MAX = 64 * 1024, TRIES = 10 };

/* A packet of ab_supervised_hand(): this, and the request's line unless it is the first descriptor. */
struct hand {
	bool sealed;  /* the line is a sealed memfd */
	bool records; /* the last descriptor is for records */
};
enum { LINE, ENDS }; /* descriptors: the line if `sealed`, then 0-2, the result, records */

struct teller {
	int sock;
	bool details;
};

/* A template of ab_buf_jsonf(). */
__attribute__((format(printf, 2, 3))) static void tell(int sock, const char *pattern, ...)
{
	ab_autobuf struct ab_buf b = { 0 };
	va_list ap;

	va_start(ap, pattern);
	ab_buf_vjsonf(&b, pattern, ap);
	va_end(ap);
	(void)!send(sock, b.data, b.len, MSG_NOSIGNAL);
}

static void tell_message(void *arg, enum ab_level level, const char *text)
{
	static const char *const levels[] = { "detail", "note", "warning" };
	const struct teller *t = arg;

	if (level != AB_SAY_DETAIL || t->details)
		tell(t->sock, "{'event':'message','level':%s,'text':%s}", levels[level], text);
}

static void tell_began(void *arg, const char *run_id, bool warm)
{
	const struct teller *t = arg;

	tell(t->sock, "{'event':'began','run_id':%s,'warm':%hhd}", run_id, warm);
}

static void tell_denied(void *arg, const char *record)
{
	const struct teller *t = arg;

	tell(t->sock, "{'event':'denied','record':%-s}", record);
}

static void tell_error(int sock, const char *event, const struct ab_error *err)
{
	tell(sock, "{'event':%s,'exit':%d,'code':%s,'error':%s,'hint':%s}", event,
	     ab_exit_status(err), ab_error_word(err->code), err->text, err->hint);
}

static int run_command(const struct ab_serve_request *r, const struct ab_ends *e,
		       struct ab_policy_input *input, const char *start, struct ab_warm *warm,
		       struct teller *t, struct ab_error *err)
{
	struct ab_run_watch watch = { .began = tell_began, .denied = tell_denied, .arg = t };
	char result[16], audit[16];
	struct ab_request request = { .policy = *input,
				      .start = start,
				      .time_ms = r->deadline_ms,
				      .argv = (const char *const *)r->argv.v,
				      .argc = r->argv.len,
				      .script = r->script,
				      .require_covered = r->require_covered,
				      .yes = r->yes,
				      .approver_ms = (unsigned)r->ask_ms,
				      .result = result,
				      .name = r->name,
				      .trace_denials = r->trace_denials,
				      .verbose = r->messages,
				      .say = tell_message,
				      .arg = t,
				      .controller = e->steer,
				      .controller_asks = r->ask,
				      .watch = &watch };
	int status = 0, taken = 1;

	snprintf(result, sizeof(result), "%d", e->result);
	snprintf(audit, sizeof(audit), "%d", e->records);
	if (e->records >= 0)
		request.audit = audit;
	if (!r->script)
		request.policy.program = request.argv[0];
	if (warm)
		taken = ab_warm_run(warm, &request, &status, err);
	if (taken > 0)
		taken = ab_run(&request, &status, err);
	return taken < 0 ? -1 : status;
}

/* A pool decides about everything but the environment. */
static struct ab_serve_policy choose_policy(const struct ab_serve_request *r,
					    const struct ab_serve_request *pool)
{
	struct ab_serve_policy policy = pool ? pool->policy : r->policy; /* borrowed */

	if (pool && r->policy.has_env) {
		policy.env = r->policy.env;
		policy.has_env = true;
	}
	return policy;
}

/* The folder of a pool's command does not decide about its policy. */
static int find_start(const struct ab_serve_request *r, const struct ab_serve_request *pool,
		      char **ret, struct ab_error *err)
{
	*ret = NULL;
	if (!pool || !r->policy.cwd)
		return 0;
	*ret = realpath(r->policy.cwd, NULL);
	return *ret ? 0 : ab_fail(err, AB_EUSAGE, errno, "\"cwd\": %s", r->policy.cwd);
}

struct start {
	const struct ab_serve_request *request; /* NULL: it comes later */
	const struct ab_serve_request *pool;	/* or NULL */
	const struct ab_ends *ends;
	pid_t parent;
};

/* `stdio`: as of ab_child_enter(). `warm`: a box that waits, or NULL. */
static int run_request(const struct ab_serve_request *r, const struct ab_serve_request *pool,
		       const struct ab_ends *e, const int *stdio, struct ab_warm *warm)
{
	struct ab_serve_policy policy = choose_policy(r, pool);
	struct teller t = { .sock = e->steer, .details = r->messages };
	struct ab_policy_input input;
	struct ab_error err = { 0 };
	char *start;
	int status = -1;

	if (ab_child_enter(stdio, &policy, &input, &err) == 0 &&
	    find_start(r, pool, &start, &err) == 0)
		status = run_command(r, e, &input, start, warm, &t, &err);
	ab_warm_free(warm);
	if (status < 0)
		tell_error(t.sock, "failed", &err);
	return status < 0 ? ab_exit_status(&err) : status;
}

static int serve_run(int steer, void *arg)
{
	const struct start *s = arg;
	struct ab_ends e = *s->ends;

	e.steer = steer;
	return run_request(s->request, s->pool, &e, NULL, NULL);
}

/* ---- a child that waits ---- */

static int prepare_box(const struct ab_policy_input *input, struct ab_warm **ret,
		       struct ab_error *err)
{
	static const char *const argv[] = { "true" };
	struct ab_request request = { .policy = *input,
				      .argv = argv,
				      .argc = 1,
				      .verbose = 1,
				      .say = ab_say_nothing,
				      .prepares = true };

	for (int tries = 0; tries < TRIES; tries++) {
		*err = (struct ab_error){ 0 };
		if (ab_warm_prepare(&request, ret, err) == 0)
			return 0;
		if (strcmp(err->step, AB_WARM_UNFIT) != 0)
			break;
	}
	return -1;
}

/* A signal to a process that waits is for that process, not for the run that comes. Is it to end? */
static bool is_told_to_end(int signals)
{
	struct signalfd_siginfo info;

	return read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
	       (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGHUP ||
		info.ssi_signo == SIGQUIT);
}

/* Those that the preparation has blocked. */
static int watch_signals(const struct ab_warm *warm)
{
	sigset_t set;

	return warm && sigprocmask(SIG_SETMASK, NULL, &set) == 0
		       ? signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)
		       : -1;
}

/* Returns when there is a packet; ends with the socket. If the box ends, or a signal says so, it tells
 * the server, which closes the socket, unless it has sent a packet: that run is not lost. */
static void await_hand(int steer, struct ab_warm *warm)
{
	ab_autoclose int signals = watch_signals(warm);
	struct pollfd p[] = { { .fd = steer, .events = POLLIN },
			      { .fd = warm ? ab_warm_fd(warm) : -1, .events = POLLIN },
			      { .fd = signals, .events = POLLIN } };

	for (;;) {
		if (poll(p, AB_COUNT(p), -1) < 0)
			continue;
		if (p[0].revents)
			break;
		if (!(p[2].revents && is_told_to_end(signals)) && !p[1].revents)
			continue;
		p[1].fd = -1;
		tell(steer, "{'event':'ended'}");
	}
	if (recv(steer, &(char){ 0 }, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
		if (warm)
			ab_warm_wake(warm);
		return;
	}
	ab_warm_free(warm);
	_exit(125);
}

static char *take_line(const struct hand *head, const char *text, size_t len,
		       const struct ab_fds *fds, size_t *ret_len)
{
	char *line = NULL;

	if (!head->sealed) {
		*ret_len = len;
		return ab_strndup(text, len);
	}
	if (lseek(fds->v[LINE], 0, SEEK_SET) < 0 ||
	    ab_read_all(fds->v[LINE], AB_SERVE_LINE_MAX, &line, ret_len) < 0)
		_exit(125);
	return line;
}

static void take_hand(int steer, struct ab_serve_request *ret, struct ab_ends *ret_ends)
{
	static union {
		struct hand head;
		char bytes[sizeof(struct hand) + INLINE_MAX];
	} packet;
	struct ab_fds fds = { .len = AB_COUNT(fds.v) };
	ssize_t n = ab_recv_fds(steer, &packet, sizeof(packet), fds.v, &fds.len, 0);
	size_t len = 0, at;
	struct ab_error err = { 0 };
	char *line;

	if (n < (ssize_t)sizeof(struct hand) ||
	    fds.len != (size_t)packet.head.sealed + 4 + packet.head.records)
		_exit(125);
	line = take_line(&packet.head, packet.bytes + sizeof(struct hand),
			 (size_t)n - sizeof(struct hand), &fds, &len);
	/* The server has read it before. */
	if (ab_serve_request_parse(line, len, ret, &err) < 0)
		_exit(125);
	free(line);
	at = packet.head.sealed;
	if (packet.head.sealed)
		close(fds.v[LINE]);
	for (int fd = 0; fd < 3; fd++)
		ret_ends->stdio[fd] = fds.v[at++];
	ret_ends->result = fds.v[at++];
	ret_ends->records = packet.head.records ? fds.v[at] : -1;
	ret_ends->steer = steer;
}

/* What a process needs to read a request is then in its memory. */
static void rehearse_reading(void)
{
	static const char line[] = "{\"do\":\"run\",\"argv\":[\"true\"],\"pool\":1}";
	struct ab_serve_request r;
	struct ab_error err = { 0 };

	(void)ab_serve_request_parse(line, sizeof(line) - 1, &r, &err);
	ab_serve_request_fini(&r);
}

static int serve_waiting(int steer, void *arg)
{
	const struct start *s = arg;
	struct ab_serve_request request;
	struct ab_ends e = AB_ENDS_NONE;
	struct ab_policy_input input;
	struct ab_warm *warm = NULL;
	struct ab_error err = { 0 };
	int result = ab_child_enter(NULL, &s->pool->policy, &input, &err);

	if (result == 0)
		result = prepare_box(&input, &warm, &err);
	rehearse_reading();
	/* Not "failed": a run may have taken us meanwhile, and then starts a box of its own. */
	if (result < 0)
		tell_error(steer, "unprepared", &err);
	else
		tell(steer, "{'event':'ready'}");
	/* While we wait, the socket ends us: its cgroup must be removed. */
	prctl(PR_SET_PDEATHSIG, 0);
	await_hand(steer, warm);
	if (ab_end_with(s->parent, SIGKILL) < 0) {
		ab_warm_free(warm);
		return 125;
	}
	take_hand(steer, &request, &e);
	_exit(run_request(&request, s->pool, &e, e.stdio, warm));
}

/* ---- in the server ---- */

int ab_supervised_hand(int steer, const char *line, size_t len, const struct ab_ends *e)
{
	struct hand head = { .sealed = len > INLINE_MAX, .records = e->records >= 0 };
	ab_autobuf struct ab_buf b = { 0 };
	ab_autoclose int sealed = -1;
	int fds[6];
	size_t n = 0;

	if (head.sealed) {
		sealed = ab_memfd_sealed("request", line, len);
		if (sealed < 0)
			return -1;
		fds[n++] = sealed;
	}
	for (int fd = 0; fd < 3; fd++)
		fds[n++] = e->stdio[fd];
	fds[n++] = e->result;
	if (head.records)
		fds[n++] = e->records;
	ab_buf_add(&b, (const char *)&head, sizeof(head));
	if (!head.sealed)
		ab_buf_add(&b, line, len);
	return ab_send_fds(steer, b.data, b.len, fds, n);
}

int ab_supervised_start(const struct ab_serve_request *r, const struct ab_serve_request *pool,
			const struct ab_ends *e, const sigset_t *before, struct ab_helper *ret,
			struct ab_error *err)
{
	struct start start = { .request = r, .pool = pool, .ends = e, .parent = getpid() };
	const int keep[] = { e ? e->records : -1, e ? e->result : -1 };
	const struct ab_helper_setup setup = {
		.what = "the run's supervisor",
		.socket = SOCK_SEQPACKET,
		.keep = keep,
		.nkeep = AB_COUNT(keep),
		.stdio = e ? e->stdio : NULL,
		.signals = AB_HELPER_MASK,
		.mask = before,
		.end_signal = SIGKILL,
		.serve = r ? serve_run : serve_waiting,
		.arg = &start,
	};

	return ab_helper_start(&setup, ret, err);
}
