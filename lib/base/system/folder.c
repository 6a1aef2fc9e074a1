#include "base/system/folder.h"

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"

#include <fnmatch.h>
#include <sys/file.h>

enum {
	LOCK_MS = 500,
	MARK = S_ISVTX, /* set as the folder is made; nobody sets it on a folder that others cannot write to */
};

DIR *ab_folder_list(int dir, const char *name)
{
	ab_autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (list)
		ab_take_fd(&fd); /* now owned by the list */
	return list;
}

bool ab_folder_is(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

const char *ab_folder_next(DIR *list)
{
	const struct dirent *entry;

	do
		entry = list ? readdir(list) : NULL;
	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry ? entry->d_name : NULL;
}

char *ab_folder_make_all(const char *path, mode_t mode)
{
	ab_autofree char *parent = NULL;
	char *failed;

	if (mkdir(path, mode) == 0 || errno == EEXIST)
		return NULL;
	if (errno != ENOENT || !path[0] || !path[1])
		return ab_strdup(path);
	parent = ab_path_parent(path);
	failed = ab_folder_make_all(parent, mode);
	if (failed || mkdir(path, mode) == 0 || errno == EEXIST)
		return failed;
	return ab_strdup(path);
}

int ab_folder_make_held(const char *path, mode_t mode, int *ret_lock)
{
	for (;;) {
		ab_autoclose int dir = -1;

		if (mkdir(path, mode | MARK) < 0)
			return 0;
		dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		/* Whoever can read it can keep it locked, a box too: then nobody else removes it. */
		if (dir >= 0 && ab_lock_wait(dir, LOCK_EX, LOCK_MS) >= 0 &&
		    access(path, F_OK) == 0) {
			*ret_lock = ab_take_fd(&dir);
			return 1;
		}
		/* Until it is locked, another process may take it for one whose maker is dead. */
		if (errno != ENOENT) {
			int saved = errno;

			rmdir(path);
			return ab_errno(saved);
		}
	}
}

void ab_folder_remove_unheld(const char *path, const char *names)
{
	ab_autodir DIR *list = ab_folder_list(AT_FDCWD, path);
	const char *name;

	while ((name = ab_folder_next(list)) != NULL) {
		ab_autoclose int dir =
			fnmatch(names, name, 0) != 0
				? -1
				: openat(dirfd(list), name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct stat st;

		if (dir >= 0 && fstat(dir, &st) == 0 && (st.st_mode & MARK) &&
		    flock(dir, LOCK_EX | LOCK_NB) == 0)
			(void)unlinkat(dirfd(list), name, AT_REMOVEDIR);
	}
}
