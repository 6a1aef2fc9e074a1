/*
 * Theory of operation.
 *
 * One loop. Every run and every task is a child; SIGCHLD says that one has ended. We are the reaper
 * of our descendants, so that the last processes of a run, which clean up after it, are waited for
 * at the end.
 *
 * Serving -> ending, when the program has left, its process is gone, or a signal asks for it: runs
 * are stopped, then killed; requests are not read. Ending -> ended: no child is left.
 *
 * Should: answer every request once.
 *
 * Mustn't: wait for anything but events.
 */
#include "serve/serve.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sandbox/mount/furniture.h"
#include "serve/channel.h"
#include "serve/pool.h"
#include "serve/served_run.h"
#include "serve/task.h"

enum { TASKS_MAX = 32, GRACE_MS = 500, KILL_MS = 5000 };

struct server {
	const struct ab_serve_setup *setup;
	struct ab_loop loop;
	struct ab_channel channel;
	struct ab_source signals, program;
	struct ab_timer kill;
	sigset_t before;
	bool greeted, ending;
	struct ab_served_run *runs;
	size_t nruns;
	uint64_t number;
	struct ab_task *tasks;
	size_t ntasks;
	struct ab_pool *pools;
	uint64_t pool_number;
};

void ab_serve_reply(struct ab_channel *channel, const json_t *id, const char *pattern, ...)
{
	ab_autofree char *text = id ? json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	ab_autobuf struct ab_buf b = { 0 };
	va_list ap;

	ab_buf_jsonf(&b, "{'id':%-s,", text);
	va_start(ap, pattern);
	ab_buf_vjsonf(&b, pattern, ap);
	va_end(ap);
	ab_buf_puts(&b, "}");
	ab_channel_send(channel, b.data, b.len);
}

void ab_serve_refuse(struct ab_channel *channel, const json_t *id, const struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_serve_error(&b, err);
	ab_serve_reply(channel, id, "%-s", b.data);
}

/* ---- requests ---- */

static int greet(struct server *s, struct ab_serve_request *r, struct ab_error *err)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (r->protocol != AB_SERVE_PROTOCOL) {
		ab_fail(err, AB_EUSAGE, 0, "protocol %llu is not supported",
			(unsigned long long)r->protocol);
		ab_hint(err, "this is agentbox %s, which supports protocol %d", AB_VERSION,
			AB_SERVE_PROTOCOL);
		ab_serve_error(&b, err);
		ab_serve_reply(&s->channel, r->id, "%-s,'protocols':[%d]", b.data,
			       AB_SERVE_PROTOCOL);
		return 0;
	}
	s->greeted = true;
	ab_serve_reply(&s->channel, r->id,
		       "'ok':true,'protocol':%d,'version':%s,'build':%s,'pid':%d,"
		       "'descriptors':%hhd,"
		       "'limits':{'line':%d,'runs':%d,'descriptors':%d,'boxes':%d}",
		       AB_SERVE_PROTOCOL, AB_VERSION, s->setup->build, getpid(), s->channel.socket,
		       AB_SERVE_LINE_MAX, AB_SERVE_RUNS_MAX, AB_SERVE_FDS_MAX, AB_SERVE_BOXES_MAX);
	return 0;
}

static int find_pool(const struct server *s, uint64_t number, struct ab_pool **ret,
		     struct ab_error *err)
{
	struct ab_pool *pool = s->pools;

	while (pool && (pool->number != number || pool->closed))
		pool = pool->next;
	*ret = pool;
	return pool ? 0
		    : ab_fail(err, AB_ENOTFOUND, 0, "there is no open pool %llu",
			      (unsigned long long)number);
}

static int open_pool(struct server *s, struct ab_serve_request *r, struct ab_error *err)
{
	uint64_t boxes = r->size;
	struct ab_pool *pool;

	for (pool = s->pools; pool; pool = pool->next)
		boxes += pool->closed ? pool->nboxes : pool->request.size;
	if (boxes > AB_SERVE_BOXES_MAX) {
		ab_fail(err, AB_EUSAGE, 0, "more than %d prepared boxes in all pools",
			AB_SERVE_BOXES_MAX);
		return ab_hint(err, "close a pool, or make this one smaller");
	}
	pool = ab_pool_open(r, &s->before, &s->loop, &s->channel, ++s->pool_number);
	pool->next = s->pools;
	s->pools = pool;
	return 0;
}

