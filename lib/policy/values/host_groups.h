#ifndef AB_POLICY_VALUES_HOST_GROUPS_H
#define AB_POLICY_VALUES_HOST_GROUPS_H
/*
 * Host groups: "@npm" is where npm fetches from on this machine. The user's
 * own configuration of the tool decides where there is one, so that mirrors
 * work; else a table. A project's files (.npmrc in the workspace) are never
 * read for this: they could name any host.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_strv;

extern const char *const ab_group_names[];
extern const size_t ab_group_count;

/* The canonical entries of "@name"; false when there is no such group. */
bool ab_group_expand(const char *name, const char *home, char *const *environ,
		     struct ab_strv *ret_entries);

#endif
