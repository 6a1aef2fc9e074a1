#include "workspace/tree/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "base/system/fd.h"

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
	for (size_t i = 0; i < l->len; i++)
		if (strcmp(l->v[i].name, name) == 0)
			return &l->v[i];
	return NULL;
}

void ab_listing_fini(struct ab_listing *l)
{
	free(l->v);
	ab_buf_fini(&l->names);
	*l = (struct ab_listing){ 0 };
}

static int open_resolved(int at, const char *path, int flags, uint64_t also)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | also |
			   (path[0] == '/' ? 0 : RESOLVE_BENEATH),
	};

	return (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
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
	/* A FIFO must not block us, a terminal must not become our controlling one. */
	ab_autoclose int fd =
		openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return ab_read_all(fd, max, ret_data, ret_len);
}

char *ab_real_path(int fd)
{
	char link[32], path[PATH_MAX];
	struct stat a, b;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	/* A removed file reads as "x (deleted)", a too long path is cut. */
	if (fstat(fd, &a) < 0 || lstat(path, &b) < 0)
		return NULL;
	if (a.st_dev != b.st_dev || a.st_ino != b.st_ino) {
		errno = ESTALE;
		return NULL;
	}
	return ab_strdup(path);
}
