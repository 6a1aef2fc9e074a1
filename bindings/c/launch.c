/*
 * Theory of operation.
 *
 * The caller gets no SIGCHLD, and its wait() sees no child: a process in between, which is made
 * without a signal for its end, makes the server and exits at once; the server becomes a child of
 * the system's init. It waits for `go` until we have a descriptor of it.
 *
 * Between clone() and exec both are a copy of one thread of the caller, so they only call what a
 * signal handler may call. The server gets the socket as descriptor 3, /dev/null as 0-2, and nothing
 * else that the caller has open.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

enum { CHANNEL = 3, END_MS = 20000 };

struct launch {
	int fd; /* of the program, or -1 */
	const char *path;
	int sock;
	int report[2]; /* from the child: its number, and errno if it fails */
	int go[2];     /* to the child */
};

struct report {
	pid_t pid;
	int error;
};

static void reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			(void)sigaction(sig, &action, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Above the numbers that are about to be used. */
static int move_up(int fd)
{
	return fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, CHANNEL + 1);
}

/* Report it; what was reported before stays valid. */
_Noreturn static void fail_launch(const struct launch *l, int error)
{
	struct report r = { .error = error };

	(void)!write(l->report[1], &r, sizeof(r));
	_exit(127);
}

_Noreturn static void become_server(struct launch *l, char *const env[])
{
	static char *const argv[] = { (char *)"agentbox", (char *)"serve", (char *)"--fd",
				      (char *)"3", NULL };
	struct report me = { .pid = getpid() };
	char go;
	int null;

	/* The end of file: the caller is gone. */
	close(l->go[1]);
	if (write(l->report[1], &me, sizeof(me)) != (ssize_t)sizeof(me) ||
	    read(l->go[0], &go, 1) != 1)
		_exit(127);
	reset_signals();
	l->sock = move_up(l->sock);
	l->report[1] = move_up(l->report[1]);
	if (l->fd >= 0)
		l->fd = move_up(l->fd);
	null = move_up(open("/dev/null", O_RDWR | O_CLOEXEC));
	if (l->sock >= 0 && null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 &&
	    dup2(null, 2) >= 0 && dup2(l->sock, CHANNEL) >= 0 &&
	    syscall(SYS_close_range, CHANNEL + 1, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) == 0) {
		if (l->fd >= 0)
			syscall(SYS_execveat, l->fd, "", argv, env, AT_EMPTY_PATH);
		else
			execve(l->path, argv, env);
	}
	fail_launch(l, errno);
}

/* A plain copy of this thread's process, with no signal for its end; the order of the arguments
 * differs between machines, but all are 0. */
static pid_t copy_process(void)
{
	return (pid_t)syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
}

/* The first agentbox in a folder of PATH; free it. NULL with errno. */
static char *search_path(void)
{
	const char *path = getenv("PATH");

	errno = ENOENT;
	for (size_t n; path && *path; path += n + (path[n] == ':')) {
		size_t size;
		char *file;

		n = strcspn(path, ":");
		if (path[0] != '/')
			continue;
		size = n + sizeof("/agentbox");
		file = malloc(size);
		if (!file)
			return NULL;
		snprintf(file, size, "%.*s/agentbox", (int)n, path);
		if (access(file, X_OK) == 0)
			return file;
		free(file);
	}
	errno = ENOENT;
	return NULL;
}

/* False: errno says why. */
static bool make_server(struct launch *l, char *const env[])
{
	sigset_t all, before;
	pid_t between, server;
	int saved;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	between = copy_process();
	if (between == 0) {
		server = copy_process();
		if (server == 0)
			become_server(l, env);
		if (server < 0)
			fail_launch(l, errno);
		_exit(0);
	}
	saved = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (between > 0 && waitpid(between, NULL, __WALL) < 0 && errno == EINTR)
		;
	errno = saved;
	return between > 0;
}

/* 0: the end of file; -1 with errno. */
static ssize_t read_report(const struct launch *l, struct report *ret)
{
	ssize_t n;

	do {
		n = read(l->report[0], ret, sizeof(*ret));
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(*ret) && ret->error) {
		errno = ret->error;
		return -1;
	}
	return n;
}

