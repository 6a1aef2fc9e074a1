#pragma once
/*
 * A bounded breadth-first walk of a tree, so that an incomplete walk has seen the
 * folders near the top. It follows no symbolic link.
 */
#include "base/base.h"

struct ab_listing;

struct ab_walk {
	/* Budget, reduced by each walk with this object. */
	size_t dirs, entries;
	unsigned depth; /* do not enter folders deeper than this */
	/* Also enter git directories and folders of generated files? */
	bool everything;
	/*
	 * Enter every folder that may contain a checkout, also on other file
	 * systems that hold files; not git directories. Folders of generated
	 * files (node_modules) come after all others and have a budget of their
	 * own, `late` entries.
	 */
	bool thorough;
	size_t late;
	/*
	 * With `thorough`: of generated files only folders that are older come last. Newer ones count
	 * as all others, also in folders that come last. Older folders without a folder in them are
	 * left out, if the file system tells: nothing has appeared there. Not with `leaves`: a file
	 * in them may have been written in place. Zero: none is older, and none is looked at for that.
	 */
	const struct timespec *since;
	bool leaves;
	/*
	 * Told about a folder that cannot be searched although the box could:
	 * one of the caller's without permission to read, or one so deep that the paths
	 * in it are too long. If NULL, the walk is cut instead.
	 */
	void (*unreadable)(void *arg, const char *path);
	/* Told about each folder that was found and not searched, or not completely, or NULL. `late`:
	 * one of generated files that came last, which does not count as cut. */
	void (*missed)(void *arg, const char *path, bool late);
	/* Set by the callback: do not enter the folder of this name in the one that it
	 * was called for. */
	const char *skip;
	/* Results. */
	bool cut;	  /* the budget was exceeded, or a folder of
				 * ours is not readable */
	bool foreign;	  /* another file system was skipped */
	size_t left;	  /* folders that were found but not entered because of the budget */
	size_t late_left; /* the same, of generated files; does not count as cut */
};

/* fd: the folder, open for reading. Return false to skip everything below it. */
typedef bool ab_walk_fn(void *arg, int fd, const char *path, unsigned depth,
			const struct ab_listing *entries);

/* Is it the name of a folder that tools create, where nobody keeps repositories? */
bool ab_walk_is_generated(const char *name);

/* -1 with errno if `root` itself (a real path) cannot be read. */
int ab_walk(struct ab_walk *walk, const char *root, ab_walk_fn *fn, void *arg);
