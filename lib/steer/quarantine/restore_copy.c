/*
 * A copy, never a rename: the box may have kept other names of the file (hard links) or may have
 * given it set-id bits, and a later box could change it through those.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/fd.h"
#include "steer/quarantine/quarantined_state.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/remove_tree.h"

/* As much as is ever moved by copying (workspace/quarantine/move.c), and more. */
#define COPY_BYTES (1ull << 30)
enum { COPY_ENTRIES = 10000, COPY_DEPTH = 32 };

struct budget {
	uint64_t bytes;
	size_t entries;
	unsigned depth;
};

static int copy_bytes(int in, int out, struct budget *b)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(in, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if ((uint64_t)n > b->bytes)
			return EFBIG;
		b->bytes -= (uint64_t)n;
		if (ab_write_all(out, chunk, (size_t)n) < 0)
			return errno;
	}
	return 0;
}

/* The box, or whoever moved it, may have removed the rights of the owner. The caller has seen that it
 * is not a link, and nobody else writes here. */
static int open_source(int from, const char *name, int flags)
{
	int fd = openat(from, name, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES &&
	    fchmodat(from, name, flags & O_DIRECTORY ? 0700 : 0600, 0) == 0)
		fd = openat(from, name, flags | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static int copy_file(int from, const char *name, mode_t mode, int to, const char *as,
		     struct budget *b)
{
	ab_autoclose int in = open_source(from, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	ab_autoclose int out = -1;
	struct stat st;
	int rc;

	if (in < 0 || fstat(in, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return ESTALE;
	/* A sparse file may claim any size. */
	if ((uint64_t)st.st_size > b->bytes)
		return EFBIG;
	out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return errno;
	rc = copy_bytes(in, out, b);
	if (rc == 0 && (fchmod(out, (mode & 0755) | 0600) < 0 || fsync(out) < 0))
		rc = errno;
	return rc;
}

static int copy_link(int from, const char *name, int to, const char *as)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n < 0)
		return errno;
	target[n] = '\0';
	return symlinkat(target, to, as) < 0 ? errno : 0;
}

static int copy_object(int from, const char *name, mode_t mode, int to, const char *as,
		       struct budget *b);

static int copy_folder(int from, const char *name, mode_t mode, int to, const char *as,
		       struct budget *b)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int in = open_source(from, name, O_RDONLY | O_DIRECTORY);
	ab_autoclose int out = -1;
	int rc = 0;

	if (in < 0 || ab_listing_read(&l, in, b->entries) < 0)
		return errno;
	if (l.cut || b->depth == 0)
		return EFBIG;
	b->entries -= l.len;
	if (mkdirat(to, as, 0700) < 0)
		return errno;
	out = openat(to, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return errno;
	b->depth--;
	for (size_t i = 0; i < l.len && rc == 0; i++) {
		struct stat st;

		if (fstatat(in, l.v[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			rc = errno;
		else
			rc = copy_object(in, l.v[i].name, st.st_mode, out, l.v[i].name, b);
	}
	b->depth++;
	if (rc == 0 && fchmod(out, (mode & 0755) | 0700) < 0)
		rc = errno;
	return rc;
}

/* `mode` has the type. */
static int copy_object(int from, const char *name, mode_t mode, int to, const char *as,
		       struct budget *b)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return copy_file(from, name, mode, to, as, b);
	case S_IFDIR:
		return copy_folder(from, name, mode, to, as, b);
	case S_IFLNK:
		return copy_link(from, name, to, as);
	default:
		return EINVAL; /* a FIFO, a socket or a device */
	}
}

int ab_restore_copy(int from, const char *name, mode_t mode, int to, const char *as)
{
	struct budget b = { COPY_BYTES, COPY_ENTRIES, COPY_DEPTH };
	int rc = copy_object(from, name, mode, to, as, &b);

	if (rc != 0 && rc != EEXIST)
		(void)ab_restore_remove(to, as);
	return rc;
}

int ab_restore_remove(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? ab_remove_tree(dir, name) : -1;
}
