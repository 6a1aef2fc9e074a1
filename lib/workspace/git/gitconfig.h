#pragma once
/*
 * Parser for git's configuration syntax, for files that may be hostile.
 *
 * Pure and bounded: bytes in, one call per assignment. A NUL byte makes the file
 * malformed, because git would stop reading there.
 */
#include "base/base.h"

#define AB_GITCONFIG_MAX (1024 * 1024) /* a longer file is malformed */

/*
 * key: "section.subsection.name"; section and name in lower case, the
 * subsection as written. value: NULL if the line has no "=" (a true flag).
 */
typedef void ab_gitconfig_fn(void *arg, const char *key, const char *value);

/* 0, or the number of the first line that git would not accept; everything before it
 * was reported. */
unsigned ab_gitconfig_parse(const char *data, size_t len, ab_gitconfig_fn *fn, void *arg);
