#pragma once
/*
 * Removes what a box filled: folders of any depth, closed to their owner, links, devices.
 * Links are removed and never followed, and other mounts are not entered.
 */
#include "base/base.h"

/* Remove the folder `name` in `dir` and everything in it; -1 with errno. It may be gone already. No
 * other process may write to the folder meanwhile. */
int ab_remove_tree(int dir, const char *name);
/* The same, but remove or move at most *budget entries, which is reduced by as many. 1: there is
 * more. */
int ab_remove_tree_some(int dir, const char *name, size_t *budget);

/* The same for a file, a link or a folder. */
int ab_remove_object(int dir, const char *name);
/* The same while other processes may write to it: at most so many entries and levels, each listed once.
 * 0, or an errno; then the rest stays in its place. */
int ab_remove_live(int dir, const char *name, size_t entries, unsigned depth);

/* Open a folder for reading even if it is closed to its owner, whose mode then becomes 0700. Does
 * not follow a link or enter another mount; -1 with errno. */
int ab_open_closed(int dir, const char *name);
