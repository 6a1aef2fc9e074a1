#pragma once
/*
 * The registries that the user's own settings of a tool name: variables and files in
 * the home folder. For host groups, which allow their hosts, and for the box, which may
 * have to see such a file without its secrets (registry_files.h). A project's files
 * (.npmrc in the workspace) are never read: they could name any host.
 */
#include "base/base.h"

/* Add the canonical host entries of the registries of this group's tools. */
void ab_registries_hosts(const char *group, const char *home, char *const *environ,
			 struct ab_strv *ret_entries);

/* Add a note for each file of this group's tools that is ignored, because another user owns it or
 * others can write it. */
void ab_registries_faults(const char *group, const char *home, char *const *environ,
			  struct ab_strv *ret_notes);

/* The paths of all such files, of every group, whether they exist or not. */
void ab_registries_paths(const char *home, char *const *environ, struct ab_strv *ret_paths);

/* Add the entry of a URL that ab_clean_url() made; false: the list is full. */
bool ab_registry_add_host(const char *url, struct ab_strv *entries);

struct ab_registry_view {
	char *path; /* in the home folder, as the tool opens it */
	char *real;
	char *text;  /* what the box may see of it */
	size_t left; /* settings that it may not */
	bool broken; /* it could not be read, so the box sees nothing of it */
};

struct ab_registry_views {
	struct ab_registry_view *v;
	size_t len;
};

/* Add the files of this group's tools that have something to show. */
void ab_registries_views(const char *group, const char *home, char *const *environ,
			 struct ab_registry_views *ret);
/* Add those files of all tools that the box may not see as they are, perhaps nothing of one.
 * `exist`: no others do; or NULL. */
void ab_registries_visible(const char *home, char *const *environ, const struct ab_strv *exist,
			   struct ab_registry_views *ret);
void ab_registry_views_drop(struct ab_registry_views *views, size_t i);
void ab_registry_views_fini(struct ab_registry_views *views);
