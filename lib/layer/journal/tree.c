#include "layer/journal/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "layer/walk/look.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/remove_tree.h"

#define SMALL 65536 /* up to here, one read and one write are the fastest way */
#define CHUNK ((size_t)1 << 20)
#define ENTRIES_MAX ((size_t)1 << 21) /* of one folder */

static _Thread_local char chunk[SMALL];

/* ---- content ---- */

/* `size` bytes and no further: a file that grows meanwhile is noticed by the caller. */
static int copy_small(int in, int out, off_t size)
{
	ssize_t n = ab_read_full(in, chunk, (size_t)size);

	return n < 0 ? -1 : ab_write_all(out, chunk, (size_t)n);
}

static int write_at(int fd, size_t len, off_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pwrite(fd, chunk + done, len - done, at + (off_t)done);

		if (n < 0 && errno != EINTR)
			return -1;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int copy_range_slowly(int in, int out, off_t at, off_t end)
{
	while (at < end) {
		size_t want = end - at < SMALL ? (size_t)(end - at) : SMALL;
		ssize_t n = pread(in, chunk, want, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			return 0; /* it became shorter; the caller looks at it again */
		if (write_at(out, (size_t)n, at) < 0)
			return -1;
		at += n;
	}
	return 0;
}

static int copy_range(int in, int out, off_t at, off_t end)
{
	while (at < end) {
		loff_t from = at, to = at;
		size_t want = (size_t)(end - at) < CHUNK ? (size_t)(end - at) : CHUNK;
		ssize_t n = copy_file_range(in, &from, out, &to, want, 0);

		if (n < 0 && errno == EINTR)
			continue;
		/* Not between these two file systems; 0: some file systems cannot say so. */
		if (n <= 0)
			return copy_range_slowly(in, out, at, end);
		at += n;
	}
	return 0;
}

static int copy_sparse(int in, int out, off_t size)
{
	off_t at = 0;

	while (at < size) {
		off_t data = lseek(in, at, SEEK_DATA), end;

		if (data < 0 && errno == ENXIO)
			break; /* only a hole is left */
		if (data < 0)
			data = at;
		end = lseek(in, data, SEEK_HOLE);
		if (end < 0 || end > size)
			end = size;
		if (copy_range(in, out, data, end) < 0)
			return -1;
		at = end;
	}
	return ftruncate(out, size);
}

int ab_copy_content(int in, int out, const struct stat *st)
{
	if (st->st_size == 0)
		return 0;
	if (st->st_size <= SMALL && st->st_blocks > 0)
		return copy_small(in, out, st->st_size);
	if (ioctl(out, FICLONE, in) == 0)
		return 0;
	return copy_sparse(in, out, st->st_size);
}

/* ---- copies ---- */

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

static int copy_file(int from, const char *name, int to, const char *as)
{
	ab_autoclose int in = ab_look_open_file(from, name);
	ab_autoclose int out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = ESTALE;
		return -1;
	}
	out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0 || ab_copy_content(in, out, &st) < 0 || fchmod(out, st.st_mode & 0777) < 0)
		return -1;
	return futimens(out, (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, st.st_mtim });
}

static int copy_link(int from, const char *name, int to, const char *as, const struct stat *st)
{
	ab_autofree char *target = ab_look_link(from, name);

	if (!target || symlinkat(target, to, as) < 0)
		return -1;
	return utimensat(to, as, (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, st->st_mtim },
			 AT_SYMLINK_NOFOLLOW);
}

static int copy_object(int from, const char *name, int to, const char *as, unsigned int depth);

static int copy_folder(int from, const char *name, int to, const char *as, unsigned int depth)
{
	ab_autolisting struct ab_listing names = { 0 };
	ab_autoclose int in = ab_look_open(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	ab_autoclose int out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0 || ab_listing_read(&names, in, ENTRIES_MAX) < 0)
		return -1;
	if (names.cut || depth == 0) {
		errno = E2BIG;
		return -1;
	}
	if (mkdirat(to, as, 0700) < 0)
		return -1;
	out = ab_look_open(to, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (out < 0)
		return -1;
	for (size_t i = 0; i < names.len; i++)
		if (copy_object(in, names.v[i].name, out, names.v[i].name, depth - 1) < 0)
			return -1;
	if (fchmod(out, st.st_mode & 0777) < 0)
		return -1;
	return futimens(out, (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, st.st_mtim });
}

static int copy_object(int from, const char *name, int to, const char *as, unsigned int depth)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return copy_file(from, name, to, as);
	case S_IFDIR:
		return copy_folder(from, name, to, as, depth);
	case S_IFLNK:
		return copy_link(from, name, to, as, &st);
	default:
		errno = EINVAL;
		return -1;
	}
}

int ab_tree_copy(int from, const char *name, int to, const char *as)
{
	return copy_object(from, name, to, as, AB_TREE_DEPTH);
}

/* ---- removal and renames ---- */

int ab_tree_remove(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? ab_remove_tree(dir, name) : -1;
}

int ab_rename_new(int from, const char *name, int to, const char *as)
{
	struct stat st;

	if (renameat2(from, name, to, as, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (fstatat(to, as, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(from, name, to, as);
}
