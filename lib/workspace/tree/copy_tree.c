#include "workspace/tree/copy_tree.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include "workspace/tree/dir.h"

enum {
	SMALL = 64 * 1024,	  /* up to here, one read and one write are the fastest way */
	CHUNK = 8 << 20,	  /* bytes between two calls of stop() */
	ATTRS_MAX = 64 * 1024,	  /* of names, and of one value */
	FOLDER_MAX = 2000 * 1000, /* entries of one folder, in memory */
};

static bool must_stop(struct ab_copy_tree *c)
{
	return c->stop && c->stop(c->arg);
}

static int count_bytes(struct ab_copy_tree *c, uint64_t n)
{
	c->bytes += n;
	if (c->bytes > c->max_bytes)
		return EFBIG;
	return must_stop(c) ? ECANCELED : 0;
}

/* `size` bytes and no further: the caller notices a file that grows meanwhile. */
static int copy_small(struct ab_copy_tree *c, int in, int out, size_t size)
{
	char chunk[SMALL];
	ssize_t n = ab_read_full(in, chunk, size);
	int errnum = n < 0 ? errno : count_bytes(c, (uint64_t)n);

	return !errnum && ab_write_all(out, chunk, (size_t)n) < 0 ? errno : errnum;
}

/* Between two file systems, or on one that cannot. *ret_n: how much; less than `len` if the file became
 * shorter. */
static int copy_by_reading(int in, int out, off_t at, size_t len, ssize_t *ret_n)
{
	char chunk[SMALL];

	*ret_n = 0;
	if (lseek(out, at, SEEK_SET) < 0)
		return errno;
	while (len) {
		size_t want = len < sizeof(chunk) ? len : sizeof(chunk);
		ssize_t n = ab_pread_full(in, chunk, want, at + *ret_n);

		if (n < 0 || ab_write_all(out, chunk, (size_t)n) < 0)
			return errno;
		if (n == 0)
			break;
		*ret_n += n;
		len -= (size_t)n;
	}
	return 0;
}

static int copy_range(struct ab_copy_tree *c, int in, int out, off_t at, off_t end)
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
		/* Not between these two file systems; 0: some file systems cannot say so. */
		if (n <= 0) {
			errnum = copy_by_reading(in, out, at, want, &n);
			if (!errnum && n == 0)
				return 0; /* it became shorter */
		}
		if (!errnum)
			errnum = count_bytes(c, (uint64_t)n);
		if (errnum)
			return errnum;
		at += n;
	}
	return 0;
}

static int copy_sparse(struct ab_copy_tree *c, int in, int out, off_t size)
{
	off_t at = 0;

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

static int copy_data(struct ab_copy_tree *c, int in, int out, const struct stat *st)
{
	if (st->st_size == 0)
		return 0;
	/* A copy of everything is kept for long, so it had better share its blocks. */
	if (c->keep != AB_COPY_ALL && st->st_size <= SMALL && st->st_blocks > 0)
		return copy_small(c, in, out, (size_t)st->st_size);
	if (ioctl(out, FICLONE, in) == 0)
		return count_bytes(c, 0);
	return copy_sparse(c, in, out, st->st_size);
}

/* Copy the user's attributes. Those of overlayfs do not belong to the file: they mark folders of an
 * upper layer. */
static int copy_attributes(const struct ab_copy_tree *c, int in, int out)
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

/* A file that runs with the rights of its owner must not become one that runs with ours. */
static int keep_mode(const struct ab_copy_tree *c, int out, const struct stat *st)
{
	mode_t mode = st->st_mode & 07777;
	struct stat own;

	if (c->owners) {
		if (st->st_uid != geteuid() || st->st_gid != getegid())
			(void)!fchown(out, st->st_uid == geteuid() ? (uid_t)-1 : st->st_uid,
				      st->st_gid);
		if (fstat(out, &own) < 0)
			return -1;
		if (own.st_uid != st->st_uid || own.st_gid != st->st_gid)
			mode &= 01777;
	}
	return fchmod(out, mode);
}

/* The mode last: it may close the file to us. */
static int keep_all(const struct ab_copy_tree *c, int in, int out, const struct stat *st)
{
	int errnum = copy_attributes(c, in, out);

	if (errnum)
		return errnum;
	return futimens(out, (struct timespec[]){ st->st_atim, st->st_mtim }) < 0 ||
			       keep_mode(c, out, st) < 0
		       ? errno
		       : 0;
}

static int keep_status(const struct ab_copy_tree *c, int in, int out, const struct stat *st)
{
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };
	bool folder = S_ISDIR(st->st_mode), good = true;

	switch (c->keep) {
	case AB_COPY_ALL:
		return keep_all(c, in, out, st);
	case AB_COPY_USUAL:
		good = futimens(out, times) == 0 && fchmod(out, st->st_mode & 0777) == 0;
		break;
	case AB_COPY_PRIVATE:
		break;
	case AB_COPY_RESTORED:
		good = fchmod(out, (st->st_mode & 0755) | (folder ? 0700 : 0600)) == 0 &&
		       (folder || fsync(out) == 0);
		break;
	}
	return good ? 0 : errno;
}

