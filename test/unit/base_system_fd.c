#include "base/system/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/data/mem.h"
#include "base/system/clock.h"
#include "tap.h"

static size_t count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	if (!dir)
		abort();
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static void test_scope(void)
{
	size_t before = count_fds();
	int kept;

	{
		ab_autoclose int a = open("/dev/null", O_RDONLY | O_CLOEXEC);
		ab_autoclose int b = open("/dev/null", O_RDONLY | O_CLOEXEC);
		ab_autoclose int none = -1;

		kept = ab_take_fd(&b);
		ok(a >= 0 && b == -1 && kept >= 0 && none == -1, "take empties the variable");
		errno = EXDEV;
	}
	ok(errno == EXDEV, "closing by scope keeps errno");
	ok(count_fds() == before + 1, "closed by scope, but not what was taken");
	close(kept);
}

/* More than a pipe holds, so that write returns early; and signals, so that
 * it is interrupted. */
static void ignore(int sig)
{
	(void)sig;
}

static void test_write_all(void)
{
	static char big[1 << 20];
	struct sigaction sa = { .sa_handler = ignore };
	int p[2], status;
	size_t total = 0;
	bool same = true;
	pid_t child;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 7 + (i >> 12));
	if (pipe2(p, O_CLOEXEC) < 0)
		abort();
	sigaction(SIGALRM, &sa, NULL);
	child = fork();
	if (child == 0) {
		close(p[0]);
		for (int i = 0; i < 20; i++)
			kill(getppid(), SIGALRM);
		ualarm(1000, 1000);
		_exit(ab_write_all(p[1], big, sizeof(big)) < 0);
	}
	close(p[1]);
	for (;;) {
		char part[1000];
		ssize_t n = read(p[0], part, sizeof(part));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		same = same && total + (size_t)n <= sizeof(big) &&
		       memcmp(big + total, part, (size_t)n) == 0;
		total += (size_t)n;
		if (total < 20000)
			usleep(1500);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "write_all succeeds in spite of signals");
	ok(same && total == sizeof(big), "every byte arrived in order");
	close(p[0]);
	ok(ab_write_all(-1, "x", 1) == -1 && errno == EBADF, "write_all to nothing fails");
	ok(ab_write_all(-1, "x", 0) == 0, "nothing can be written anywhere");
}

