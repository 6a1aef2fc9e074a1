/*
 * The native filters in the kernel itself: children that lock themselves in
 * and try. Under sanitizers this is also the test of their longer lists.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/seccomp/seccomp.h"
#include "tap.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define HIGH 0xdeadbeef00000000ull

/* Runs `body` in a child behind a filter; it returns 0 or a line number. */
static int run_behind(enum ab_filter which, int (*before)(void), int (*body)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int r = before ? before() : 0;

		if (!r && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			r = __LINE__;
		errno = 77;
		if (!r && (ab_seccomp_load(which) != 0 || errno != 77))
			r = __LINE__;
		if (!r)
			r = body();
		if (r)
			printf("# line %d\n", r);
		fflush(stdout);
		_exit(!!r);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

#define EXPECT(cond)                     \
	do {                             \
		if (!(cond))             \
			return __LINE__; \
	} while (0)

static int errno_of(long nr, uint64_t a, uint64_t b, uint64_t c)
{
	return syscall(nr, a, b, c, 0, 0, 0) < 0 ? errno : 0;
}

/*
 * Each is answered otherwise without the filter, unless this test already
 * runs behind somebody's; unfiltered() counts.
 */
static const struct {
	long nr;
	uint64_t a, b, c;
	int want;
} live[] = {
	{ SYS_clone3, 0, 0, 0, ENOSYS },
	{ SYS_ioctl, ~0ull, TIOCSTI, 0, EPERM },
	{ SYS_ioctl, ~0ull, TIOCSTI | HIGH, 0, EPERM },
	{ SYS_ioctl, ~0ull, TIOCLINUX | HIGH, 0, EPERM },
	{ SYS_setns, ~0ull, 0, 0, EPERM },
	{ SYS_mount_setattr, ~0ull, 0, 0x10, EPERM },
	{ SYS_personality, 8, 0, 0, EPERM },
	{ SYS_socket, AF_INET, SOCK_PACKET + 1, 0, ESOCKTNOSUPPORT },
};

static int unfiltered(void)
{
	size_t telling = 0;

	for (size_t i = 0; i < LEN(live); i++) {
		int got = errno_of(live[i].nr, live[i].a, live[i].b, live[i].c);

		telling += got != live[i].want;
	}
	errno_of(SYS_personality, 0, 0, 0);
	printf("# %zu of %zu calls tell\n", telling, LEN(live));
	EXPECT(telling >= 3);
	return 0;
}

static void *add_one(void *n)
{
	++*(int *)n;
	return n;
}

static int use_target(void)
{
	pthread_t thread;
	int n = 1, status, fds[2];
	pid_t pid;

	for (size_t i = 0; i < LEN(live); i++) {
		int got = errno_of(live[i].nr, live[i].a, live[i].b, live[i].c);

		if (got != live[i].want) {
			printf("# row %zu: %s\n", i, strerror(got));
			return __LINE__;
		}
	}
	EXPECT(errno_of(SYS_ioctl, ~0ull, TIOCGWINSZ | HIGH, 0) == EBADF);
	EXPECT(syscall(SYS_personality, 0xffffffffull) == 0);
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	EXPECT(pthread_create(&thread, NULL, add_one, &n) == 0);
	EXPECT(pthread_join(thread, NULL) == 0 && n == 2);
	pid = fork();
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(99);
	}
	EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	return 0;
}

static int use_own(void)
{
	void *p;

	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(p != MAP_FAILED);
	EXPECT(mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0 && errno == EPERM);
	EXPECT(mprotect(p, 4096, PROT_READ) == 0);
	EXPECT(execl("/bin/true", "true", NULL) < 0 && errno == ENOSYS);
	EXPECT(syscall(SYS_ptrace, 0, 0, 0, 0) < 0 && errno == ENOSYS);
	for (size_t size = 16; size < 8 << 20; size *= 4) {
		p = malloc(size);
		EXPECT(p);
		memset(p, 1, size);
		free(p);
	}
	return 0;
}

static int use_supervisor(void)
{
	pthread_t thread;
	int n = 1;

	EXPECT(use_own() == 0);
	EXPECT(fork() < 0 && errno == EPERM);
	EXPECT(pthread_create(&thread, NULL, add_one, &n) == 0);
	EXPECT(pthread_join(thread, NULL) == 0 && n == 2);
	EXPECT(epoll_create1(EPOLL_CLOEXEC) >= 0);
	EXPECT(socket(AF_INET, SOCK_STREAM, 0) >= 0);
	EXPECT(socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EAFNOSUPPORT);
	return 0;
}

static int use_init(void)
{
	EXPECT(use_own() == 0);
	EXPECT(fork() < 0 && errno == ENOSYS);
	EXPECT(open("/proc/net/tcp", O_RDONLY | O_CLOEXEC) >= 0);
	EXPECT(open("/dev/null", O_WRONLY) < 0 && errno == EPERM);
	EXPECT(socket(AF_INET, SOCK_STREAM, 0) >= 0);
	EXPECT(socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EAFNOSUPPORT);
	return 0;
}

static int use_nonet(void)
{
	EXPECT(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EACCES);
	EXPECT(socket(AF_NETLINK, SOCK_RAW, 0) < 0 && errno == EACCES);
	EXPECT(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	EXPECT(fork() >= 0);
	return 0;
}

static int use_target_then_nonet(void)
{
	EXPECT(ab_seccomp_load(AB_FILTER_NONET) == 0);
	EXPECT(use_nonet() == 0);
	EXPECT(errno_of(SYS_setns, ~0ull, 0, 0) == EPERM);
	return 0;
}

static void test_live(void)
{
	pid_t pid;
	int status;

	ok(run_behind(AB_FILTER_TARGET, unfiltered, use_target) == 0,
	   "behind the target's filter calls fail as they should, "
	   "threads and programs run");
	ok(run_behind(AB_FILTER_INIT, NULL, use_init) == 0,
	   "behind init's filter its work is done and nothing else");
	ok(run_behind(AB_FILTER_SUPERVISOR, NULL, use_supervisor) == 0,
	   "behind the supervisor's filter threads start, programs do not");
	ok(run_behind(AB_FILTER_NONET, NULL, use_nonet) == 0,
	   "behind the nested filter there are only local sockets");
	ok(run_behind(AB_FILTER_TARGET, NULL, use_target_then_nonet) == 0,
	   "a nested run adds its filter to the target's");

	/* root may load a filter without it: drop what allows that */
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(2);
		_exit(ab_seccomp_load(AB_FILTER_NONET) != -EACCES);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	   "without no_new_privs loading fails with EACCES");
}

int main(void)
{
	test_live();
	return done();
}
