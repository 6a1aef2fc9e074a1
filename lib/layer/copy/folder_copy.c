#include "layer/copy/folder_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "workspace/tree/dir.h"

enum {
	CHUNK = 8 << 20,	  /* bytes between two calls of stop() */
	ATTRS_MAX = 64 * 1024,	  /* of names, and of one value */
	FOLDER_MAX = 1000 * 1000, /* entries of one folder, in memory */
};

static bool must_stop(struct ab_folder_copy *c)
{
	return c->stop && c->stop(c->arg);
}

static int count_bytes(struct ab_folder_copy *c, uint64_t n)
{
	c->bytes += n;
	if (c->bytes > c->max_bytes)
		return EFBIG;
	return must_stop(c) ? ECANCELED : 0;
}

/* Between two file systems, or on one that cannot. */
static int copy_by_reading(int in, int out, off_t at, size_t len)
{
	char chunk[64 * 1024];

	while (len) {
		ssize_t n = pread(in, chunk, len < sizeof(chunk) ? len : sizeof(chunk), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : 0; /* it became shorter */
		for (ssize_t done = 0; done < n;) {
			ssize_t w = pwrite(out, chunk + done, (size_t)(n - done), at + done);

			if (w < 0 && errno != EINTR)
				return errno;
			done += w < 0 ? 0 : w;
		}
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int copy_range(struct ab_folder_copy *c, int in, int out, off_t at, off_t end)
{
	while (at < end) {
		size_t want = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		off_t from = at, to = at;
		ssize_t n = copy_file_range(in, &from, out, &to, want, 0);
		int errnum = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT))
			return errno;
		if (n < 0) {
			errnum = copy_by_reading(in, out, at, want);
			n = (ssize_t)want;
		}
		if (n == 0)
			return 0; /* it became shorter */
		if (!errnum)
			errnum = count_bytes(c, (uint64_t)n);
		if (errnum)
			return errnum;
		at += n;
	}
	return 0;
}

static int copy_data(struct ab_folder_copy *c, int in, int out, off_t size)
{
	off_t at = 0;

	if (size == 0)
		return 0;
	if (ioctl(out, FICLONE, in) == 0)
		return count_bytes(c, 0);
	while (at < size) {
		off_t data = lseek(in, at, SEEK_DATA), hole;
		int errnum;

		if (data < 0 && errno == ENXIO)
			break; /* only a hole is left */
		if (data < 0)
			data = at;
		hole = lseek(in, data, SEEK_HOLE);
		if (hole < 0 || hole > size)
			hole = size;
		errnum = copy_range(c, in, out, data, hole);
		if (errnum)
			return errnum;
		at = hole > at ? hole : size;
	}
	return ftruncate(out, size) < 0 ? errno : 0;
}

/* Copy the user's attributes. Those of overlayfs do not belong to the file: they mark folders of an
 * upper layer. */
static int copy_attributes(const struct ab_folder_copy *c, int in, int out)
{
	ab_autofree char *names = NULL, *value = NULL;
	ssize_t len = flistxattr(in, NULL, 0);

	if (len <= 0)
		return 0;
	if (len > ATTRS_MAX)
		return EFBIG;
	names = ab_alloc((size_t)len + 1);
	value = ab_alloc(ATTRS_MAX);
	len = flistxattr(in, names, (size_t)len);
	for (ssize_t i = 0; i < len; i += (ssize_t)strlen(names + i) + 1) {
		ssize_t n;

		if (strncmp(names + i, "user.", 5) != 0 ||
		    (!c->upper && strncmp(names + i, "user.overlay.", 13) == 0))
			continue;
		n = fgetxattr(in, names + i, value, ATTRS_MAX);
		if (n < 0 && errno == ENODATA)
			continue;
		/* Not every file system has them. */
		if (n < 0 ||
		    (fsetxattr(out, names + i, value, (size_t)n, 0) < 0 && errno != ENOTSUP))
			return errno;
	}
	return 0;
}

/* The mode last: it may close the file to us. */
static int copy_status(const struct ab_folder_copy *c, int in, int out, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	int errnum = copy_attributes(c, in, out);

	if (errnum)
		return errnum;
	return futimens(out, times) < 0 || fchmod(out, st->st_mode & 07777) < 0 ? errno : 0;
}

static int open_entry(const struct ab_folder_copy *c, int dir, const char *name, int flags)
{
	flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	return c->one_mount ? ab_open_same_mount(dir, name, flags)
			    : ab_open_beneath(dir, name, flags);
}

static int copy_file(struct ab_folder_copy *c, int from, int to, const char *name)
{
	ab_autoclose int in = open_entry(c, from, name, O_RDONLY), out = -1;
	struct stat st;
	int errnum;

	if (in < 0 || fstat(in, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EAGAIN; /* it was one when we looked */
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return errno;
	errnum = copy_data(c, in, out, st.st_size);
	return errnum ? errnum : copy_status(c, in, out, &st);
}

static int copy_link(int from, int to, const char *name, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target));

	if (n < 0)
		return errno;
	if (n == sizeof(target))
		return ENAMETOOLONG;
	target[n] = '\0';
	if (symlinkat(target, to, name) < 0 || utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	return 0;
}

static int copy_folder(struct ab_folder_copy *c, int from, int to, unsigned depth);

static int copy_subfolder(struct ab_folder_copy *c, int from, int to, const char *name,
			  unsigned depth)
{
	ab_autoclose int in = open_entry(c, from, name, O_RDONLY | O_DIRECTORY), out = -1;

	if (in < 0)
		return errno;
	if (mkdirat(to, name, 0700) < 0)
		return errno;
	out = ab_open_same_mount(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	return out < 0 ? errno : copy_folder(c, in, out, depth + 1);
}

static int skip_special(struct ab_folder_copy *c)
{
	if (!c->skip_special)
		return EINVAL;
	if (c->skipped++ == 0)
		ab_buf_add(&c->skipped_first, c->path.data, c->path.len);
	return 0;
}

static int make_placeholder(int to, const char *name, const struct stat *st)
{
	ab_autoclose int out = -1;

	if (S_ISDIR(st->st_mode))
		return mkdirat(to, name, 0700) < 0 ? errno : 0;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0);
	return out < 0 ? errno : 0;
}

static bool is_withheld(const struct ab_folder_copy *c)
{
	return c->withheld && ab_strv_has_sorted(c->withheld, c->path.data);
}

static int copy_entry(struct ab_folder_copy *c, int from, int to, const char *name, unsigned depth)
{
	struct stat st;

	if (++c->entries > c->max_entries)
		return EFBIG;
	if (must_stop(c))
		return ECANCELED;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	if (c->own_only && (st.st_uid != geteuid() || st.st_gid != getegid()))
		return EPERM;
	if (is_withheld(c))
		return make_placeholder(to, name, &st);
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return copy_file(c, from, to, name);
	case S_IFDIR:
		return copy_subfolder(c, from, to, name, depth);
	case S_IFLNK:
		return copy_link(from, to, name, &st);
	case S_IFCHR:
		/* A deletion. Everybody may create this device, which none is. */
		if (c->upper && st.st_rdev == 0)
			return mknodat(to, name, S_IFCHR, 0) < 0 ? errno : 0;
		return skip_special(c);
	default:
		return skip_special(c);
	}
}

static int copy_folder(struct ab_folder_copy *c, int from, int to, unsigned depth)
{
	ab_autolisting struct ab_listing list = { 0 };
	struct stat st;

	if (depth > AB_FOLDER_DEPTH_MAX)
		return EFBIG;
	if (ab_listing_read(&list, from, FOLDER_MAX) < 0)
		return errno;
	if (list.cut)
		return EFBIG;
	for (size_t i = 0; i < list.len; i++) {
		size_t len = c->path.len;
		int errnum;

		ab_buf_printf(&c->path, "%s%s", len ? "/" : "", list.v[i].name);
		errnum = copy_entry(c, from, to, list.v[i].name, depth);
		if (errnum && !(c->upper && errnum == ENOENT))
			return errnum;
		c->path.len = len;
		c->path.data[len] = '\0';
	}
	/* After its entries, which change the times, and need the right to create them. */
	return fstat(from, &st) < 0 ? errno : copy_status(c, from, to, &st);
}

int ab_folder_copy(struct ab_folder_copy *c, int from, int to)
{
	return copy_folder(c, from, to, 0);
}

void ab_folder_copy_fini(struct ab_folder_copy *c)
{
	ab_buf_fini(&c->skipped_first);
	ab_buf_fini(&c->path);
}

static int remove_folder(int parent, const char *name, unsigned depth)
{
	ab_autolisting struct ab_listing list = { 0 };
	ab_autoclose int dir = -1;

	if (depth > AB_FOLDER_DEPTH_MAX)
		return EFBIG;
	dir = ab_open_same_mount(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (dir < 0 && errno == EACCES && fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		dir = ab_open_same_mount(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (dir < 0)
		return errno;
	if (ab_listing_read(&list, dir, FOLDER_MAX) < 0)
		return errno;
	for (size_t i = 0; i < list.len; i++) {
		int errnum = 0;

		if (unlinkat(dir, list.v[i].name, 0) == 0)
			continue;
		if (errno == EACCES && fchmod(dir, 0700) == 0 &&
		    unlinkat(dir, list.v[i].name, 0) == 0)
			continue;
		if (errno == EISDIR || errno == EPERM)
			errnum = remove_folder(dir, list.v[i].name, depth + 1);
		else if (errno != ENOENT)
			errnum = errno;
		if (errnum)
			return errnum;
	}
	return unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? errno : 0;
}

int ab_folder_remove(int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	return remove_folder(parent, name, 0);
}
