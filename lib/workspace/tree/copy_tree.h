#ifndef AB_WORKSPACE_TREE_COPY_TREE_H
#define AB_WORKSPACE_TREE_COPY_TREE_H
/*
 * Copies a file, a link or a folder that may be hostile, within limits. Everything is relative to
 * open folders, and no link is followed. New objects are private to us; set-id bits, owners, hard
 * links and extended attributes stay behind.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ab_copy_tree {
	/* What may still be copied. */
	uint64_t bytes;
	size_t entries;
	unsigned depth;
	/* Nobody else writes in `from`, and the copy is for the user: open what is closed to its
	 * owner, keep the modes without set-id bits and others' right to write, and sync files. What
	 * is neither a file, a folder nor a link is EINVAL. Otherwise it is left out. */
	bool restores;
};

/* Copy `name` as `as`, which must not exist. `mode` has its type. 0, or an errno, EFBIG beyond the
 * limits; then a part of the copy may exist. */
int ab_copy_tree(struct ab_copy_tree *c, int from, const char *name, mode_t mode, int to,
		 const char *as);

#endif
