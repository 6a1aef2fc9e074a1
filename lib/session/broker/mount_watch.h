#ifndef AB_SESSION_BROKER_MOUNT_WATCH_H
#define AB_SESSION_BROKER_MOUNT_WATCH_H
/*
 * Watches whether the mounts that close single objects are still in force.
 *
 * The kernel drops a mount, in every namespace, when what it is mounted on is
 * removed or renamed over from outside: a `git config` on the host replaces
 * .git/config and with it our mount. The box can access the new file, and no
 * process inside has the right to close it again. We can only detect it.
 */
#include <stdbool.h>

#include "base/data/strv.h"

struct ab_error;
struct ab_plan;
struct ab_mount_watch;

/* Remember the objects that the plan closes and masks, as they are now, and files that are hidden
 * or covered because they contain secrets. The lists live longer. */
struct ab_mount_watch *ab_mount_watch_open(const struct ab_plan *plan,
					   const struct ab_strv *secret);

/* Check again. True: something protected was replaced, or one of those files. (A file that is only
 * masked is reported at the end: shells and tools rewrite such files all the time.) */
bool ab_mount_watch_look(struct ab_mount_watch *watch);

/* Report why a strict run must end; returns -1. */
int ab_mount_watch_explain(const struct ab_mount_watch *watch, struct ab_error *err);

/* Everything that was replaced, as sentences. */
void ab_mount_watch_lines(const struct ab_mount_watch *watch, struct ab_strv *ret);

#endif
