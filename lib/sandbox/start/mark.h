#ifndef AB_SANDBOX_START_MARK_H
#define AB_SANDBOX_START_MARK_H
/*
 * When each step of the launch ended, for `run -vv`. Off, a mark costs one
 * test. The clock is the host's, so the supervisor's own marks fit in.
 */
struct ab_holds;

void ab_mark_open(struct ab_holds *holds);
void ab_mark(const char *step);

#endif