static void close_two(int fds[2])
{
	for (size_t i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

/* The descriptor of the process is -1 where there are none (under valgrind). False: errno says why. */
static bool open_server(struct launch *l, char *const env[], int *ret_pidfd)
{
	struct report r = { 0 };
	int pidfd, saved;

	if (!make_server(l, env))
		return false;
	close(l->report[1]);
	l->report[1] = -1;
	if (read_report(l, &r) != (ssize_t)sizeof(r))
		return false;
	pidfd = (int)syscall(SYS_pidfd_open, r.pid, 0);
	if (!ab_client_raise(&pidfd)) {
		saved = errno;
		close(pidfd);
		errno = saved;
		return false;
	}
	/* The end of file comes with exec. */
	if ((pidfd >= 0 || errno == ENOSYS) && write(l->go[1], "", 1) == 1 &&
	    read_report(l, &r) == 0) {
		*ret_pidfd = pidfd;
		return true;
	}
	saved = errno;
	if (pidfd >= 0)
		close(pidfd);
	errno = saved;
	return false;
}

bool ab_client_raise(int *fd)
{
	int higher;

	if (*fd < 0 || *fd > STDERR_FILENO)
		return true;
	higher = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (higher < 0)
		return false;
	close(*fd);
	*fd = higher;
	return true;
}

static int start_server(struct launch *l, int *ret_sock, int *ret_pidfd, struct ab_fault *fault)
{
	int pair[2] = { -1, -1 };
	int result = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    !ab_client_raise(&pair[0]) || !ab_client_raise(&pair[1]) ||
	    pipe2(l->report, O_CLOEXEC) < 0 || pipe2(l->go, O_CLOEXEC) < 0)
		result = ab_client_fail(fault, AB_FAULT_SYSTEM, errno, "make a channel");
	l->sock = pair[1];
	if (result == 0 && !open_server(l, environ, ret_pidfd))
		result = ab_client_fail(fault, AB_FAULT_SYSTEM, errno, "start %s",
					l->fd >= 0 ? "the program of agentbox" : l->path);
	if (result == 0) {
		*ret_sock = pair[0];
		pair[0] = -1;
	}
	close_two(pair);
	close_two(l->report);
	close_two(l->go);
	return result;
}

int ab_client_launch(const struct ab_manager_options *options, int *ret_sock, int *ret_pidfd,
		     struct ab_fault *fault)
{
	struct launch l = { .fd = options->program_fd > 0 ? options->program_fd : -1,
			    .path = options->program,
			    .report = { -1, -1 },
			    .go = { -1, -1 } };
	char *found = NULL;
	int result;

	if (l.fd < 0 && !l.path && access(AB_PROGRAM, X_OK) == 0)
		l.path = AB_PROGRAM;
	if (l.fd < 0 && !l.path) {
		l.path = found = search_path();
		if (!found) {
			ab_client_fail(fault,
				       errno == ENOENT ? AB_FAULT_NOT_FOUND : AB_FAULT_MEMORY, 0,
				       "agentbox is not installed");
			if (fault)
				snprintf(fault->hint, sizeof(fault->hint),
					 "install it as %s or in a folder of PATH, or name it",
					 AB_PROGRAM);
			return -1;
		}
	}
	result = start_server(&l, ret_sock, ret_pidfd, fault);
	free(found);
	return result;
}

/* The end of file says that it is about to exit; a child of the caller may keep the socket open, so
 * its end counts, too. False: not in time. */
static bool await_end(int sock, int pidfd)
{
	int64_t until = ab_client_until(END_MS), left;
	char block[4096];

	while ((left = until - ab_client_now()) > 0) {
		struct pollfd p[] = { { .fd = sock, .events = POLLIN },
				      { .fd = pidfd, .events = POLLIN } };
		ssize_t n = poll(p, 2, (int)left) > 0 && p[0].revents
				    ? recv(sock, block, sizeof(block), MSG_DONTWAIT)
				    : -1;

		if (n == 0 || (n < 0 && (errno == ECONNRESET || p[1].revents)))
			return true;
	}
	return false;
}

/* It ends every run within a few seconds; if it does not, the kernel does. */
void ab_client_end(int sock, int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	siginfo_t info;

	shutdown(sock, SHUT_WR);
	if (!await_end(sock, pidfd) && pidfd >= 0)
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	if (pidfd < 0)
		return;
	poll(&p, 1, END_MS);
	/* It is ours only if the caller is the init of its container. */
	while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | __WALL | WNOHANG) < 0 &&
	       errno == EINTR)
		;
	close(pidfd);
}
