#include "audit/write/copy.h"

/* The kernel's limit for descriptor numbers. */
enum { FD_MOST = 1 << 20 };

static int fail_copy(struct ab_error *err, const struct ab_copy *c, const char *what)
{
	return ab_fail(err, AB_EUSAGE, 0, "%s %s: %s", c->option, c->name, what);
}

/* A box that may not write this name could change the file through another. */
static int check_names(const struct ab_copy *c, struct ab_error *err)
{
	if (!S_ISREG(c->st.st_mode) || c->st.st_nlink <= 1)
		return 0;
	return fail_copy(err, c, "the file has more than one hard link");
}

static int check_file(const struct ab_copy *c, struct ab_error *err)
{
	if (!S_ISREG(c->st.st_mode) && !S_ISFIFO(c->st.st_mode)) {
		fail_copy(err, c, "not a regular file or FIFO");
		return ab_hint(err, "pass anything else as an open descriptor: %s 3 3>FILE",
			       c->option);
	}
	if (c->st.st_uid != geteuid())
		return fail_copy(err, c, "it belongs to another user");
	if (c->st.st_mode & 022) {
		fail_copy(err, c, "other users can write to it");
		return ab_hint(err, "chmod go-w %s", c->name);
	}
	return check_names(c, err);
}

static int open_file(struct ab_copy *c, int dir, const char *file, struct ab_error *err)
{
	/* Opening a device can have side effects, so check before opening, and
	 * check again what was opened. */
	if (fstatat(dir, file, &c->st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISLNK(c->st.st_mode))
			return fail_copy(err, c, "it is a symbolic link");
		if (check_file(c, err) < 0)
			return -1;
	}
	c->fd = openat(dir, file,
		       O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (c->fd < 0 && errno == ENXIO)
		return fail_copy(err, c, "no process reads this FIFO");
	if (c->fd < 0 || fstat(c->fd, &c->st) < 0)
		return ab_fail(err, AB_EUSAGE, errno, "%s %s", c->option, c->name);
	return check_file(c, err);
}

static int check_stream(struct ab_copy *c, struct ab_error *err)
{
	if (c->fd < 0 || fstat(c->fd, &c->st) < 0)
		return ab_fail(err, AB_EUSAGE, errno, "%s %s", c->option, c->name);
	if (S_ISDIR(c->st.st_mode) || S_ISBLK(c->st.st_mode))
		return fail_copy(err, c, "it cannot take lines");
	return check_names(c, err);
}

static int open_fd(struct ab_copy *c, struct ab_error *err)
{
	unsigned long fd = strtoul(c->name, NULL, 10);
	int flags = fd < FD_MOST ? fcntl((int)fd, F_GETFL) : -1;

	if (fd < 3) {
		fail_copy(err, c, "the command has this descriptor, too");
		return ab_hint(err,
			       "the command could forge its record; open another one: "
			       "%s 3 3>FILE",
			       c->option);
	}
	if (flags < 0)
		return fail_copy(err, c, "this descriptor is not open");
	if ((flags & O_PATH) || (flags & O_ACCMODE) == O_RDONLY)
		return fail_copy(err, c, "it is not open for writing");
	if (isatty((int)fd))
		return fail_copy(err, c, "it is a terminal");
	/* Our own descriptor, which is closed on exec. */
	c->fd = fcntl((int)fd, F_DUPFD_CLOEXEC, 3);
	return check_stream(c, err);
}

bool ab_copy_is_fd(const char *where)
{
	return *where && !where[strspn(where, "0123456789")];
}

static int finish_open(struct ab_copy *copy, int rc, struct ab_copy *ret, struct ab_error *err)
{
	if (rc < 0) {
		ab_copy_fini(copy);
		return ab_step(err, "record");
	}
	/* The path of a pipe is "pipe:[1234]"; a deleted file has none. */
	copy->path = copy->st.st_nlink ? ab_fd_path(copy->fd) : NULL;
	if (copy->path && copy->path[0] != '/')
		free(ab_take(copy->path));
	*ret = *copy;
	return 0;
}

int ab_copy_open_fd(const char *option, const char *where, struct ab_copy *ret,
		    struct ab_error *err)
{
	struct ab_copy copy = { .fd = -1, .option = option, .name = ab_strdup(where) };

	return finish_open(&copy, open_fd(&copy, err), ret, err);
}

int ab_copy_open_own(const char *option, const char *name, int fd, bool lossy, struct ab_copy *ret,
		     struct ab_error *err)
{
	struct ab_copy copy = {
		.fd = fd, .option = option, .name = ab_strdup(name), .lossy = lossy
	};

	return finish_open(&copy, check_stream(&copy, err), ret, err);
}

int ab_copy_open_file(const char *option, const char *where, int dir, const char *file,
		      struct ab_copy *ret, struct ab_error *err)
{
	struct ab_copy copy = {
		.fd = -1, .option = option, .name = ab_strdup(where), .named = true
	};

	return finish_open(&copy, open_file(&copy, dir, file, err), ret, err);
}

int ab_copy_clear(const struct ab_copy *copy, struct ab_error *err)
{
	if (!copy->named || !S_ISREG(copy->st.st_mode) || ftruncate(copy->fd, 0) == 0)
		return 0;
	return ab_fail_step(err, "record", errno, "empty %s %s", copy->option, copy->name);
}

void ab_copy_fini(struct ab_copy *copy)
{
	ab_closep(&copy->fd);
	ab_buf_fini(&copy->rest);
	ab_free_all(copy->name, copy->path);
	*copy = (struct ab_copy)AB_COPY_NONE;
}

/* Wait until it takes bytes; -1 with EAGAIN on timeout. */
static int await_writable(const struct ab_copy *c, int64_t until)
{
	int64_t left = until - ab_now_ms();
	int n = ab_poll(c->fd, POLLOUT, left > 0 ? (int)left : 0);

	return n > 0 ? 0 : n < 0 ? -1 : ab_errno(EAGAIN);
}

/* One write that does not block, even if the descriptor is blocking: a writable
 * pipe takes PIPE_BUF bytes at once. */
static ssize_t write_some(const struct ab_copy *c, const char *data, size_t len)
{
	if (S_ISREG(c->st.st_mode))
		return write(c->fd, data, len);
	if (S_ISSOCK(c->st.st_mode))
		return send(c->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return write(c->fd, data, len < PIPE_BUF ? len : PIPE_BUF);
}

/* Returns the number of bytes written; errno is set if that is less than len. */
static size_t write_copy(const struct ab_copy *c, const char *data, size_t len, int64_t until)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n;

		if (!S_ISREG(c->st.st_mode) && await_writable(c, until) < 0)
			break;
		n = write_some(c, data + done, len - done);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			break;
		if (n > 0)
			done += (size_t)n;
		/* A short write to a file means that the disk is full. */
		if (n >= 0 && done < len && S_ISREG(c->st.st_mode)) {
			errno = ENOSPC;
			break;
		}
	}
	return done;
}

