#ifndef AB_WORKSPACE_TREE_TREE_WALK_H
#define AB_WORKSPACE_TREE_TREE_WALK_H
/*
 * A bounded breadth-first walk of a tree, so that an incomplete walk has seen the
 * folders near the top. It follows no symbolic link and enters no other file
 * system.
 */
#include <stdbool.h>
#include <stddef.h>

struct ab_listing;

struct ab_walk {
	/* Budget, reduced by each walk with this object. */
	size_t dirs, entries;
	unsigned depth; /* do not enter folders deeper than this */
	/* Also enter git directories and folders of generated files? */
	bool everything;
	/* Results. */
	bool cut;     /* the budget was exceeded, or a folder of
				 * ours is not readable */
	bool foreign; /* another file system was skipped */
};

/* fd: the folder, open for reading. Return false to skip everything below it. */
typedef bool ab_walk_fn(void *arg, int fd, const char *path, unsigned depth,
			const struct ab_listing *entries);

/* -1 with errno if `root` itself (a real path) cannot be read. */
int ab_walk(struct ab_walk *walk, const char *root, ab_walk_fn *fn, void *arg);

#endif
