#ifndef AB_STEER_PERMIT_PERMIT_CLOSED_H
#define AB_STEER_PERMIT_PERMIT_CLOSED_H
/* In a writable folder, what the repositories there use is protected all the same. */

struct ab_error;
struct ab_policy;
struct ab_policy_input;

/* -1: no run may write it. */
int ab_permit_closed(const struct ab_policy_input *input, const struct ab_policy *policy,
		     const char *path, struct ab_error *err);

#endif
