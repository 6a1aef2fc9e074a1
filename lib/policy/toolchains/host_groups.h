#pragma once
/*
 * Host groups: "@npm" stands for the hosts from which npm fetches on this
 * machine: those of the user's own configuration of the tool, so that mirrors
 * work (registries.h), and the public ones, from a table.
 */
#include "base/base.h"

struct ab_registry_file;

extern const char *const ab_group_names[];
extern const size_t ab_group_count;

/* All of them for people: "@github @npm ...". */
char *ab_group_list(void);

/* The canonical entries of "@name"; false: no such group. `files`: ab_registries_find(). */
bool ab_group_expand(const char *name, const struct ab_registry_file *files, char *const *environ,
		     struct ab_strv *ret_entries);

/* The group to which a host belongs by the table, or NULL: one whose hosts a tool needs together. The
 * user's own mirrors are not looked at: this reads no file. */
const char *ab_group_of(const char *host);
/* The entries of the table for "name". */
void ab_group_hosts(const char *name, struct ab_strv *ret_entries);
