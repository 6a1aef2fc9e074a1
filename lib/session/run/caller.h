#ifndef AB_SESSION_RUN_CALLER_H
#define AB_SESSION_RUN_CALLER_H
/* What the calling process knows by itself. */
struct ab_error;
struct ab_policy_input;

/* Fill in the environment, the current folder and the home folder of the process. The
 * strings live as long as the process. */
int ab_caller_init(struct ab_policy_input *input, struct ab_error *err);

#endif
