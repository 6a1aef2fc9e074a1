#pragma once
/*
 * Notices files that denyRead covers and that are created while a run is active.
 *
 * A file that does not exist cannot be masked. The folders in which such a file could be created
 * are examined regularly, and the list is expanded again when one of them has changed: a few calls
 * each time, and nothing in the first tenth of a second of a run. Below a "*" in the middle of an
 * entry nothing is noticed unless a folder above changes.
 */
#include "base/base.h"
#include "workspace/tree/guard.h"

struct ab_denied_watch;

/* The patterns live longer. */
struct ab_denied_watch *ab_denied_watch_open(const struct ab_strv *patterns);

/* True if something may have changed, and always the first time: everything that denyRead covers
 * now. Free it with ab_guards_free(). */
bool ab_denied_watch_look(struct ab_denied_watch *watch, struct ab_guard **ret, size_t *ret_n);