static size_t send_now(const struct ab_copy *c, const char *data, size_t len)
{
	ssize_t n;

	do {
		n = send(c->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

void ab_copy_flush(struct ab_copy *copy)
{
	if (copy->rest.len)
		ab_buf_skip(&copy->rest, send_now(copy, copy->rest.data, copy->rest.len));
}

/* A record that has begun is finished later, so that the reader gets whole lines. */
static void write_lossy(struct ab_copy *copy, const char *line, size_t len)
{
	size_t done;

	ab_copy_flush(copy);
	done = copy->rest.len ? 0 : send_now(copy, line, len);
	if (done == 0) {
		copy->dropped++;
		return;
	}
	copy->given++;
	ab_buf_add(&copy->rest, line + done, len - done);
}

int ab_copy_write(struct ab_copy *copy, const char *line, size_t len, struct ab_error *err)
{
	int64_t until = ab_now_ms() + (copy->late ? 0 : AB_COPY_MS);
	size_t done;

	if (copy->lossy) {
		write_lossy(copy, line, len);
		return 0;
	}
	/* End a torn line, so that the next one is whole. */
	if (copy->torn && write_copy(copy, "\n", 1, until) == 1)
		copy->torn = false;
	done = copy->torn ? 0 : write_copy(copy, line, len, until);
	if (done == len) {
		copy->late = false;
		return 0;
	}
	copy->torn |= done > 0;
	copy->late = errno == EAGAIN;
	if (copy->late)
		return ab_fail(err, AB_ESYSTEM, 0, "no process reads the record at %s %s",
			       copy->option, copy->name);
	return ab_fail(err, AB_ESYSTEM, errno, "write the record to %s %s", copy->option,
		       copy->name);
}
