#include "workspace/tree/copy_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/fd.h"
#include "workspace/tree/dir.h"

static int copy_bytes(struct ab_copy_tree *c, int in, int out)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(in, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if ((uint64_t)n > c->bytes)
			return EFBIG;
		c->bytes -= (uint64_t)n;
		if (ab_write_all(out, chunk, (size_t)n) < 0)
			return errno;
	}
	return 0;
}

/* The box, or whoever moved it, may have removed the rights of the owner. The caller has seen that it
 * is not a link. */
static int open_source(const struct ab_copy_tree *c, int from, const char *name, int flags)
{
	int fd = openat(from, name, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES && c->restores &&
	    fchmodat(from, name, flags & O_DIRECTORY ? 0700 : 0600, 0) == 0)
		fd = openat(from, name, flags | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static int copy_file(struct ab_copy_tree *c, int from, const char *name, mode_t mode, int to,
		     const char *as)
{
	/* It was a regular file before; it may be a FIFO now. */
	ab_autoclose int in = open_source(c, from, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	ab_autoclose int out = -1;
	struct stat st;
	int rc;

	if (in < 0 || fstat(in, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return ESTALE;
	/* A sparse file may claim any size. */
	if ((uint64_t)st.st_size > c->bytes)
		return EFBIG;
	out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return errno;
	rc = copy_bytes(c, in, out);
	if (rc == 0 && c->restores && (fchmod(out, (mode & 0755) | 0600) < 0 || fsync(out) < 0))
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

static int copy_folder(struct ab_copy_tree *c, int from, const char *name, mode_t mode, int to,
		       const char *as)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int in = open_source(c, from, name, O_RDONLY | O_DIRECTORY);
	ab_autoclose int out = -1;
	int rc = 0;

	if (in < 0 || ab_listing_read(&l, in, c->entries) < 0)
		return errno;
	if (l.cut || c->depth == 0)
		return EFBIG;
	c->entries -= l.len;
	if (mkdirat(to, as, 0700) < 0)
		return errno;
	out = openat(to, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return errno;
	c->depth--;
	for (size_t i = 0; i < l.len && rc == 0; i++) {
		struct stat st;

		if (fstatat(in, l.v[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			rc = errno;
		else
			rc = ab_copy_tree(c, in, l.v[i].name, st.st_mode, out, l.v[i].name);
	}
	c->depth++;
	if (rc == 0 && c->restores && fchmod(out, (mode & 0755) | 0700) < 0)
		rc = errno;
	return rc;
}

int ab_copy_tree(struct ab_copy_tree *c, int from, const char *name, mode_t mode, int to,
		 const char *as)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return copy_file(c, from, name, mode, to, as);
	case S_IFDIR:
		return copy_folder(c, from, name, mode, to, as);
	case S_IFLNK:
		return copy_link(from, name, to, as);
	default: /* a FIFO, a socket or a device */
		return c->restores ? EINVAL : 0;
	}
}
