#ifndef AB_STEER_WHY_WHY_H
#define AB_STEER_WHY_WHY_H
/*
 * `agentbox why`: explain a denial. The sentence that the client got, how often it
 * happened, which process asked, and how to allow it.
 */
#include <stdbool.h>

struct ab_error;
struct ab_policy_input;

/*
 * `what` is the id of a denial; the id or name of a run, to list its denials;
 * "last" or NULL for the last denial of the newest run. *ret is text
 * for people, escaped, or one JSON object; free it.
 */
int ab_why(const struct ab_policy_input *input, const char *what, bool json, char **ret,
	   struct ab_error *err);

/* The same for a variable of the caller's environment, which `what` may name if no
 * run has that name. */
int ab_why_variable(const struct ab_policy_input *input, const char *name, bool json, char **ret,
		    struct ab_error *err);

#endif
