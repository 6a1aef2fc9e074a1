#ifndef AB_SESSION_CLEANUP_HOURLY_H
#define AB_SESSION_CLEANUP_HOURLY_H
/* Background cleanup by a run's broker when it is idle: about once an hour, remove old records. */
struct ab_gc_rule;
struct ab_run;

void ab_hourly_cleanup(const struct ab_run *run);

/* Pure: what the policy in a start record keeps; -1: it has no policy. */
int ab_hourly_rule(const char *record, struct ab_gc_rule *ret);

#endif
