#include "workspace/tree/dir.h"

#include "workspace/tree/names.h"

#include <dirent.h>
#include <linux/openat2.h>
#include <sys/vfs.h>

enum { OPEN_TRIES = 16 };

static void add_entry(struct ab_listing *l, const struct dirent64 *d)
{
	if (l->len == l->room) {
		l->room = l->room ? l->room * 2 : 64;
		l->v = ab_realloc(l->v, l->room * sizeof(l->v[0]));
	}
	/* The buffer may still move: store an offset until everything is read. */
	l->v[l->len++] = (struct ab_entry){
		.name = (const char *)l->names.len,
		.ino = d->d_ino,
		.type = d->d_type,
	};
	ab_buf_add(&l->names, d->d_name, strlen(d->d_name) + 1);
}

int ab_listing_read(struct ab_listing *l, int fd, size_t max)
{
	_Alignas(struct dirent64) char raw[16384];
	ssize_t n;

	l->len = 0;
	l->names.len = 0;
	l->cut = false;
	while (!l->cut && (n = getdents64(fd, raw, sizeof(raw))) != 0) {
		if (n < 0)
			return -1;
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *d = (const void *)(raw + at);

			at += d->d_reclen;
			if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
				continue;
			if (l->len == max) {
				l->cut = true;
				break;
			}
			add_entry(l, d);
		}
	}
	for (size_t i = 0; i < l->len; i++)
		l->v[i].name = l->names.data + (size_t)l->v[i].name;
	return 0;
}

const struct ab_entry *ab_listing_find(const struct ab_listing *l, const char *name)
{
	return ab_find_row(l->v, l->len, name, name);
}

bool ab_listing_may_have(const struct ab_listing *l, const char *name)
{
	for (size_t i = 0; i < l->len; i++)
		if (ab_name_may_be(l->v[i].name, name))
			return true;
	return false;
}

bool ab_entry_starts(int fd, const char *name, const char *entry, char ret_as[NAME_MAX + 1],
		     const char **ret_rest)
{
	size_t n = strcspn(name, "/");
	struct stat a, b;

	if (!ab_name_is_near(entry, name))
		return false;
	snprintf(ret_as, NAME_MAX + 1, "%s", entry);
	if (ab_name_starts(name, entry, ret_rest))
		return true;
	ab_name_fold(entry, ret_as);
	if (n > NAME_MAX || !ab_name_starts_folded(name, ret_as, ret_rest))
		return false;
	if (strcspn(name, "*?[\\") >= n)
		snprintf(ret_as, n + 1, "%s", name);
	return fstatat(fd, entry, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(fd, ret_as, &b, AT_SYMLINK_NOFOLLOW) == 0 && ab_stat_same(&a, &b);
}

void ab_listing_fini(struct ab_listing *l)
{
	free(l->v);
	ab_buf_fini(&l->names);
	*l = (struct ab_listing){ 0 };
}

static int open_resolved(int at, const char *path, int flags, uint64_t also)
{
	int fd = -1;

	if (path[0] != '/')
		also |= RESOLVE_BENEATH;
	/* EAGAIN: something was renamed meanwhile, and the kernel could not be sure. */
	for (int i = 0; i < OPEN_TRIES; i++) {
		fd = ab_open_real(at, path, flags, also);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd;
}

int ab_open_beneath(int at, const char *path, int flags)
{
	return open_resolved(at, path, flags, 0);
}

int ab_open_same_mount(int at, const char *path, int flags)
{
	return open_resolved(at, path, flags, RESOLVE_NO_XDEV);
}

int ab_read_small(int at, const char *name, size_t max, char **ret_data, size_t *ret_len)
{
	return ab_read_file(at, name, O_NOFOLLOW, max, ret_data, ret_len);
}

int ab_rename_new(int from, const char *name, int to, const char *as)
{
	struct stat st;

	if (renameat2(from, name, to, as, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (fstatat(to, as, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return ab_errno(EEXIST);
	return renameat(from, name, to, as);
}

bool ab_is_on(int fd, const unsigned long *types, size_t n)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned long)fs.f_type == types[i])
			return true;
	return false;
}

char *ab_real_path(int fd)
{
	ab_autofree char *path = ab_fd_path(fd);
	struct stat a, b;

	/* A removed file reads as "x (deleted)". */
	if (!path || fstat(fd, &a) < 0 || lstat(path, &b) < 0)
		return NULL;
	if (!ab_stat_same(&a, &b)) {
		errno = ESTALE;
		return NULL;
	}
	return ab_take(path);
}
