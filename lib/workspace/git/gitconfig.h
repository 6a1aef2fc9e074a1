#ifndef AB_WORKSPACE_GIT_GITCONFIG_H
#define AB_WORKSPACE_GIT_GITCONFIG_H
/*
 * git's configuration syntax, for files that a hostile hand may have written.
 *
 * Pure and bounded: bytes in, one call per assignment. Where git would read
 * something else than a C string (a NUL byte), the file is malformed.
 */
#include <stdbool.h>
#include <stddef.h>

#define AB_GITCONFIG_MAX (1024 * 1024) /* a longer file is malformed */

/*
 * key: "section.subsection.name"; section and name in lower case, the
 * subsection as written. value: NULL when the line has no "=" (a true flag).
 */
typedef void ab_gitconfig_fn(void *arg, const char *key, const char *value);

/* 0, or the number of the first line that git would not accept; what stood
 * before it was reported. */
unsigned ab_gitconfig_parse(const char *data, size_t len, ab_gitconfig_fn *fn, void *arg);

/* Does this assignment make git run a program, or read more configuration,
 * or go to another place than the repository says? */
bool ab_gitconfig_runs(const char *key, const char *value);

#endif
