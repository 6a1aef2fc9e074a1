#include "base/system/fd.h"

#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"

enum { LOCK_STEP_MS = 10 };

struct rlimit ab_fd_limit_raise(void)
{
	struct rlimit was = { 256, 256 };

	if (getrlimit(RLIMIT_NOFILE, &was) == 0)
		(void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){ was.rlim_max, was.rlim_max });
	return was;
}

int ab_close_others(const int *keep, size_t nkeep)
{
	unsigned int next = 3;

	for (;;) {
		unsigned int least = ~0u;

		for (size_t i = 0; i < nkeep; i++)
			if (keep[i] >= 0 && (unsigned int)keep[i] >= next &&
			    (unsigned int)keep[i] < least)
				least = (unsigned int)keep[i];
		if (least > next && close_range(next, least - 1, 0) < 0)
			return -1;
		if (least == ~0u)
			return 0;
		next = least + 1;
	}
}

int ab_poll(int fd, short events, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t end = ms > 0 ? ab_now_ms() + ms : 0, left = ms;
	int r;

	while ((r = poll(&p, 1, (int)left)) < 0 && errno == EINTR)
		if (ms > 0 && (left = end - ab_now_ms()) < 0)
			left = 0;
	return r;
}

int ab_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

bool ab_is_unix_socket(int fd, int type)
{
	int domain, own;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &own, &len) == 0 && own == type;
}

int ab_occupy_stdio(struct ab_error *err)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return ab_fail(err, AB_ESYSTEM, errno, "open /dev/null");
	return 0;
}

int ab_open_real(int dir, const char *path, int flags, uint64_t also)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | also,
	};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

char *ab_read_link(int dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n < 0)
		return NULL;
	if (n == (ssize_t)sizeof(target)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return ab_strndup(target, (size_t)n);
}

char *ab_fd_path(int fd)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return ab_read_link(AT_FDCWD, link);
}

int ab_lock_wait(int fd, int how, int64_t ms)
{
	int64_t until = ms ? ab_now_ms() + ms : 0;

	while (flock(fd, how | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		if (ms == 0 || ab_now_ms() >= until)
			return 1;
		poll(NULL, 0, LOCK_STEP_MS);
	}
	return 0;
}

int ab_fd_chmod(int fd, mode_t mode)
{
	char self[32];

	if (fchmod(fd, mode) == 0)
		return 0;
	if (errno != EBADF)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return chmod(self, mode);
}

int ab_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int ab_write_file(int dir, const char *path, const char *text)
{
	ab_autoclose int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : ab_write_all(fd, text, strlen(text));
}

/* `at` < 0: where the file is. */
static ssize_t read_full(int fd, char *to, size_t room, off_t at)
{
	size_t len = 0;

	while (len < room) {
		ssize_t n = at < 0 ? read(fd, to + len, room - len)
				   : pread(fd, to + len, room - len, at + (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

ssize_t ab_read_full(int fd, void *to, size_t room)
{
	return read_full(fd, to, room, -1);
}

ssize_t ab_pread_full(int fd, void *to, size_t room, off_t at)
{
	return read_full(fd, to, room, at);
}

int ab_read_all(int fd, size_t max, char **ret_data, size_t *ret_len)
{
	ab_autofree char *data = NULL;
	size_t len = 0, room = 2048;

	/* Full, so there may be more. */
	do {
		ssize_t n;

		/* Room for one extra byte, which detects EFBIG, and the NUL. */
		room = room - 1 > max / 2 ? max + 2 : room * 2;
		data = ab_realloc(data, room);
		n = ab_read_full(fd, data + len, room - len - 1);
		if (n < 0)
			return -1;
		len += (size_t)n;
		if (len > max)
			return ab_errno(EFBIG);
	} while (len == room - 1);
	data[len] = '\0';
	*ret_data = ab_take(data);
	*ret_len = len;
	return 0;
}

int ab_read_file(int at, const char *name, int also, size_t max, char **ret_data, size_t *ret_len)
{
	ab_autoclose int fd = openat(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | also);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	return S_ISREG(st.st_mode) ? ab_read_all(fd, max, ret_data, ret_len) : ab_errno(EINVAL);
}

int ab_memfd_sealed(const char *name, const void *data, size_t len)
{
	ab_autoclose int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ab_write_all(fd, data, len) < 0)
		return -1;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -1;
	return ab_take_fd(&fd);
}

int ab_send_fds(int sock, const void *data, size_t len, const int *fds, size_t nfds)
{
	union {
		char buf[CMSG_SPACE(AB_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (nfds > AB_FDS_MAX)
		return ab_errno(EINVAL);
	if (nfds > 0) {
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
	}
	do {
		n = sendmsg(sock, &msg, MSG_NOSIGNAL | AB_SEND_MARK);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

ssize_t ab_recv_fds(int sock, void *data, size_t max, int *fds, size_t *nfds, int flags)
{
	union {
		char buf[CMSG_SPACE(AB_FDS_MAX * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = data, .iov_len = max };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	size_t room = nfds ? *nfds : 0, got = 0;
	ssize_t n;

	/* The caller closes so many. */
	if (nfds)
		*nfds = 0;
	do {
		n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (got < room)
				fds[got++] = fd;
			else
				close(fd);
		}
	}
	/* No descriptor was free for the rest, or the sender's are too many. */
	if (msg.msg_flags & MSG_CTRUNC) {
		while (got > 0)
			close(fds[--got]);
		errno = EMFILE;
		n = -1;
	}
	if (nfds)
		*nfds = got;
	return n;
}

const char *ab_read_start(int dir, const char *path, char *buf, size_t size)
{
	ab_autoclose int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : ab_read_full(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

const char *ab_first_line(const char *path, char *buf, size_t size)
{
	ab_read_start(AT_FDCWD, path, buf, size);
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}
