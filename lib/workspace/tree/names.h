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
	/* For ab_names_touch(): the first components of `top`, folded, without pattern
	 * characters, sorted, and those with them. */
	struct ab_strv plain, patterns;
	bool plain_first[256];
};

void ab_names_init(struct ab_names *names, const struct ab_strv *deny_write);
void ab_names_fini(struct ab_names *names);

/* Is it a relative path without an empty part, "." and ".."? */
bool ab_name_is_clean(const char *name);

/* Does the first component of `name` match `entry`? Then *ret_rest is what follows it
 * ("" if it is the last). */
bool ab_name_starts(const char *name, const char *entry, const char **ret_rest);
/* The same for an entry that is folded, and the name as it folds: a file system that folds names could
 * take the one for the other. Whether it does, only a look there tells (ab_entry_starts() of dir.h). */
bool ab_name_starts_folded(const char *name, const char *folded, const char **ret_rest);
/* How much of a path is the name (or pattern)? 0: it does not begin with it. */
size_t ab_name_measure(const char *name, const char *path);

/* Does some name in `top` begin with this entry, or could a file system that folds names think so? Fast:
 * most entries of a folder match none. */
bool ab_names_touch(const struct ab_names *names, const char *entry);

/*
 * The name up to a slash as a file system could see it that knows no upper case, characters that are not
 * shown, or dots and blanks at the end. ab_name_folded() returns the name itself if nothing changes.
 */
void ab_name_fold(const char *name, char ret[NAME_MAX + 1]);
const char *ab_name_folded(const char *name, char ret[NAME_MAX + 1]);
/* Are both the same, folded? */
bool ab_name_folds_to(const char *entry, const char *name);

/* Nearly all names differ in the first byte. */
static inline bool ab_name_is_near(const char *entry, const char *name)
{
	return ab_lower((unsigned char)entry[0]) == ab_lower((unsigned char)name[0]) ||
	       (entry[0] & 0x80) || (name[0] & 0x80) || strchr("*?[\\", name[0]);
}

static inline bool ab_name_may_be(const char *entry, const char *name)
{
	return ab_name_is_near(entry, name) && ab_name_folds_to(entry, name);
}

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
