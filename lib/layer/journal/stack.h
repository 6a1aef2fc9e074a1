#pragma once
/*
 * The applies that can be taken back: undo/last, and before it undo/before-N, of which the highest N is
 * the newest. Each change is one rename, so a killed process leaves at most a stack without `last`,
 * which ab_undo_pop() mends.
 */
#include "base/base.h"

enum {
	AB_UNDO_MAX = 16, /* applies that are kept */
	AB_UNDO_GIB = 2,  /* of what they replaced, all together; the newest one is always kept */
};

/* The names of the earlier ones, the newest first. -1 with errno, also from the others. */
int ab_undo_earlier(int undo, struct ab_strv *ret);
/* `last` becomes the newest of the earlier ones. */
int ab_undo_push(int undo);
/* If there is no `last`, the newest of the earlier ones becomes it: the one after it was taken back. */
int ab_undo_pop(int undo);
/* Remove the oldest ones until AB_UNDO_MAX are left, and no more than so many bytes. *ret: how many. */
int ab_undo_trim(int undo, uint64_t bytes, size_t *ret);
/* A journal goes away with everything in it. It is renamed first, so that half of it is never taken for a
 * journal. */
int ab_undo_drop(int undo, const char *name);
/* Make an empty file in a journal. -1 with errno. */
int ab_undo_mark(int dir, const char *name);
/* The newest one; -1 with errno ENOENT if there is none. */
int ab_undo_open_newest(int undo);
