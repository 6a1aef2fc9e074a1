#pragma once
/*
 * The registries that the user's own settings of a tool name: variables and files in
 * the home folder, or where variables have moved them (tool_places.h). For host groups, which allow their hosts, and for the box, which may
 * have to see such a file without its secrets (registry_files.h). A project's files
 * (.npmrc in the workspace) are never read: they could name any host.
 */
#include "base/base.h"

struct ab_registry_row;
struct ab_tool_place;

struct ab_registry_file {
	struct ab_registry_file *next;
	const struct ab_registry_row *row;
	const char *path;
	bool linked;  /* by a link in the workspace: its registries do not count */
	bool missing; /* there was nothing when somebody looked */
};

/* All of them, whether they exist or not; without places those of the system. In the arena. */
struct ab_registry_file *ab_registries_find(struct ab_arena *arena,
					    const struct ab_tool_place *places);

/* Add the canonical host entries of the registries of this group's tools. */
void ab_registries_hosts(const char *group, const struct ab_registry_file *files,
			 char *const *environ, struct ab_strv *ret_entries);

/* Add a note for each file of this group's tools that is ignored, because another user owns it or
 * others can write it. */
void ab_registries_faults(const char *group, const struct ab_registry_file *files,
			  struct ab_strv *ret_notes);

/* Add the entry of a URL that ab_clean_url() made; false: the list is full. */
bool ab_registry_add_host(const char *url, struct ab_strv *entries);

struct ab_registry_view {
	char *path; /* as the tool opens it */
	char *real;
	char *text;  /* what the box may see of it */
	size_t left; /* settings that it may not */
	bool broken; /* it could not be read, so the box sees nothing of it */
};

struct ab_registry_views {
	struct ab_registry_view *v;
	size_t len;
};

/* Add the files of this group's tools that have something to show; NULL: those of all tools that the box may
 * not see as they are, perhaps nothing of one. */
void ab_registries_views(const char *group, const struct ab_registry_file *files,
			 struct ab_registry_views *ret);
void ab_registry_views_drop(struct ab_registry_views *views, size_t i);
void ab_registry_views_fini(struct ab_registry_views *views);