static void free_old_pools(struct server *s)
{
	for (struct ab_pool **at = &s->pools; *at;) {
		struct ab_pool *pool = *at;

		if (!ab_pool_is_over(pool)) {
			at = &pool->next;
			continue;
		}
		*at = pool->next;
		ab_pool_discard(pool);
	}
}

static int close_pool(struct server *s, struct ab_serve_request *r, struct ab_error *err)
{
	struct ab_pool *pool;

	if (find_pool(s, r->pool, &pool, err) < 0)
		return -1;
	ab_pool_close(pool, r->id);
	return 0;
}

static int start_run(struct server *s, struct ab_serve_request *r, struct ab_error *err)
{
	ab_autofds struct ab_fds fds = { .len = 0 };
	struct ab_pool *pool = NULL;
	struct ab_served_run *run;

	if (!ab_channel_take_fds(&s->channel, r->nfds, &fds))
		return ab_fail(err, AB_EUSAGE, 0,
			       "fewer descriptors were passed than \"fds\" says");
	if (s->nruns == AB_SERVE_RUNS_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "more than %d runs at once", AB_SERVE_RUNS_MAX);
	if (r->pool && find_pool(s, r->pool, &pool, err) < 0)
		return -1;
	if (ab_served_start(r, fds.v, &s->before, &s->loop, &s->channel, pool, ++s->number, &run,
			    err) < 0)
		return -1;
	if (pool)
		pool->nruns++;
	run->next = s->runs;
	s->runs = run;
	s->nruns++;
	ab_serve_reply(&s->channel, r->id, "'ok':true,'run':%ju", (uintmax_t)run->number);
	return 0;
}

static int start_task(struct server *s, struct ab_serve_request *r, struct ab_error *err)
{
	struct ab_task *task;

	if (s->ntasks == TASKS_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "too many requests at once");
	if (ab_task_start(r, &s->before, &task, err) < 0)
		return -1;
	task->next = s->tasks;
	s->tasks = task;
	s->ntasks++;
	return 0;
}

static int wrap_command(struct server *s, struct ab_serve_request *r, struct ab_error *err)
{
	ab_autofree char *own = realpath("/proc/self/exe", NULL);
	ab_autostrv struct ab_strv argv = { 0 };

	if (!own)
		return ab_fail(err, AB_ESYSTEM, errno, "find the path of agentbox");
	if (ab_serve_wrap(r, own, s->setup->option_of, &argv, err) < 0)
		return -1;
	ab_serve_reply(&s->channel, r->id, "'ok':true,'argv':%p", ab_list(&argv));
	return 0;
}

static struct ab_served_run *find_run(const struct server *s, uint64_t number)
{
	struct ab_served_run *run = s->runs;

	while (run && run->number != number)
		run = run->next;
	return run;
}

static int stop_run(struct ab_served_run *run, struct ab_serve_request *r, struct ab_error *err)
{
	(void)err;
	ab_served_stop(run, r->id, r->ms);
	return 0;
}

/* Requests about a run. */
static int (*const steer[AB_SERVE_DO_COUNT])(struct ab_served_run *, struct ab_serve_request *,
					     struct ab_error *) = {
	[AB_SERVE_ANSWER] = ab_served_answer, [AB_SERVE_INPUT] = ab_served_input,
	[AB_SERVE_SIGNAL] = ab_served_signal, [AB_SERVE_STOP] = stop_run,
	[AB_SERVE_UPDATE] = ab_served_update, [AB_SERVE_STATUS] = ab_served_status,
};

static int steer_run(struct server *s, struct ab_serve_request *r, struct ab_error *err)
{
	struct ab_served_run *run = find_run(s, r->run);
	struct ab_pool *pool;

	if (r->pool) { /* "status" */
		if (find_pool(s, r->pool, &pool, err) < 0)
			return -1;
		ab_pool_status(pool, r->id);
		return 0;
	}
	if (!run)
		return ab_fail(err, AB_ENOTFOUND, 0, "there is no active run %llu",
			       (unsigned long long)r->run);
	return steer[r->what](run, r, err);
}

