#ifndef AB_BASE_SYSTEM_PATH_H
#define AB_BASE_SYSTEM_PATH_H
/*
 * Paths as text: pure, nothing is looked up. "Clean" means absolute, with no
 * "." or ".." or doubled or trailing slash. What a path means on the disk
 * (symbolic links) is decided where it is opened, once.
 */
#include <stdbool.h>

/*
 * The clean absolute form of `path`: "~" and "~/x" stand for `home`, a
 * relative path is taken from `base` (clean). NULL when `path` is empty, or
 * starts with "~" and home is NULL, or names another user's home ("~x").
 */
char *ab_path_resolve(const char *path, const char *base, const char *home);

/* The same path or something below it; both clean. */
bool ab_path_within(const char *path, const char *top);

/* "a/b" joined; `dir` may be "/". */
char *ab_path_join(const char *dir, const char *name);

/* Everything before the last name; "/" for "/x" and "/". */
char *ab_path_parent(const char *path);

/* The last name; "" for "/". Points into path. */
const char *ab_path_name(const char *path);

/* Does it hold a pattern character (* ? [)? */
bool ab_path_is_pattern(const char *path);

#endif
