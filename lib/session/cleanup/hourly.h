#ifndef AB_SESSION_CLEANUP_HOURLY_H
#define AB_SESSION_CLEANUP_HOURLY_H
/*
 * Cleanup by a run's broker when it is idle.
 *
 * Looking at all records takes time in proportion to their number, so only one run an hour does it.
 * It leaves the names of those that are due in a file, and every run removes a few of them: more
 * than the one folder that it adds, however many runs there are.
 */
#include <stddef.h>

struct ab_gc_rule;
struct ab_run;

enum {
	AB_HOURLY_MOST = 8,  /* while the command runs */
	AB_HOURLY_LEAST = 2, /* after a short run, which waits for it */
};

/* Remove up to `most` folders. */
void ab_hourly_cleanup(const struct ab_run *run, const struct ab_gc_rule *rule, size_t most);

#endif
