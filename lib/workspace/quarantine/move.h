#pragma once
/*
 * Move an object out of a folder that a hostile process may change at the same time.
 * Everything is relative to the two open folders, and no link is followed, so
 * nothing outside the first folder can be touched.
 */
#include "base/base.h"

/*
 * Move `name` from the folder `from` to `as` in the folder `to` (private to us), by
 * rename, or across file systems by a bounded copy and removal. With `anew`, a
 * folder is always copied. With `quick`, only what can be copied in about a
 * millisecond is. 0, or an errno: ENOENT if it no longer exists, EFBIG if it is too
 * large to copy, ENOTEMPTY if `as` was created, but the original could not be
 * removed completely.
 */
int ab_move(int from, const char *name, int to, const char *as, bool anew, bool quick);

/* Rename it to `as` in its own folder, and let nobody open it. 0, or an errno. */
int ab_move_aside(int from, const char *name, const char *as);
void ab_move_lock(int from, const char *name);
