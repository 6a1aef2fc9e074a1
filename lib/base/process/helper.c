#include "base/process/helper.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { KEEP_MAX = 32 };

int ab_end_with(pid_t parent, int end_signal)
{
	/* It may have ended before. */
	return prctl(PR_SET_PDEATHSIG, end_signal) < 0 || getppid() != parent ? -1 : 0;
}

int ab_drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { 0 };

	return (int)syscall(SYS_capset, &head, none);
}

/* Those that end us, stop us, or that our programs expect to get. */
static const int ours[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGTTOU, SIGTTIN };
enum { ENDING = 5 };

void ab_default_signals(void)
{
	sigset_t none;

	for (size_t i = 0; i < AB_COUNT(ours); i++)
		signal(ours[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void choose_signals(const struct ab_helper_setup *s)
{
	sigset_t set;

	sigfillset(&set);
	switch (s->signals) {
	case AB_HELPER_BLOCKS:
		break;
	case AB_HELPER_TERM:
		signal(SIGTERM, SIG_DFL);
		sigdelset(&set, SIGTERM);
		break;
	case AB_HELPER_IGNORES:
		for (size_t i = 0; i < ENDING; i++)
			signal(ours[i], SIG_IGN);
		sigemptyset(&set);
		break;
	case AB_HELPER_MASK:
		set = *s->mask;
		break;
	}
	sigprocmask(SIG_SETMASK, &set, NULL);
}

/* In a root without devices, an empty pipe: it has an end, too, and cannot be written to. */
static int open_null(void)
{
	int fd = open("/dev/null", O_RDWR), ends[2];

	if (fd < 0 && pipe(ends) == 0) {
		fd = ends[0];
		close(ends[1]);
	}
	return fd;
}

static int replace_stdio(const int *stdio, const int *keep, size_t nkeep)
{
	int null = stdio ? -1 : open_null(), r = 0;

	for (int fd = 0; fd < 3; fd++) {
		int from = stdio ? stdio[fd] : null;
		bool kept = false;

		for (size_t i = 0; i < nkeep; i++)
			kept = kept || keep[i] == fd;
		if (!kept && from != fd && (from < 0 || dup2(from, fd) < 0))
			r = -1;
	}
	if (null > 2)
		close(null);
	return r;
}

int ab_arrange_stdio(const int *stdio)
{
	return replace_stdio(stdio, NULL, 0);
}

static int arrange_descriptors(const struct ab_helper_setup *s, int sock)
{
	int keep[KEEP_MAX + 1] = { sock };

	if (s->nkeep > KEEP_MAX)
		return -1;
	for (size_t i = 0; i < s->nkeep; i++)
		keep[i + 1] = s->keep[i];
	if (replace_stdio(s->stdio, keep, s->nkeep + 1) < 0)
		return -1;
	return ab_close_others(keep, s->nkeep + 1);
}

static _Noreturn void be_helper(const struct ab_helper_setup *s, int sock, pid_t parent)
{
	if (s->end_signal && ab_end_with(parent, s->end_signal) < 0)
		_exit(AB_HELPER_FAILED);
	if (s->name)
		prctl(PR_SET_NAME, s->name);
	if ((s->session && setsid() < 0) || (s->group && setpgid(0, 0) < 0) ||
	    (s->hidden && prctl(PR_SET_DUMPABLE, 0) < 0))
		_exit(AB_HELPER_FAILED);
	choose_signals(s);
	if (arrange_descriptors(s, sock) < 0) {
		if (s->failed)
			s->failed(sock, errno);
		_exit(AB_HELPER_FAILED);
	}
	if (s->outside && chdir("/") < 0)
		_exit(AB_HELPER_FAILED);
	_exit(s->serve(sock, s->arg));
}

int ab_await(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static pid_t fork_helper(const struct ab_helper_setup *s, int sock)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0 && s->orphan) {
		pid = fork();
		if (pid != 0)
			_exit(pid < 0);
	}
	if (pid == 0)
		be_helper(s, sock, parent);
	if (pid > 0 && s->group)
		setpgid(pid, pid); /* in both processes: either may run first */
	if (pid > 0 && s->orphan && ab_await(pid) != 0)
		return -1;
	return pid;
}

int ab_helper_start(const struct ab_helper_setup *s, struct ab_helper *ret, struct ab_error *err)
{
	ab_autoclose int ours_end = -1, its_end = -1;
	int pair[2];
	pid_t pid;

	if (s->socket) {
		if (socketpair(AF_UNIX, s->socket | SOCK_CLOEXEC, 0, pair) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "make a socket pair");
		ours_end = pair[0];
		its_end = pair[1];
	}
	pid = fork_helper(s, its_end);
	if (pid < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "fork %s", s->what);
	*ret = (struct ab_helper){ .pid = s->orphan ? 0 : pid,
				   .sock = ab_take_fd(&ours_end),
				   .pidfd = s->watch ? (int)syscall(SYS_pidfd_open, pid, 0) : -1 };
	return 0;
}

void ab_helper_end(struct ab_helper *helper)
{
	ab_closep(&helper->sock);
	if (helper->pid > 0)
		(void)ab_await(helper->pid);
}

int ab_in_child(int (*work)(const void *arg), const void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(work(arg));
	status = pid < 0 ? -1 : ab_await(pid);
	if (status >= 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	if (status >= 0)
		errno = EIO;
	return -1;
}
