#include "base/system/folder.h"

#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"

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