static int (*const handlers[AB_SERVE_DO_COUNT])(struct server *, struct ab_serve_request *,
						struct ab_error *) = {
	[AB_SERVE_HELLO] = greet,	[AB_SERVE_RUN] = start_run,
	[AB_SERVE_CHECK] = start_task,	[AB_SERVE_DOCTOR] = start_task,
	[AB_SERVE_WRAP] = wrap_command, [AB_SERVE_POOL] = open_pool,
	[AB_SERVE_CLOSE] = close_pool,
};

/* Descriptors of a refused request must not pass for those of the next one. */
static void drop_fds(struct server *s, size_t n)
{
	ab_autofds struct ab_fds fds = { .len = 0 };

	(void)ab_channel_take_fds(&s->channel, n, &fds);
}

static void take_line(void *arg, const char *line, size_t len)
{
	struct server *s = arg;
	struct ab_serve_request r;
	struct ab_error err = { 0 };
	int result = ab_serve_request_parse(line, len, &r, &err);

	if (result == 0 && !s->greeted && r.what != AB_SERVE_HELLO)
		result = ab_fail(&err, AB_EUSAGE, 0, "the first request must be \"hello\"");
	if (result < 0 || r.what != AB_SERVE_RUN)
		drop_fds(s, r.nfds);
	if (result == 0)
		result = steer[r.what] ? steer_run(s, &r, &err) : handlers[r.what](s, &r, &err);
	if (result < 0)
		ab_serve_refuse(&s->channel, r.id, &err);
	ab_serve_request_fini(&r);
}

/* ---- the end ---- */

static void stop_if_done(struct server *s)
{
	free_old_pools(s);
	if (s->ending && !s->runs && !s->tasks && !s->pools)
		s->loop.stop = true;
}

static void end_serving(void *arg)
{
	struct server *s = arg;

	if (s->ending)
		return;
	s->ending = true;
	for (struct ab_pool *pool = s->pools; pool; pool = pool->next)
		ab_pool_close(pool, NULL);
	/* Tasks are short. */
	for (struct ab_served_run *run = s->runs; run; run = run->next)
		ab_served_stop(run, NULL, GRACE_MS);
	ab_loop_timer(&s->loop, &s->kill, KILL_MS);
	stop_if_done(s);
}

/* The box ends with its supervisor. */
static void kill_children(struct ab_timer *timer)
{
	struct server *s = timer->owner;

	for (struct ab_task *t = s->tasks; t; t = t->next)
		kill(t->pid, SIGKILL);
	for (struct ab_pool *pool = s->pools; pool; pool = pool->next)
		ab_pool_kill(pool);
	for (struct ab_served_run *run = s->runs; run; run = run->next)
		kill(run->pid, SIGKILL);
}

static void continue_runs(void *arg)
{
	struct server *s = arg;

	for (struct ab_served_run *run = s->runs; run; run = run->next)
		ab_served_continue(run);
}

/* ---- children ---- */

static void free_run(struct ab_later *later)
{
	ab_served_free(later->owner);
}

/* One that never began has still used its box up. */
static void leave_pool(struct ab_served_run *run)
{
	if (!run->pool)
		return;
	run->pool->nruns--;
	ab_pool_fill(ab_take(run->pool));
}

static bool end_pooled(struct server *s, pid_t pid)
{
	struct ab_pool *pool = s->pools;

	while (pool && !ab_pool_ended(pool, pid))
		pool = pool->next;
	return pool != NULL;
}

static bool end_run(struct server *s, const siginfo_t *info)
{
	for (struct ab_served_run **at = &s->runs; *at; at = &(*at)->next) {
		struct ab_served_run *run = *at;

		if (run->pid != info->si_pid)
			continue;
		*at = run->next;
		s->nruns--;
		ab_served_ended(run, info->si_code, info->si_status);
		leave_pool(run);
		run->later = (struct ab_later){ .run = free_run, .owner = run };
		ab_loop_later(&s->loop, &run->later);
		return true;
	}
	return false;
}

