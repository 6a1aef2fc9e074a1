#pragma once
/*
 * Paths as text: pure, without looking anything up. "Clean" means absolute, without
 * "." or ".." or a double or trailing slash. Symbolic links are resolved once,
 * where the path is opened.
 */
#include "base/data/libc.h"

struct ab_strv;

/*
 * The clean absolute form of `path`: "~" means `home`, and a relative path is relative
 * to `base` (clean). NULL if `path` is empty, starts with "~" and home is NULL,
 * or names another user's home ("~x").
 */
char *ab_path_resolve(const char *path, const char *base, const char *home);

/* Is `path` the same as `top` or below it? Both are clean. */
bool ab_path_within(const char *path, const char *top);
/* Is one of them the same as the other or below it? */
bool ab_paths_overlap(const char *a, const char *b);
/* Is it in one of these folders? Does it contain one of these paths? */
bool ab_path_within_any(const char *path, const struct ab_strv *tops);
bool ab_path_contains_any(const char *path, const struct ab_strv *paths);

/* "a/b" joined; `dir` may be "/". */
char *ab_path_join(const char *dir, const char *name);

/* Everything before the last name; "/" for "/x" and "/". */
char *ab_path_parent(const char *path);

/* The last name; "" for "/". Points into path. */
const char *ab_path_name(const char *path);

/* Does it contain a pattern character (* ? [)? */
bool ab_path_is_pattern(const char *path);
