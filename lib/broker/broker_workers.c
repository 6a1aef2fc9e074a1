/* The broker's worker processes: when they start, how long they may take, and that none is left. */
#include <inttypes.h>
#include <sys/wait.h>

#include "base/process/helper.h"
#include "policy/layers/layers.h"
#include "consent/ask/approver.h"
#include "broker/broker_state.h"

enum {
	QUIET_MS = 60000, /* between two reports about the hook */
	GRACE_MS = 2000,  /* to end the program it started */
	NOTICE_MS = 5000,
};

enum { LEFT_DONE, LEFT_UNDONE, LEFT_ANSWERED }; /* exit status */

/* Kinds with `run` are jobs. A job limits the time of its program; `ms` is for a worker that
 * hangs. */
static const struct work {
	uint32_t news;
	unsigned at_once, waiting;
	int ms;
	bool last;	  /* also done after the box is gone */
	const char *what; /* for the error if too many wait; NULL: no error */
	ab_work *run;
} works[ASK_COUNT] = {
	/* Without room, the question has no process. */
	[ASK_OWNER] = { AB_NEWS_OWNER, 2, 256, 1000, false, NULL, ab_work_owner },
	[ASK_AGENT] = { AB_NEWS_AGENT, 8, 64, 5000, false, "connect to the ssh agent",
			ab_work_agent },
	[ASK_APPROVE] = { AB_NEWS_APPROVED, 8, 64, AB_APPROVER_MS + GRACE_MS, false,
			  "ask the approver", ab_work_approve },
	[ASK_REMEMBER] = { AB_NEWS_REMEMBERED, 1, 64, 10000, true, "save the rule",
			   ab_work_remember },
	[ASK_RELOAD] = { AB_NEWS_LISTS, 1, 16, 10000, false, "read the settings again",
			 ab_work_lists },
	[ASK_VIOLATION] = { AB_NEWS_HOOK, 1, 256, HOOK_MS + GRACE_MS, true, NULL,
			    ab_work_violation },
	/* Never news: job->quiet. */
	[ASK_NOTICE] = { AB_NEWS_HOOK, 1, 1, NOTICE_MS + GRACE_MS, false, NULL, ab_work_notice },
};

static bool is_hook(const struct job *job)
{
	return job->kind == ASK_VIOLATION;
}

struct counts {
	unsigned running[ASK_COUNT], waiting[ASK_COUNT];
};

static struct counts count_jobs(const struct broker *b)
{
	struct counts c = { 0 };

	for (const struct job *j = b->jobs; j; j = j->next)
		(j->pid ? c.running : c.waiting)[j->kind]++;
	return c;
}

static void post_failure(struct broker *b, enum kind kind, uint32_t ticket,
			 const struct ab_error *err)
{
	static struct answer a;

	a = (struct answer){
		.kind = works[kind].news, .ticket = ticket, .result = -1, .error = *err
	};
	ab_broker_post(b, &a, 0);
}

static void refuse_job(struct broker *b, const struct ask *ask)
{
	const char *what = works[ask->kind].what;
	struct ab_error err = { 0 };

	if (ask->kind == ASK_VIOLATION)
		b->hook_missed++;
	if (!what)
		return;
	ab_fail(&err, AB_ESYSTEM, 0, "%s: too many requests are waiting", what);
	post_failure(b, ask->kind, ask->ticket, &err);
}

void ab_jobs_add(struct broker *b, const struct ask *ask, size_t len)
{
	size_t body = len - ASK_LEN(0);
	struct job **end = &b->jobs, *job;

	if (count_jobs(b).waiting[ask->kind] >= works[ask->kind].waiting) {
		refuse_job(b, ask);
		return;
	}
	job = ab_alloc(sizeof(*job) + body + 1);
	job->kind = ask->kind;
	job->ticket = ask->ticket;
	job->pidfd = -1;
	job->len = body;
	memcpy(job->body, ask->text, body);
	while (*end)
		end = &(*end)->next;
	*end = job;
}

struct working {
	const struct broker *broker;
	const struct job *job;
};

static int serve_job(int sock, void *arg)
{
	static struct answer a;
	const struct working *working = arg;
	const struct broker *b = working->broker;
	const struct job *job = working->job;
	const struct work *work = &works[job->kind];
	struct done done = { .fd = -1 };

	(void)sock;
	environ = (char **)(uintptr_t)(b->duty.environ ? b->duty.environ : b->duty.input->environ);
	a.kind = work->news;
	a.ticket = job->ticket;
	a.result = work->run(b, job, &done, &a.error);
	a.number = done.number;
	if (a.result == 0 && done.text.len > TEXT_ROOM)
		a.result = ab_fail(&a.error, AB_ESYSTEM, EFBIG, "send the answer");
	if ((a.result == 0 && done.silent) || (a.result < 0 && job->quiet))
		return LEFT_DONE;
	if (a.result < 0)
		done.text.len = 0;
	else if (done.text.len)
		memcpy(a.lines, done.text.data, done.text.len);
	if (ab_send_fds(b->sock, &a, ANSWER_LEN(done.text.len), &done.fd, done.fd >= 0) < 0)
		return LEFT_UNDONE;
	return LEFT_ANSWERED;
}

/* A worker runs programs, and the user's file systems may hang: it must end with the broker and
 * keep nothing of the caller's. Nor the lock of the run, which would then look active. */