static int open_entry(const struct ab_copy_tree *c, int dir, const char *name, int flags)
{
	flags |= O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	return c->one_mount ? ab_open_same_mount(dir, name, flags)
			    : ab_open_beneath(dir, name, flags);
}

/* Open it to read it. The access time stays as it is where we own the file: 10,000 inodes would have
 * to be written. */
static int open_source(const struct ab_copy_tree *c, int from, const char *name, int flags)
{
	int fd = open_entry(c, from, name, flags | O_NOATIME);

	/* The box, or whoever moved it, may have removed the rights of the owner. The caller has
	 * seen that it is not a link. */
	if (fd < 0 && errno == EACCES && c->keep == AB_COPY_RESTORED &&
	    fchmodat(from, name, flags & O_DIRECTORY ? 0700 : 0600, 0) == 0)
		fd = open_entry(c, from, name, flags);
	return fd < 0 && errno == EPERM ? open_entry(c, from, name, flags) : fd;
}

/* `seen` is what it was when we looked at it. */
static int copy_file(struct ab_copy_tree *c, int from, const char *name, const struct stat *seen,
		     int to, const char *as)
{
	ab_autoclose int in = open_source(c, from, name, O_RDONLY), out = -1;
	struct stat st;
	int errnum;

	if (in < 0 || fstat(in, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return ESTALE;
	/* A sparse file may claim any size. */
	if (c->keep != AB_COPY_ALL && (uint64_t)st.st_size > c->max_bytes - c->bytes)
		return EFBIG;
	out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return errno;
	if (c->keep == AB_COPY_RESTORED)
		st.st_mode = seen->st_mode;
	errnum = copy_data(c, in, out, &st);
	return errnum ? errnum : keep_status(c, in, out, &st);
}

static int copy_link(const struct ab_copy_tree *c, int from, const char *name,
		     const struct stat *st, int to, const char *as)
{
	struct timespec times[] = { st->st_atim, st->st_mtim };
	ab_autofree char *target = ab_read_link(from, name);

	if (!target || symlinkat(target, to, as) < 0)
		return errno;
	if (c->keep == AB_COPY_PRIVATE || c->keep == AB_COPY_RESTORED)
		return 0;
	if (c->keep == AB_COPY_USUAL)
		times[0].tv_nsec = UTIME_OMIT;
	return utimensat(to, as, times, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;
}

static int copy_entries(struct ab_copy_tree *c, int from, int to, unsigned depth);

static int copy_subfolder(struct ab_copy_tree *c, int from, const char *name,
			  const struct stat *seen, int to, const char *as, unsigned depth)
{
	ab_autoclose int in = open_source(c, from, name, O_RDONLY | O_DIRECTORY), out = -1;
	struct stat st;
	int errnum;

	if (in < 0 || mkdirat(to, as, 0700) < 0)
		return errno;
	out = ab_open_same_mount(to, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	errnum = out < 0 ? errno : copy_entries(c, in, out, depth);
	/* After its entries, which change the times, and need the right to create them. */
	if (errnum || fstat(in, &st) < 0)
		return errnum ? errnum : errno;
	if (c->keep == AB_COPY_RESTORED)
		st.st_mode = seen->st_mode;
	return keep_status(c, in, out, &st);
}

static int skip_special(struct ab_copy_tree *c)
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

static int copy_object(struct ab_copy_tree *c, int from, const char *name, const struct stat *st,
		       int to, const char *as, unsigned depth)
{
	switch (st->st_mode & S_IFMT) {
	case S_IFREG:
		return copy_file(c, from, name, st, to, as);
	case S_IFDIR:
		return copy_subfolder(c, from, name, st, to, as, depth);
	case S_IFLNK:
		return copy_link(c, from, name, st, to, as);
	case S_IFCHR:
		/* A deletion. Everybody may create this device, which none is. */
		if (c->upper && st->st_rdev == 0)
			return mknodat(to, as, S_IFCHR, 0) < 0 ? errno : 0;
		return skip_special(c);
	default:
		return skip_special(c);
	}
}

static int copy_entry(struct ab_copy_tree *c, int from, int to, const char *name, unsigned depth)
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
	if (c->withheld && ab_strv_has_sorted(c->withheld, c->path.data))
		return make_placeholder(to, name, &st);
	return copy_object(c, from, name, &st, to, name, depth + 1);
}

static int copy_entries(struct ab_copy_tree *c, int from, int to, unsigned depth)
{
	ab_autolisting struct ab_listing list = { 0 };

	if (depth > (c->max_depth ? c->max_depth : AB_COPY_DEPTH_MAX))
		return EFBIG;
	if (ab_listing_read(&list, from, FOLDER_MAX) < 0)
		return errno;
	if (list.cut || list.len > c->max_entries - c->entries)
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
	return 0;
}

int ab_copy_folder(struct ab_copy_tree *c, int from, int to)
{
	int errnum = copy_entries(c, from, to, 0);
	struct stat st;

	if (errnum)
		return errnum;
	return fstat(from, &st) < 0 ? errno : keep_status(c, from, to, &st);
}

int ab_copy_tree(struct ab_copy_tree *c, int from, const char *name, mode_t mode, int to,
		 const char *as)
{
	return copy_object(c, from, name, &(struct stat){ .st_mode = mode }, to, as, 0);
}

void ab_copy_tree_fini(struct ab_copy_tree *c)
{
	ab_buf_fini_all(&c->skipped_first, &c->path);
}

static const struct ab_copy_tree unlimited = {
	.max_entries = UINT64_MAX, .max_bytes = UINT64_MAX, .keep = AB_COPY_USUAL, .one_mount = true
};

static int copy_unlimited(struct ab_copy_tree c, int from, const char *name, int to, const char *as)
{
	struct stat st;
	int errnum;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	errnum = copy_object(&c, from, name, &st, to, as, 0);
	ab_copy_tree_fini(&c);
	errno = errnum;
	return errnum ? -1 : 0;
}

int ab_copy_object(int from, const char *name, int to, const char *as)
{
	return copy_unlimited(unlimited, from, name, to, as);
}

int ab_copy_original(int from, const char *name, int to, const char *as)
{
	struct ab_copy_tree c = unlimited;

	c.keep = AB_COPY_ALL;
	c.owners = true;
	return copy_unlimited(c, from, name, to, as);
}

int ab_copy_content(int in, int out, const struct stat *st)
{
	struct ab_copy_tree c = unlimited;

	errno = copy_data(&c, in, out, st);
	return errno ? -1 : 0;
}
