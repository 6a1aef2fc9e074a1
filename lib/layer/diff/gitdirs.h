#pragma once
/*
 * Git directories, whatever they are called: git takes a folder for one that has HEAD, objects and refs.
 * Which folder is one follows from the host's files and the changes together, because a box can bring
 * the parts one after the other. The names of changes are compared folded (labels.h).
 */
#include "base/base.h"

struct ab_change;
struct ab_changes;
struct ab_layer_view;

struct ab_gitdirs {
	const struct ab_layer_view *view;
	struct ab_strv
		parts; /* folded paths of changes that bring a part of a git directory; sorted */
};

void ab_gitdirs_init(struct ab_gitdirs *dirs, const struct ab_layer_view *view,
		     const struct ab_changes *changes);
void ab_gitdirs_fini(struct ab_gitdirs *dirs);

/* Is the change in a git directory, as far as its labels depend on that? `folded` is its path. */
bool ab_gitdirs_contain(const struct ab_gitdirs *dirs, const char *path, const char *folded);

/* If the change brings a part without which the host has no git directory there: what git would obey in it
 * that the host has already, as a new string for people. NULL: nothing. */
char *ab_gitdirs_completed(const struct ab_gitdirs *dirs, const struct ab_change *change,
			   const char *folded);
