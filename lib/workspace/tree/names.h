#ifndef AB_WORKSPACE_TREE_NAMES_H
#define AB_WORKSPACE_TREE_NAMES_H
/*
 * The protected names of a policy, sorted by where they apply. Pure.
 *
 * A name may have several components (".config/fish") and pattern characters
 * in each; a pattern never crosses a slash.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/data/strv.h"

struct ab_names {
	struct ab_strv top; /* at the top of a root or repository */
	struct ab_strv git; /* in a git directory (without ".git/") */
	struct ab_strv absolute;
	bool first[256]; /* bytes that a name in `top` can start with */
};

void ab_names_init(struct ab_names *names, const struct ab_strv *deny_write);
void ab_names_fini(struct ab_names *names);

/* Does the first component of `name` stand for `entry`? Then *ret_rest is
 * what follows it ("" when it is the last). */
bool ab_name_starts(const char *name, const char *entry, const char **ret_rest);

/* One of git's sample hooks, which never run. */
bool ab_name_is_sample(const char *name);

/*
 * What a path, were it a writable root of its own, would open of them: the
 * entry of denyWrite that the path is at or below; or that begins with the
 * path's end (*ret_holds: ".config" and ".config/fish"), for names count from
 * a root on, and in there it would not be that name any more. NULL: nothing.
 */
const char *ab_names_opened(const struct ab_strv *deny_write, const char *path, bool *ret_holds);

#endif