static int file_with(size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	for (size_t i = 0; i < len; i++)
		if (write(fd, "a", 1) != 1)
			abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void test_read_all(void)
{
	static const size_t lengths[] = { 0, 1, 4094, 4095, 4096, 4097, 9000 };

	for (size_t i = 0; i < AB_COUNT(lengths); i++) {
		ab_autoclose int fd = file_with(lengths[i]);
		ab_autofree char *data = NULL;
		size_t len = 1;

		ok(ab_read_all(fd, lengths[i], &data, &len) == 0 && len == lengths[i] &&
			   data[len] == '\0' && strlen(data) == len,
		   "a file of %zu bytes within its bound", lengths[i]);
	}
	for (size_t i = 1; i < AB_COUNT(lengths); i++) {
		ab_autoclose int fd = file_with(lengths[i]);
		char *data = NULL;
		size_t len = 4711;

		ok(ab_read_all(fd, lengths[i] - 1, &data, &len) == -1 && errno == EFBIG && !data &&
			   len == 4711,
		   "a file of %zu bytes is one too many", lengths[i]);
	}
	{
		ab_autoclose int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		char *data = NULL;
		size_t len;

		ok(ab_read_all(fd, 100000, &data, &len) == -1 && errno == EFBIG,
		   "a file without end is bounded");
		ok(ab_read_all(-1, 10, &data, &len) == -1 && errno == EBADF, "no file is an error");
	}
}

static void test_read_full(void)
{
	ab_autoclose int fd = file_with(5000);
	char data[5001];
	int ends[2];

	ok(ab_read_full(fd, data, 4999) == 4999, "as much as there is room");
	ok(ab_read_full(fd, data, sizeof(data)) == 1 && ab_read_full(fd, data, sizeof(data)) == 0,
	   "no more than there is");
	ok(ab_read_full(-1, data, 1) == -1 && errno == EBADF, "no file has no bytes");
	if (pipe2(ends, O_CLOEXEC | O_DIRECT) < 0 || ab_write_all(ends[1], "ab", 2) < 0 ||
	    ab_write_all(ends[1], "cd", 2) < 0)
		abort();
	ok(ab_read_full(ends[0], data, 4) == 4 && memcmp(data, "abcd", 4) == 0,
	   "what comes in parts is put together, and nothing is waited for "
	   "when the room is full");
	close(ends[0]);
	close(ends[1]);
}

static void test_memfd(void)
{
	ab_autoclose int fd = ab_memfd_sealed("policy", "abc", 3);
	ab_autofree char *data = NULL;
	size_t len = 0;

	ok(fd >= 0, "a sealed file is made");
	ok(fcntl(fd, F_GETFD) & FD_CLOEXEC, "it is close-on-exec");
	ok(pwrite(fd, "x", 1, 0) == -1 && errno == EPERM, "no writing");
	ok(ftruncate(fd, 0) == -1 && errno == EPERM, "no shrinking");
	ok(ftruncate(fd, 10) == -1 && errno == EPERM, "no growing");
	ok(mmap(NULL, 3, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED, "no writable mapping");
	ok(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == -1 && errno == EPERM, "the seals are sealed");
	lseek(fd, 0, SEEK_SET);
	ok(ab_read_all(fd, 10, &data, &len) == 0 && len == 3 && strcmp(data, "abc") == 0,
	   "and it can be read");
}

static void test_passing(void)
{
	int s[2], sent[AB_FDS_MAX + 1], got[AB_FDS_MAX];
	size_t before, n;
	char text[16];
	bool same = true;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
		abort();
	for (size_t i = 0; i < AB_COUNT(sent); i++)
		sent[i] = file_with(i);
	before = count_fds();

	ok(ab_send_fds(s[0], "hello", 5, sent, AB_FDS_MAX) == 0, "as many as allowed are sent");
	n = AB_FDS_MAX;
	ok(ab_recv_fds(s[1], text, sizeof(text), got, &n, 0) == 5 && memcmp(text, "hello", 5) == 0,
	   "the text arrives");
	ok(n == AB_FDS_MAX, "all of them arrive");
	for (size_t i = 0; i < n; i++) {
		same = same && same_file(sent[i], got[i]) && (fcntl(got[i], F_GETFD) & FD_CLOEXEC);
		close(got[i]);
	}
	ok(same, "the same files, close-on-exec");

	ok(ab_send_fds(s[0], "x", 1, sent, AB_FDS_MAX + 1) == -1 && errno == EINVAL,
	   "one more is refused");

	ab_send_fds(s[0], "x", 1, sent, 4);
	n = 1;
	ok(ab_recv_fds(s[1], text, sizeof(text), got, &n, 0) == 1 && n == 1 &&
		   same_file(got[0], sent[0]),
	   "only as many as there is room for are kept");
	close(got[0]);
	ok(count_fds() == before, "the others are closed");

	ab_send_fds(s[0], "x", 1, sent, 3);
	ok(ab_recv_fds(s[1], text, sizeof(text), NULL, NULL, 0) == 1,
	   "who wants none gets the text");
	ok(count_fds() == before, "and keeps no descriptor");

	ab_send_fds(s[0], "plain", 5, NULL, 0);
	n = 2;
	ok(ab_recv_fds(s[1], text, sizeof(text), got, &n, 0) == 5 && n == 0,
	   "a message without descriptors has none");

	n = 2;
	ok(ab_recv_fds(s[1], text, sizeof(text), got, &n, MSG_DONTWAIT) == -1 && errno == EAGAIN,
	   "nothing there: EAGAIN, when asked not to wait");
	ok(n == 0, "then there is no descriptor to close, either");

	close(s[0]);
	n = 2;
	ok(ab_recv_fds(s[1], text, sizeof(text), got, &n, 0) == 0 && n == 0,
	   "the end of the stream is 0");
	ok(ab_send_fds(s[1], "x", 1, NULL, 0) == -1 && errno == EPIPE,
	   "sending to nobody is an error and no signal");
	close(s[1]);
	for (size_t i = 0; i < AB_COUNT(sent); i++)
		close(sent[i]);
}

static void test_places(void)
{
	int fd = memfd_create("places", MFD_CLOEXEC), again = fd;
	char text[8] = "";

	(void)!write(fd, "abcdef", 6);
	ok(ab_pread_full(fd, text, 3, 2) == 3 && memcmp(text, "cde", 3) == 0, "from a place");
	ok(ab_pread_full(fd, text, 8, 4) == 2 && memcmp(text, "ef", 2) == 0, "up to the end");
	ok(ab_pread_full(-1, text, 1, 0) < 0 && errno == EBADF, "or an error");
	ok(ab_fd_chmod(fd, 0640) == 0, "the mode of an open file");
	ab_closep(&fd);
	ok(fd == -1 && fcntl(again, F_GETFD) < 0, "a closed descriptor is -1");
}

static void test_lock(void)
{
	char path[] = "/tmp/agentbox-lock.XXXXXX";
	int a = mkstemp(path), b = open(path, O_RDWR | O_CLOEXEC);
	struct stat x, y;

	ok(ab_lock_wait(a, LOCK_EX, 0) == 0, "a lock");
	ok(ab_lock_wait(b, LOCK_EX, 0) == 1 && ab_lock_wait(b, LOCK_SH, 30) == 1,
	   "another process has it");
	flock(a, LOCK_UN);
	ok(ab_lock_wait(b, LOCK_EX, 1000) == 0, "now it is free");
	ok(ab_lock_wait(-1, LOCK_EX, 1000) == -1 && errno == EBADF, "an error is not waited for");
	ok(fstat(a, &x) == 0 && fstat(b, &y) == 0 && ab_stat_same(&x, &y) && stat("/", &y) == 0 &&
		   !ab_stat_same(&x, &y),
	   "the same object, and another one");
	unlink(path);
	close(a);
	close(b);
}

static void test_all(void)
{
	int a = dup(0), b = -1, c = dup(0), was = a;

	ok(ab_errno(ESTALE) == -1 && errno == ESTALE, "an error like one of a system call");
	ab_close_all(&a, &b, &c);
	ok(a == -1 && b == -1 && c == -1 && errno == ESTALE, "all are closed, errno stays");
	ok(fcntl(was, F_GETFD) < 0 && errno == EBADF, "and are gone");
}

static int ticks, full; /* after so many ticks there is something to read */

static void tick(int sig)
{
	(void)sig;
	if (++ticks == 200 && write(full, "x", 1) != 1)
		abort();
}

static void test_poll(void)
{
	struct sigaction sa = { .sa_handler = tick };
	struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	int64_t begun;
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		abort();
	full = p[1];
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	begun = ab_now_ms();
	ok(ab_poll(p[0], POLLIN, 50) == 0 && ab_now_ms() - begun >= 50 && ticks > 0,
	   "signals make a wait neither longer nor shorter");
	ok(ab_poll(p[0], POLLIN, 0) == 0, "a look is one");
	ok(ab_poll(p[0], POLLIN, -1) == 1 && ticks >= 200, "without a limit they do not end it");
	setitimer(ITIMER_REAL, &never, NULL);
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	test_poll();
	test_places();
	test_lock();
	test_scope();
	test_write_all();
	test_read_all();
	test_read_full();
	test_memfd();
	test_passing();
	test_all();
	return done();
}
