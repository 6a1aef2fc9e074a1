#ifndef AB_SESSION_RUN_RUN_H
#define AB_SESSION_RUN_RUN_H
/* One run, from request to exit status. */
struct ab_error;
struct ab_request;

/*
 * Run a command in the box. *ret_status is what to exit with: the command's own
 * status, 128+n if signal n killed it, 124 after the time limit.
 */
int ab_run(const struct ab_request *request, int *ret_status, struct ab_error *err);
/* What to exit with after -1: 125 for a failure of our own, 126 for a refusal
 * or a file that is not executable, 127 if there is no such program. */
int ab_exit_status(const struct ab_error *err);

#endif
