#ifndef AB_WORKSPACE_TREE_TREE_WALK_H
#define AB_WORKSPACE_TREE_TREE_WALK_H
/*
 * A bounded walk of a tree, nearest folders first, so that a cut walk has
 * seen what is close to the top. No symbolic link is followed, no other file
 * system entered.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_listing;

struct ab_walk {
	/* Budget, used up by each walk with this object. */
	size_t dirs, entries;
	unsigned depth; /* folders deeper than this stay closed */
	/* Go into git directories and folders of generated files too? */
	bool everything;
	/* Results. */
	bool cut;     /* the budget ended first, or a folder of our
				 * own is not readable */
	bool foreign; /* another file system was left out */
};

/* fd: the folder, open for reading. Return false to stay out of what is
 * below it. */
typedef bool ab_walk_fn(void *arg, int fd, const char *path, unsigned depth,
			const struct ab_listing *entries);

/* -1 with errno when `root` itself (a real path) cannot be read. */
int ab_walk(struct ab_walk *walk, const char *root, ab_walk_fn *fn, void *arg);

#endif
