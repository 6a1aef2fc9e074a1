#ifndef AB_WORKSPACE_TREE_REMOVE_TREE_H
#define AB_WORKSPACE_TREE_REMOVE_TREE_H
/*
 * Removes a folder that a box filled: folders of any depth, closed to their owner, links, devices.
 * Links are removed and never followed, and other mounts are not entered. No other process may
 * write to the folder meanwhile.
 */
#include <stddef.h>

/* Remove the folder `name` in `dir` and everything in it; -1 with errno. It may be gone already. */
int ab_remove_tree(int dir, const char *name);
/* The same, but remove or move at most *budget entries, which is reduced by as many. 1: there is
 * more. */
int ab_remove_tree_some(int dir, const char *name, size_t *budget);

/* Open a folder for reading even if it is closed to its owner, whose mode then becomes 0700. Does
 * not follow a link or enter another mount; -1 with errno. */
int ab_open_closed(int dir, const char *name);

#endif
