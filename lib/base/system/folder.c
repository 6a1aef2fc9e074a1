#include "base/system/folder.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system/fd.h"

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
