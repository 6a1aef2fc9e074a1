#pragma once
/*
 * Mount trees by file descriptor: look up a path, clone its tree, mount a clone
 * elsewhere. Paths are resolved once and never through a symbolic link: the
 * workspace is untrusted even before the start, and another box may be running in
 * it.
 */
#include "base/base.h"

/* O_PATH fd of a clean absolute path below `root`; -1 with errno (ELOOP: a parent
 * is a symbolic link). The last name may be a link: then the fd is the link
 * itself. */
int ab_tree_lookup(int root, const char *path);

/* A detached copy of the tree at fd, with everything mounted below it. */
int ab_tree_clone(int fd, const char *what, struct ab_error *err);

/* The same with MOUNT_ATTR_* set on it, and with `recursive` on all below it. */
int ab_tree_clone_with(int fd, uint64_t set, bool recursive, const char *what,
		       struct ab_error *err);

/* Mount it on top of `target`. */
int ab_tree_place(int tree, int target, const char *what, struct ab_error *err);

/* Mount a clone of `name`, in the folder `dir`, there. `verb`: what that does, for the error. */
int ab_tree_place_named(int dir, const char *name, int target, const char *verb, const char *what,
			struct ab_error *err);

/* A new file system that is not mounted anywhere yet. `options` is a list of key,
 * value pairs (value NULL: a flag) that ends with a NULL key; `attr` are
 * MOUNT_ATTR_*. -1 with errno. */
int ab_tree_new(const char *type, const char *const *options, unsigned int attr);

/* Set MOUNT_ATTR_* on the mount at fd; recursive also applies to all
 * mounts below it and makes their propagation private. */
int ab_tree_setattr(int fd, uint64_t set, bool recursive, const char *what, struct ab_error *err);

/* Can the overlay `tree` look up what is in `lower`, which it has below it? A folder whose file system
 * folds names can be there before Linux 6.17, and none of its names can; an automount point alone cannot
 * in any. -1 with errno. */
int ab_tree_check_overlay(int tree, int lower);
