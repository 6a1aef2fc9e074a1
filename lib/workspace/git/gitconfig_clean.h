#ifndef AB_WORKSPACE_GIT_GITCONFIG_CLEAN_H
#define AB_WORKSPACE_GIT_GITCONFIG_CLEAN_H
/*
 * A git configuration without the settings that make git run a program or read more
 * configuration (ab_gitconfig_runs). The other settings are written anew from what was
 * parsed, so git reads exactly what was judged; comments are lost.
 *
 * Pure and bounded.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_buf;

/* Must the file be replaced? True if a setting was left out, or if git might read the
 * file in another way than we do (then everything from there on is left out).
 * *ret: the new file; *ret_keys: what was left out, for people. */
bool ab_gitconfig_clean(const char *data, size_t len, struct ab_buf *ret, struct ab_buf *ret_keys);

#endif
