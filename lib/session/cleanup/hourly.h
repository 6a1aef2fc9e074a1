#ifndef AB_SESSION_CLEANUP_HOURLY_H
#define AB_SESSION_CLEANUP_HOURLY_H
/*
 * Housekeeping that nobody waits for, done by a run's broker when it has time:
 * about once an hour, remove old records.
 */
#include <stddef.h>

struct ab_run;

void ab_hourly_cleanup(const struct ab_run *run);

/* Pure: find the policy in a start record; its length, or 0. */
size_t ab_hourly_policy(const char *record, const char **ret);

#endif
