#ifndef AB_SESSION_RUN_RUN_H
#define AB_SESSION_RUN_RUN_H
/* One run, from request to exit status. */
struct ab_error;
struct ab_request;

/*
 * Run a command in the box. *ret_status is the exit status to use: the command's own,
 * 128+n if signal n killed it, 124 if it timed out.
 */
int ab_run(const struct ab_request *request, int *ret_status, struct ab_error *err);
/* The exit status to use after -1: 125 if agentbox itself failed, 126 if the command
 * was refused or is not executable, 127 if it does not exist. */
int ab_exit_status(const struct ab_error *err);

#endif
