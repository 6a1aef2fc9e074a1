/*
 * The lock of the supervisor, as a thread finds it that is made afterwards:
 * that is what the proxy is. Then that of the process that sends records. Each
 * refusal has its twin that works.
 */
#include "host/lock/lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "tap.h"

static char top[] = "/tmp/agentbox-lock.XXXXXX";
static char state[64], outside[64], door[64];
static struct sockaddr_in listener = { .sin_family = AF_INET };
static pid_t other;
static int leash; /* closed: the other one cleans up and ends */

static int open_errno(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int connect_unix(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		return errno;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", door);
	return connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ? errno : 0;
}

static int connect_tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return errno;
	return connect(fd, (struct sockaddr *)&listener, sizeof(listener)) < 0 ? errno : 0;
}

static int peek(void)
{
	char byte, *there = &state[0];
	struct iovec mine = { &byte, 1 }, theirs = { there, 1 };

	return process_vm_readv(other, &mine, 1, &theirs, 1, 0) < 0 ? errno : 0;
}

static void *be_proxy(void *arg)
{
	char path[96];
	char *argv[] = { (char *)"true", NULL };

	(void)arg;
	snprintf(path, sizeof(path), "%s/log", state);
	ok(open_errno(path, O_WRONLY | O_CREAT | O_APPEND) == 0, "its own state can be written");
	ok(open_errno("/etc/passwd", O_RDONLY) == 0, "/etc can be read");
	ok(open_errno("/etc/agentbox-test", O_WRONLY | O_CREAT) == EACCES, "and not written");
	ok(open_errno(outside, O_RDONLY) == EACCES, "a file elsewhere cannot be read");
	ok(open_errno(outside, O_WRONLY) == EACCES, "nor written");
	ok(open_errno("/proc/self/mem", O_RDWR) == EACCES, "nor our own memory by its file");
	execv("/bin/true", argv);
	ok(errno == ENOSYS || errno == EPERM, "nothing can be executed");
	ok(syscall(SYS_ptrace, PTRACE_ATTACH, other, 0, 0) < 0 &&
		   (errno == ENOSYS || errno == EPERM),
	   "nobody can be traced");
	ok(peek() != 0, "nor looked into");
	ok(fork() < 0, "no process can be made");
	ok(connect_unix() == EAFNOSUPPORT, "no socket file can be reached");
	ok(connect_tcp() == 0, "a host can");
	ok(syscall(SYS_setns, 0, 0) < 0 && errno == ENOSYS, "no namespace can be entered");
	return NULL;
}

/* In a process of its own: what failed is a bit of its exit status. */
static int be_fetcher(void)
{
	struct ab_error err;
	char path[96];
	int wrong = ab_lock_fetcher(&err) < 0;

	snprintf(path, sizeof(path), "%s/log", state);
	wrong |= 2 * (open_errno("/etc/passwd", O_RDONLY) != 0 || connect_tcp() != 0);
	wrong |= 4 * (open_errno(outside, O_RDONLY) != EACCES ||
		      open_errno("/proc/self/mem", O_RDONLY) != EACCES);
	wrong |= 8 * (open_errno(path, O_WRONLY | O_CREAT) != EPERM);
	wrong |= 16 * (connect_unix() != EAFNOSUPPORT);
	wrong |= 32 * (kill(other, 0) == 0 || peek() == 0 || fork() >= 0);
	return wrong;
}

static void test_fetcher(void)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(be_fetcher());
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	   "a fetcher reads /etc and reaches hosts, and nothing else (%#x)", status);
}

static void prepare(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(listener);
	int fd, pair[2];

	if (!mkdtemp(top))
		abort();
	snprintf(state, sizeof(state), "%s/state", top);
	snprintf(outside, sizeof(outside), "%s/outside", top);
	snprintf(door, sizeof(door), "%s/socket", top);
	mkdir(state, 0700);
	close(open(outside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", door);
	if (bind(fd, (struct sockaddr *)&un, sizeof(un)) < 0 || listen(fd, 1) < 0)
		abort();
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	listener.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&listener, sizeof(listener)) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&listener, &len) < 0)
		abort();
	if (pipe2(pair, O_CLOEXEC) < 0)
		abort();
	leash = pair[1];
	other = fork();
	if (other == 0) {
		char end;

		close(pair[1]);
		(void)!read(pair[0], &end, 1);
		execlp("rm", "rm", "-rf", top, NULL);
		_exit(1);
	}
}

int main(void)
{
	struct ab_error err;
	pthread_t thread;
	int dir;

	prepare();
	ok(connect_unix() == 0, "before, a socket file can be reached");
	ok(open_errno(outside, O_RDWR) == 0, "and a file elsewhere opened");
	ok(peek() == 0, "and another process looked into");
	test_fetcher();
	dir = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ok(ab_lock_supervisor(dir, &err) == 0, "the lock closes");
	if (pthread_create(&thread, NULL, be_proxy, NULL) == 0)
		pthread_join(thread, NULL);
	else
		ok(false, "a thread can be made");
	close(leash);
	waitpid(other, NULL, 0);
	dir = done();
	fflush(stdout);
	_exit(dir);
}
