#ifndef AB_BASE_SYSTEM_FOLDER_H
#define AB_BASE_SYSTEM_FOLDER_H
/* List a folder. */
#include <dirent.h>
#include <stdbool.h>

/* Opens the folder again, because the position of a listing belongs to the open file.
 * "." is `dir` itself; links are not followed. NULL with errno. Close it with
 * ab_autodir or closedir(). */
DIR *ab_folder_list(int dir, const char *name);
/* The next name other than . and .., valid until the next call; NULL at the
 * end, or if `list` is NULL. */
const char *ab_folder_next(DIR *list);

/* Is `name` in `dir` a folder, and not a link to one? */
bool ab_folder_is(int dir, const char *name);

static inline void ab_closedirp(DIR **list)
{
	if (*list)
		closedir(*list);
}
#define ab_autodir __attribute__((cleanup(ab_closedirp)))

#endif
