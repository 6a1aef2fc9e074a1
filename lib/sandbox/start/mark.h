#ifndef AB_SANDBOX_START_MARK_H
#define AB_SANDBOX_START_MARK_H
/*
 * Records when each step of the launch ended, for `run -vv`. When disabled, a mark
 * costs one test. The clock is the host's, so the supervisor's marks are
 * comparable.
 */
struct ab_holds;

void ab_mark_open(struct ab_holds *holds);
void ab_mark(const char *step);

#endif
