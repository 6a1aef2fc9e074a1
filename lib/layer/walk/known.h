#pragma once
/*
 * Files of the host whose last change was agentbox's own: apply and undo replace files,
 * so their ctime is later than the layer's start although nobody else changed them.
 * Such a file is not a conflict as long as its inode and ctime are the recorded ones.
 *
 * The list is kept beside the layer, where no box can write. A damaged list counts as
 * empty: then some changes are shown as conflicts.
 */
#include "base/base.h"

struct ab_identity;

struct ab_known_file {
	char *path; /* relative to the root of the layer */
	ino_t ino;
	struct timespec ctime;
};

struct ab_known {
	struct ab_known_file *v; /* sorted by path with ab_path_order() */
	size_t len;
};

#define AB_KNOWN_MAX 200000 /* files */

bool ab_known_is(const struct ab_known *known, const char *path, const struct ab_identity *now);
/* In any order; the last one of a path counts. Call _sort before the next _is. */
void ab_known_add(struct ab_known *known, const char *path, ino_t ino, struct timespec ctime);
void ab_known_sort(struct ab_known *known);
void ab_known_fini(struct ab_known *known);

/* Read and write `name` in `dir`; a missing file is an empty list. Write replaces the
 * file atomically; -1 with errno. */
void ab_known_read(struct ab_known *known, int dir, const char *name);
int ab_known_write(const struct ab_known *known, int dir, const char *name);
