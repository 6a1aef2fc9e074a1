#ifndef AB_SESSION_BROKER_MOUNT_WATCH_H
#define AB_SESSION_BROKER_MOUNT_WATCH_H
/*
 * Whether the mounts that close single objects still stand.
 *
 * The kernel drops a mount, in every namespace, when what it is mounted on is
 * removed or renamed over from outside: a `git config` on the host replaces
 * .git/config and with it our lock on it. The new file is open to the box,
 * and nobody inside has the right to close it again. All we can do is see it.
 */
#include <stdbool.h>

#include "base/data/strv.h"

struct ab_error;
struct ab_plan;
struct ab_mount_watch;

/* Remember what the plan closes and masks, as it is now, and files that are
 * hidden or covered because values of secrets are in them. The lists live
 * longer. */
struct ab_mount_watch *ab_mount_watch_open(const struct ab_plan *plan,
					   const struct ab_strv *secret);

/* Look again. True: something protected was replaced, or one of those files.
 * (What was only masked is told at the end: shells and tools rewrite such
 * files all day.) */
bool ab_mount_watch_look(struct ab_mount_watch *walls);

/* Why a strict run cannot go on; -1. */
int ab_mount_watch_explain(const struct ab_mount_watch *walls, struct ab_error *err);

/* Everything that was replaced, as sentences. */
void ab_mount_watch_lines(const struct ab_mount_watch *walls, struct ab_strv *ret);

#endif
