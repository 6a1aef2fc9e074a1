#pragma once
/* List folders, and make them. */
#include <dirent.h>

#include "base/data/libc.h"

/* Opens the folder again, because the position of a listing belongs to the open file.
 * "." is `dir` itself; links are not followed. NULL with errno. Close it with
 * ab_autodir or closedir(). */
DIR *ab_folder_list(int dir, const char *name);
/* The next name other than . and .., valid until the next call; NULL at the
 * end, or if `list` is NULL. */
const char *ab_folder_next(DIR *list);

/* Is `name` in `dir` a folder, and not a link to one? */
bool ab_folder_is(int dir, const char *name);

/* Make every missing folder up to `path`, which is absolute; existing ones are left alone. NULL, or with errno
 * the one that could not be made. */
char *ab_folder_make_all(const char *path, mode_t mode);

/* Make a folder with a mark of its own (the sticky bit) that is locked until *ret_lock is closed, so that others
 * can tell that its maker lives. 1: made, without the lock if another process keeps it; 0: not made; -1 with
 * errno: it could not be locked. */
int ab_folder_make_held(const char *path, mode_t mode, int *ret_lock);
/* Remove the empty folders in `path` with such names (fnmatch()) and the mark whose makers are dead. */
void ab_folder_remove_unheld(const char *path, const char *names);

/* The entries of an open folder, also . and .., without memory of the heap. */
struct ab_entries {
	int fd;
	ssize_t len, at; /* len < 0: it could not be read */
	_Alignas(struct dirent64) char raw[4096];
};

/* NULL at the end, and after a failure. */
static inline const struct dirent64 *ab_entries_next(struct ab_entries *e)
{
	const struct dirent64 *d = (const void *)(e->raw + e->at);

	if (e->at >= e->len) {
		e->len = getdents64(e->fd, e->raw, sizeof(e->raw));
		e->at = 0;
		d = (const void *)e->raw;
	}
	if (e->len <= 0)
		return NULL;
	e->at += d->d_reclen;
	return d;
}

static inline void ab_closedirp(DIR **list)
{
	if (*list)
		closedir(*list);
}
#define ab_autodir __attribute__((cleanup(ab_closedirp)))
