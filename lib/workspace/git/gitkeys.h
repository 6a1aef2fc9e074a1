#pragma once
/*
 * The settings of git that a box may decide about: a table of those on whose account git neither
 * runs a program nor reads another file, nor writes elsewhere. What is not in the table is
 * refused, so a setting that a later git invents is refused, too.
 *
 * Pure, apart from what the caller's functions look at.
 */
#include "base/base.h"

struct ab_gitkeys_terms {
	/* The run made the repository, so what git init and git clone write is free, too. */
	bool made;
	/* The box may be about to write more: a remote that is named may get its address later. */
	bool unsettled;
	/* config.worktree exists and is closed, so extensions.worktreeConfig may be set */
	bool worktree_pinned;
	/* Folders of this machine that may be the address of a remote, or NULL: repositories whose
	 * hooks and configuration are closed. git push runs those of any other. */
	const struct ab_strv *repos;
	/* For the functions below. A function that is NULL says no. */
	void *arg;
	/* May this path be the address of a remote, although it is not in `repos`? */
	bool (*is_safe_address)(void *arg, const char *path);
	/* May this path be the work tree of a repository that the run made? */
	bool (*is_safe_worktree)(void *arg, const char *path);
	/* Is there a file or folder where git looks for a repository of this name? */
	bool (*is_path)(void *arg, const char *name);
};

/* value: NULL if the line has no "=". If ab_gitkeys_names_remote(), the caller looks for the
 * remote. */
bool ab_gitkeys_allow(const char *key, const char *value, const struct ab_gitkeys_terms *terms);

/* Is this value the name of a remote? git takes one that no remote has for a path. */
bool ab_gitkeys_names_remote(const char *key, const char *value);

/* The name of the remote whose address this is, as a new string; NULL if it is none. */
char *ab_gitkeys_remote(const char *key, const char *value);

/* Why the setting is not allowed: a clause that follows the key. */
const char *ab_gitkeys_explain(const char *key);
