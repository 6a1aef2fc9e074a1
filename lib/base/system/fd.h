#pragma once
/*
 * File descriptors: closed by scope, handed over visibly, read and written
 * completely, sent over sockets.
 */
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/data/libc.h"

struct ab_error;

/* Close it if it is open; it is -1 then. */
static inline void ab_closep(int *fd)
{
	int saved = errno; /* runs between `return` and the caller */

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}
#define ab_autoclose __attribute__((cleanup(ab_closep)))
#define ab_close_all(...) ab_each(int *, ab_closep, __VA_ARGS__)

/* Set errno and return -1, as a system call does. */
static inline int ab_errno(int errnum)
{
	errno = errnum;
	return -1;
}

static inline int ab_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Raise the limit of descriptors as far as it goes. What it was. */
struct rlimit ab_fd_limit_raise(void);

/* Open /dev/null for those of 0-2 that are closed, or the next file that is opened would get its number.
 */
int ab_occupy_stdio(struct ab_error *err);

/* Close every descriptor from 3 on except these; negative ones are ignored. -1 with
 * errno. */
int ab_close_others(const int *keep, size_t nkeep);

/* poll() for one descriptor. Signals that interrupt it do not make it longer. */
int ab_poll(int fd, short events, int ms);
/* Reads and writes do not wait. It is a property of the open file, not of the descriptor. -1 with
 * errno. */
int ab_set_nonblocking(int fd);

/* Is it a Unix socket of this type (SOCK_STREAM)? */
bool ab_is_unix_socket(int fd, int type);

/* Open a path unless a link is on the way: one that was real when it was looked up must not lead
 * elsewhere since. `also`: more of RESOLVE_*. Close-on-exec. -1 with errno. */
int ab_open_real(int dir, const char *path, int flags, uint64_t also);

/* Where a link leads; NULL with errno. Free it. */
char *ab_read_link(int dir, const char *name);
/* The current path of the file behind fd; NULL with errno. */
char *ab_fd_path(int fd);

/* Take a lock of flock(), waiting for at most `ms`. 0; 1: another process has it; -1 with errno. */
int ab_lock_wait(int fd, int how, int64_t ms);

/* Change the mode of what a descriptor, also one of O_PATH, refers to. -1 with errno. */
int ab_fd_chmod(int fd, mode_t mode);

/* Do both describe the same object? */
static inline bool ab_stat_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Write everything, or -1 with errno; retries on EINTR. */
int ab_write_all(int fd, const void *data, size_t len);
/* Write a text to a file that exists. */
int ab_write_file(int dir, const char *path, const char *text);

/* Read until the end of the file or until `room` bytes; returns the number of bytes,
 * or -1 with errno. */
ssize_t ab_read_full(int fd, void *to, size_t room);
/* The same from this place of a file. */
ssize_t ab_pread_full(int fd, void *to, size_t room, off_t at);

/* Read up to `max` bytes until the end of the file; -1 with errno (EFBIG if there are
 * more). Adds a NUL that is not counted. */
int ab_read_all(int fd, size_t max, char **ret_data, size_t *ret_len);
/* Open a regular file and read it; EINVAL if it is something else: a FIFO must not block us, a terminal not
 * become our controlling one. `also`: O_NOFOLLOW or 0. */
int ab_read_file(int at, const char *name, int also, size_t max, char **ret_data, size_t *ret_len);

/* An anonymous, sealed (immutable) file with these bytes; -1 with errno. */
int ab_memfd_sealed(const char *name, const void *data, size_t len);

/*
 * One datagram with up to AB_FDS_MAX descriptors. Receive returns the length, 0 at
 * the end of the stream, -1 with errno. Received descriptors are close-on-exec;
 * those that do not fit into fds are closed. EMFILE: this process has no room for them.
 */
#define AB_FDS_MAX 128
/* A flag that means nothing to a Unix socket. A filter can tell our messages from others by it. */
#define AB_SEND_MARK MSG_CONFIRM
int ab_send_fds(int sock, const void *data, size_t len, const int *fds, size_t nfds);
ssize_t ab_recv_fds(int sock, void *data, size_t max, int *fds, size_t *nfds, int flags);

/* Received descriptors, closed by scope unless they were taken. */
struct ab_fds {
	int v[AB_FDS_MAX];
	size_t len;
};

static inline void ab_fds_close(struct ab_fds *fds)
{
	for (size_t i = 0; i < fds->len; i++)
		ab_closep(&fds->v[i]);
	fds->len = 0;
}
#define ab_autofds __attribute__((cleanup(ab_fds_close)))

/* What a file begins with, as a text; "" if there is none. */
const char *ab_read_start(int dir, const char *path, char *buf, size_t size);
/* The first line of a small file, without its end; "" if there is none. */
const char *ab_first_line(const char *path, char *buf, size_t size);
