#ifndef AB_BASE_FOLDER_H
#define AB_BASE_FOLDER_H
/* What is in a folder. */
#include <dirent.h>

/* A list of its own: the position of one is the descriptor's. "." is `dir`
 * itself; a link is not followed. NULL with errno; closed by scope, or by
 * closedir(). */
DIR *ab_folder_list(int dir, const char *name);
/* The next name but for . and ..; NULL at the end, and of no list. Good until
 * the next call. */
const char *ab_folder_next(DIR *list);

static inline void ab_closedirp(DIR **list)
{
	if (*list)
		closedir(*list);
}
#define ab_autodir __attribute__((cleanup(ab_closedirp)))

#endif