static void start_job(struct broker *b, struct job *job)
{
	struct working working = { .broker = b, .job = job };
	const int keep[] = { b->sock, b->duty.init };
	const struct ab_helper_setup setup = {
		.what = "a worker",
		.keep = keep,
		.nkeep = AB_COUNT(keep),
		.signals = AB_HELPER_TERM,
		.end_signal = SIGTERM,
		.group = true,
		.watch = true,
		.serve = serve_job,
		.arg = &working,
	};
	struct ab_helper helper;
	struct ab_error err;

	job->quiet = job->kind == ASK_NOTICE || (is_hook(job) && ab_now_ms() < b->hook_quiet_until);
	/* If it fails, the next check tries again. */
	if (ab_helper_start(&setup, &helper, &err) < 0)
		return;
	job->pid = helper.pid;
	job->pidfd = helper.pidfd;
	job->until = ab_now_ms() + works[job->kind].ms;
}

/* If the worker did not answer, report the failure. */
static void conclude_job(struct broker *b, const struct job *job, int status)
{
	int left = WIFEXITED(status) ? WEXITSTATUS(status) : LEFT_UNDONE;
	struct ab_error err = { 0 };

	if (is_hook(job) && left != LEFT_DONE && !job->quiet)
		b->hook_quiet_until = ab_now_ms() + QUIET_MS;
	if (left == LEFT_DONE || left == LEFT_ANSWERED || job->quiet)
		return;
	ab_fail(&err, AB_ESYSTEM, 0, "the broker's worker has died");
	post_failure(b, job->kind, job->ticket, &err);
}

static bool has_ended(struct job *job, int *ret_status)
{
	pid_t pid = waitpid(job->pid, ret_status, WNOHANG);

	if (pid < 0 && errno != EINTR)
		*ret_status = 0xff00;
	return pid > 0 || (pid < 0 && errno != EINTR);
}

static void drop_job(struct job **at)
{
	struct job *job = *at;

	*at = job->next;
	ab_closep(&job->pidfd);
	free(job);
}

static void reap_jobs(struct broker *b, bool report)
{
	for (struct job **at = &b->jobs; *at;) {
		struct job *job = *at;
		int status;

		if (!job->pid || !has_ended(job, &status)) {
			if (job->pid && ab_now_ms() >= job->until)
				kill(job->pid, SIGKILL);
			at = &job->next;
			continue;
		}
		if (report)
			conclude_job(b, job, status);
		drop_job(at);
	}
}

static void start_waiting(struct broker *b)
{
	struct counts c = count_jobs(b);

	for (struct job *job = b->jobs; job; job = job->next)
		if (!job->pid && c.running[job->kind] < works[job->kind].at_once) {
			start_job(b, job);
			c.running[job->kind]++;
		}
}

/* Report violations that the hook did not get, once the rush is over. */
static void report_missed(struct broker *b)
{
	struct ab_error err = { 0 };

	if (!b->hook_missed || ab_now_ms() < b->hook_quiet_until ||
	    count_jobs(b).waiting[ASK_VIOLATION] > works[ASK_VIOLATION].waiting / 4 * 3)
		return;
	ab_fail(&err, AB_ESYSTEM, 0,
		"%" PRIu64 " violations did not reach the --on-violation command: it is too slow",
		b->hook_missed);
	post_failure(b, ASK_VIOLATION, 0, &err);
	b->hook_missed = 0;
	b->hook_quiet_until = ab_now_ms() + QUIET_MS;
}

size_t ab_jobs_poll(const struct broker *b, struct pollfd *ret, int64_t *until)
{
	size_t n = 0;

	for (const struct job *j = b->jobs; j; j = j->next) {
		if (!j->pid)
			continue;
		if (j->until < *until)
			*until = j->until;
		if (n < AB_JOBS_MAX)
			ret[n++] = (struct pollfd){ .fd = j->pidfd, .events = POLLIN };
	}
	return n;
}

void ab_jobs_update(struct broker *b)
{
	reap_jobs(b, true);
	start_waiting(b);
	report_missed(b);
}

/* Wait until no worker is left, or for `ms`. */
static void wait_for_jobs(struct broker *b, int ms, bool start_more)
{
	int64_t end = ab_now_ms() + ms;

	for (;;) {
		struct pollfd fds[AB_JOBS_MAX];
		int64_t until = end, now;
		size_t n;

		reap_jobs(b, false);
		if (start_more)
			start_waiting(b);
		n = ab_jobs_poll(b, fds, &until);
		now = ab_now_ms();
		if (n == 0 || now >= end)
			return;
		poll(fds, n, until > now ? (int)(until - now) : 0);
	}
}

static void signal_all(struct broker *b, int signum, bool also_last)
{
	for (struct job *j = b->jobs; j; j = j->next)
		if (j->pid && (also_last || !works[j->kind].last))
			kill(j->pid, signum);
}

static void drop_waiting(struct broker *b, bool also_last)
{
	for (struct job **at = &b->jobs; *at;) {
		struct job *job = *at;

		if (job->pid || (!also_last && works[job->kind].last)) {
			at = &job->next;
			continue;
		}
		b->hook_missed += is_hook(job);
		drop_job(at);
	}
}

void ab_jobs_finish(struct broker *b, int ms, struct ab_strv *ret_lines)
{
	drop_waiting(b, ms == 0);
	signal_all(b, SIGTERM, ms == 0);
	wait_for_jobs(b, ms, ms > 0);
	drop_waiting(b, true);
	/* A worker ends its program too. */
	signal_all(b, SIGTERM, true);
	wait_for_jobs(b, GRACE_MS / 2, false);
	signal_all(b, SIGKILL, true);
	wait_for_jobs(b, GRACE_MS / 2, false);
	if (ret_lines && b->hook_missed)
		ab_strv_addf(ret_lines,
			     "%" PRIu64 " violations did not reach the --on-violation command: "
			     "it took too long",
			     b->hook_missed);
}