static void end_task(struct server *s, pid_t pid)
{
	for (struct ab_task **at = &s->tasks; *at; at = &(*at)->next) {
		struct ab_task *task = *at;
		ab_autobuf struct ab_buf b = { 0 };

		if (task->pid != pid)
			continue;
		*at = task->next;
		s->ntasks--;
		ab_task_reply(task, &b);
		ab_serve_reply(&s->channel, task->id, "%-s", b.data);
		ab_task_free(task);
		return;
	}
}

static void reap_children(struct server *s)
{
	for (;;) {
		siginfo_t info = { 0 };
		int r = waitid(P_ALL, 0, &info, WEXITED | WNOHANG);

		if (r < 0 ? errno == ECHILD : info.si_pid == 0)
			break;
		/* Else we try again: the signal is read, and nothing would tell us of this child. */
		if (r == 0 && !end_run(s, &info) && !end_pooled(s, info.si_pid))
			end_task(s, info.si_pid);
	}
	stop_if_done(s);
}

static void signal_ready(struct ab_source *source, uint32_t events)
{
	struct server *s = source->owner;
	struct signalfd_siginfo info;

	(void)events;
	while (read(source->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap_children(s);
		else
			end_serving(s);
	}
}

static void program_gone(struct ab_source *source, uint32_t events)
{
	struct server *s = source->owner;

	(void)events;
	ab_loop_remove(&s->loop, source);
	end_serving(s);
}

/* ---- beginning ---- */

/* SIGPIPE stays blocked and unread: a write fails instead. */
static int watch_signals(struct server *s, struct ab_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE);
	if (sigprocmask(SIG_BLOCK, &set, &s->before) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "block signals");
	sigdelset(&set, SIGPIPE);
	/* Inherited dispositions would let children vanish unseen. */
	signal(SIGCHLD, SIG_DFL);
	s->signals = (struct ab_source){ .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
					 .ready = signal_ready,
					 .owner = s };
	if (s->signals.fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "watch signals");
	return ab_loop_add(&s->loop, &s->signals, EPOLLIN, err);
}

/* The process that made the channel; of pipes our parent. */
static pid_t find_program(int channel)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(channel, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid > 0
		       ? peer.pid
		       : getppid();
}

/* Another process may hold the other end of the channel open. */
static int watch_program(struct server *s, struct ab_error *err)
{
	pid_t program = find_program(s->setup->in);
	int fd = program > 1 ? (int)syscall(SYS_pidfd_open, program, 0) : -1;

	return fd < 0 ? 0 : ab_loop_watch(&s->loop, &s->program, fd, program_gone, s, err);
}

static int begin_serving(struct server *s, struct ab_error *err)
{
	struct ab_channel_watch watch = { .loop = &s->loop,
					  .line = take_line,
					  .light = continue_runs,
					  .ended = end_serving,
					  .arg = s };

	if (ab_furniture_boxed())
		return ab_fail(err, AB_EUSAGE, 0,
			       "agentbox serve cannot be used inside a box: its runs would have no "
			       "box of their own");
	/* Questions are for the program, not for its terminal. */
	setsid();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "become the reaper");
	if (ab_loop_init(&s->loop, err) < 0 || watch_signals(s, err) < 0 ||
	    watch_program(s, err) < 0)
		return -1;
	return ab_channel_open(&s->channel, s->setup->in, s->setup->out, &watch, err);
}

/* Those who clean up after the runs end soon. */
static void wait_for_last(void)
{
	siginfo_t info;

	while (waitid(P_ALL, 0, &info, WEXITED) == 0 || errno == EINTR)
		;
}

int ab_serve(const struct ab_serve_setup *setup, struct ab_error *err)
{
	struct server s = { .setup = setup,
			    .loop = { .epoll = -1 },
			    .channel = { .in = { .fd = -1 }, .out = { .fd = -1 } },
			    .signals = { .fd = -1 },
			    .program = { .fd = -1 },
			    .kill = { .fire = kill_children } };
	int result;

	s.kill.owner = &s;
	result = begin_serving(&s, err);
	if (result == 0)
		result = ab_loop_run(&s.loop, err);
	kill_children(&s.kill);
	wait_for_last();
	ab_channel_fini(&s.channel);
	ab_loop_fini(&s.loop);
	ab_close_all(&s.signals.fd, &s.program.fd);
	return result;
}
