#ifndef AB_WORKSPACE_QUARANTINE_MOVE_H
#define AB_WORKSPACE_QUARANTINE_MOVE_H
/*
 * Moving one object out of a folder that a hostile process may be changing
 * at the same time. Everything is relative to the two open folders; no link
 * is followed, so nothing outside the first folder can be touched.
 */
#include <stdbool.h>

/*
 * Move `name` from the folder `from` to `as` in the folder `to` (ours alone),
 * by rename, or across file systems by a bounded copy and removal; `anew`
 * asks for the copy of a folder in any case. 0, or an
 * errno: ENOENT when it is gone already, E2BIG when it is too large to copy,
 * ENOTEMPTY when what was copied could not all be removed (`as` is there).
 */
int ab_move(int from, const char *name, int to, const char *as, bool anew);

#endif
