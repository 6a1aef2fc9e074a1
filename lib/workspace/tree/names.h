#pragma once
/*
 * The protected names of a policy, grouped by where they apply. Pure.
 *
 * A name may have several components (".config/fish") and pattern characters
 * in each; a pattern never crosses a slash.
 */
#include "base/base.h"

struct ab_names {
	struct ab_strv top; /* at the top of a root or repository */
	struct ab_strv git; /* in a git directory (without ".git/") */
	struct ab_strv absolute;
	bool first[256]; /* bytes that a name in `top` can start with */
	/* For ab_names_touch(): the first components of `top` without pattern
	 * characters, sorted, and those with them. */
	struct ab_strv plain, patterns;
	bool plain_first[256];
};

void ab_names_init(struct ab_names *names, const struct ab_strv *deny_write);
void ab_names_fini(struct ab_names *names);

/* Does the first component of `name` match `entry`? Then *ret_rest is what follows it
 * ("" if it is the last). */
bool ab_name_starts(const char *name, const char *entry, const char **ret_rest);
/* How much of a path is the name (or pattern)? 0: it does not begin with it. */
size_t ab_name_measure(const char *name, const char *path);

/* Does some name in `top` begin with this entry? Fast: most entries of a folder match
 * none. */
bool ab_names_touch(const struct ab_names *names, const char *entry);

/* One of git's sample hooks, which never run. */
bool ab_name_is_sample(const char *name);

/* Add "START 3 files REST: a, b, ..." about `n` files, unless there are none. `shown` has the first
 * of them; `what` is their name without the plural. */
void ab_names_tell(struct ab_strv *ret, const char *start, size_t n, const char *what,
		   const char *rest, const struct ab_strv *shown);

/*
 * Which protected name would lose its protection if this path became a writable root?
 * Either the path is at or below an entry of denyWrite, or an entry begins with
 * the end of the path (*ret_holds: ".config" and ".config/fish"): names are
 * relative to a root, so inside the new root it would be another name. NULL:
 * none.
 */
const char *ab_names_opened(const struct ab_strv *deny_write, const char *path, bool *ret_holds);
