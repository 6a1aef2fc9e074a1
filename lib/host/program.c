#include "host/program.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "terminal/signal_hold.h"

/* One of its streams, and the buffer for it. */
struct stream {
	int fd; /* -1: none, or closed */
	char *to;
	size_t room, len;
	bool cut; /* drop output beyond the buffer; otherwise it is an error */
};

struct running {
	pid_t pid; /* leads a group of its own */
	int pidfd;
	struct stream out, err;
};

static _Noreturn void exec_program(const struct ab_program *p, int out, int err)
{
	static const int defaults[] = { SIGPIPE, SIGCHLD, SIGTTOU, SIGTTIN };
	int in = p->in >= 0 ? p->in : open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < AB_COUNT(defaults); i++)
		signal(defaults[i], SIG_DFL);
	if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || (err >= 0 && dup2(err, 2) < 0) ||
	    (p->cwd && chdir(p->cwd) < 0) || ab_close_others(NULL, 0) < 0)
		_exit(126);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	environ = (char **)(uintptr_t)p->env;
	execvp(p->argv[0], (char *const *)(uintptr_t)p->argv);
	dprintf(2, "%s: %s", p->argv[0], strerror(errno));
	_exit(127);
}

static int open_stream(struct stream *s, int *ret_write)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	s->fd = ends[0];
	*ret_write = ends[1];
	return fcntl(s->fd, F_SETFL, O_NONBLOCK);
}

static int start_program(struct running *r, const struct ab_program *p)
{
	ab_autoclose int out = -1, err = -1;

	if (p->discard_output)
		out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	else if (open_stream(&r->out, &out) < 0)
		return -1;
	if (out < 0 || (p->err && open_stream(&r->err, &err) < 0))
		return -1;
	r->pid = fork();
	if (r->pid < 0)
		return -1;
	if (r->pid == 0)
		exec_program(p, out, err);
	setpgid(r->pid, r->pid); /* in both processes: either may run first */
	r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	return r->pidfd < 0 ? -1 : 0;
}

/* Read what is available; false: too much. */
static bool read_stream(struct stream *s)
{
	while (s->fd >= 0) {
		char extra[512];
		bool full = s->len == s->room;
		ssize_t n = read(s->fd, full ? extra : s->to + s->len,
				 full ? sizeof(extra) : s->room - s->len);

		if (full)
			explicit_bzero(extra, sizeof(extra));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return true;
		if (n == 0) {
			ab_closep(&s->fd);
		} else if (!full) {
			s->len += (size_t)n;
		} else if (!s->cut) {
			return false;
		}
	}
	return true;
}

/* Wait for its end; its children may keep the pipes open. */
static enum ab_ran_how wait_for_program(struct running *r, const struct ab_signal_hold *hold,
					int64_t until, int *ret_errnum)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = r->pidfd, .events = POLLIN },
					{ .fd = r->out.fd, .events = POLLIN },
					{ .fd = r->err.fd, .events = POLLIN },
					{ .fd = hold->fd, .events = POLLIN } };
		int64_t left = until - ab_now_ms();
		int n = left <= 0 ? 0 : poll(fds, AB_COUNT(fds), (int)left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			*ret_errnum = errno;
			return AB_RAN_FAILED;
		}
		if (n == 0)
			return AB_RAN_LATE;
		if (fds[3].revents)
			return AB_RAN_INTERRUPTED;
		if (!read_stream(&r->out))
			return AB_RAN_TOO_MUCH;
		read_stream(&r->err);
		if (fds[0].revents)
			return AB_RAN_ENDED;
	}
}

/* What it left in the background would go on writing while we look at the host. It is killed with the
 * group, which it has left only as a service of its own, and waited for: orphans are ours meanwhile. */
static void end_group(pid_t group, int *ret_status)
{
	/* It is not reaped yet, so the group is still its own. */
	kill(-group, SIGKILL);
	while (waitpid(group, ret_status, 0) < 0 && errno == EINTR)
		;
	while (waitpid(-group, NULL, 0) > 0 || errno == EINTR)
		;
}

void ab_program_run(const struct ab_program *p, struct ab_ran *ret)
{
	struct running r = {
		.pid = -1,
		.pidfd = -1,
		.out = { .fd = -1, .to = p->out, .room = p->room },
		.err = { .fd = -1, .to = p->err, .room = p->err_room, .cut = true },
	};
	int64_t until = ab_now_ms() + p->ms;
	struct ab_error err;
	struct ab_signal_hold hold;
	int reaps = 0;

	*ret = (struct ab_ran){ .how = AB_RAN_FAILED };
	if (ab_signal_hold_begin(&hold, &err) < 0) {
		ret->errnum = err.errnum;
		return;
	}
	(void)prctl(PR_GET_CHILD_SUBREAPER, &reaps);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (start_program(&r, p) < 0)
		ret->errnum = errno;
	else
		ret->how = wait_for_program(&r, &hold, until, &ret->errnum);
	if (r.pid > 0)
		end_group(r.pid, &ret->status);
	(void)prctl(PR_SET_CHILD_SUBREAPER, reaps);
	ret->out_len = r.out.len;
	ret->err_len = r.err.len;
	ab_close_all(&r.pidfd, &r.out.fd, &r.err.fd);
	ab_signal_hold_end(&hold);
}
