#ifndef AB_SESSION_RUN_CALLER_H
#define AB_SESSION_RUN_CALLER_H
struct ab_error;
struct ab_policy_input;

/* Fill in what the calling process knows: environment, current folder, home. The strings live as
 * long as the process. */
int ab_caller_init(struct ab_policy_input *input, struct ab_error *err);

#endif
