#include "session/approver.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "session/hold.h"

enum { OUTPUT_MAX = 64 * 1024 };

struct approver {
	pid_t pid; /* leads a group of its own */
	int pidfd;
	int out;
	int status; /* once it has ended */
	bool ended;
	struct ab_buf said;
};

static void add_text(struct ab_buf *b, const char *key, const char *value)
{
	ab_buf_printf(b, ",\"%s\":", key);
	ab_buf_json(b, value);
}

void ab_approver_request(struct ab_buf *b, const struct ab_judgement *j,
			 const char *const *argv, size_t argc, const char *cwd,
			 const char *session)
{
	ab_autofree char *text = ab_strndup(j->text.s, j->text.len);

	ab_buf_puts(b, "{\"version\":1,\"kind\":\"command\"");
	add_text(b, "command", text);
	ab_buf_puts(b, ",\"argv\":[");
	for (size_t i = 0; i < argc; i++) {
		ab_buf_puts(b, i ? "," : "");
		ab_buf_json(b, argv[i]);
	}
	ab_buf_puts(b, "]");
	add_text(b, "cwd", cwd);
	add_text(b, "decision", ab_decision_names[j->decision]);
	add_text(b, "rule", j->rule);
	add_text(b, "reason", j->reason);
	ab_buf_printf(b, ",\"range\":[%u,%u]", j->range.from, j->range.to);
	if (session)
		add_text(b, "session", session);
	ab_buf_printf(b, ",\"pid\":%d}\n", getpid());
}

__attribute__((format(printf, 2, 3))) static void
fail(struct ab_approver_reply *ret, const char *fmt, ...)
{
	va_list ap;

	*ret = (struct ab_approver_reply){ .answer = AB_ANSWER_NO,
					   .failed = true };
	va_start(ap, fmt);
	vsnprintf(ret->why, sizeof(ret->why), fmt, ap);
	va_end(ap);
}

void ab_approver_parse(const char *text, size_t len,
		       struct ab_approver_reply *ret)
{
	const char *answer, *reason = "";
	json_error_t wrong;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &wrong);

	*ret = (struct ab_approver_reply){ 0 };
	if (!json)
		fail(ret, "its answer is not JSON: %s", wrong.text);
	else if (json_unpack_ex(json, &wrong, 0, "{s:s,s?s}", "answer", &answer,
				"reason", &reason) < 0)
		fail(ret, "its answer is not one: %s", wrong.text);
	else if (!ab_answer_parse(answer, &ret->answer))
		fail(ret, "\"%.40s\" is not an answer", answer);
	else
		snprintf(ret->why, sizeof(ret->why), "%s", reason);
	json_decref(json);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static _Noreturn void become(const char *command, int in, int out)
{
	static const int defaults[] = { SIGPIPE, SIGCHLD, SIGTTOU, SIGTTIN };
	const char *const argv[] = { "sh", "-c", command, NULL };
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < AB_COUNT(defaults); i++)
		signal(defaults[i], SIG_DFL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || ab_close_others(NULL, 0) < 0)
		_exit(126);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/bin/sh", (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* The question is a file: a program that does not read it hinders nobody. */
static int start(struct approver *a, const char *command, const char *request,
		 size_t len)
{
	ab_autoclose int in = ab_memfd_sealed("question", request, len);
	ab_autoclose int to = -1;
	int out[2];

	if (in < 0 || lseek(in, 0, SEEK_SET) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return -1;
	a->out = out[0];
	to = out[1];
	if (fcntl(a->out, F_SETFL, O_NONBLOCK) < 0)
		return -1;
	a->pid = fork();
	if (a->pid < 0)
		return -1;
	if (a->pid == 0)
		become(command, in, to);
	setpgid(a->pid, a->pid); /* whoever comes first */
	a->pidfd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	return a->pidfd < 0 ? -1 : 0;
}

/* What is there now; false: more than we take. */
static bool take_output(struct approver *a)
{
	for (;;) {
		char chunk[4096];
		ssize_t n = read(a->out, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return true;
		if (n == 0) {
			ab_closep(&a->out);
			a->out = -1;
			return true;
		}
		if (a->said.len + (size_t)n > OUTPUT_MAX)
			return false;
		ab_buf_add(&a->said, chunk, (size_t)n);
	}
}

/* Until it has ended; what its own children still hold open does not count. */
static void attend(struct approver *a, const struct ab_hold *hold,
		   int64_t until, unsigned timeout_ms,
		   struct ab_approver_reply *ret)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = a->pidfd, .events = POLLIN },
					{ .fd = a->out, .events = POLLIN },
					{ .fd = hold->fd, .events = POLLIN } };
		int64_t left = until - now_ms();
		int n = left <= 0 ? 0 : poll(fds, AB_COUNT(fds), (int)left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(ret, "%s", strerror(errno));
		if (n == 0)
			return fail(ret, "no answer in %g s",
				    timeout_ms / 1000.0);
		if (fds[2].revents)
			return fail(ret, "interrupted");
		if (a->out >= 0 && !take_output(a))
			return fail(ret, "it said more than %d KiB",
				    OUTPUT_MAX / 1024);
		if (fds[0].revents) {
			a->ended = true;
			return;
		}
	}
}

static void conclude(struct approver *a, struct ab_approver_reply *ret)
{
	if (WIFSIGNALED(a->status))
		fail(ret, "it was ended by signal %d", WTERMSIG(a->status));
	else if (WEXITSTATUS(a->status) != 0)
		fail(ret, "it ended with status %d", WEXITSTATUS(a->status));
	else if (a->said.len == 0)
		fail(ret, "it said nothing");
	else
		ab_approver_parse(a->said.data, a->said.len, ret);
}

void ab_approver_ask(const char *command, const char *request, size_t len,
		     unsigned timeout_ms, struct ab_approver_reply *ret)
{
	struct approver a = { .pid = -1, .pidfd = -1, .out = -1 };
	int64_t until = now_ms() + timeout_ms;
	struct ab_error err;
	struct ab_hold hold;

	if (ab_hold_begin(&hold, &err) < 0)
		return fail(ret, "%s", err.text);
	if (start(&a, command, request, len) < 0)
		fail(ret, "it cannot be started: %s", strerror(errno));
	else
		attend(&a, &hold, until, timeout_ms, ret);
	if (a.pid > 0) {
		/* Not reaped yet, so the group is still its own. */
		kill(-a.pid, SIGKILL);
		while (waitpid(a.pid, &a.status, 0) < 0 && errno == EINTR)
			;
	}
	if (a.ended)
		conclude(&a, ret);
	ab_closep(&a.pidfd);
	ab_closep(&a.out);
	ab_buf_fini(&a.said);
	ab_hold_end(&hold);
}
