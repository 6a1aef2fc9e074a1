#ifndef AB_STEER_WHY_H
#define AB_STEER_WHY_H
/*
 * What a denial was about, in sentences: the same words that the client got,
 * how often, who asked, what a person can do.
 */
#include <stdbool.h>

struct ab_error;
struct ab_policy_input;

/*
 * `what`: an id of a denial; a run (id or name), for a list of what it was
 * refused; "last" or NULL, for the last denial of the newest run. Lines for
 * people, escaped, or one JSON object; to be freed.
 */
int ab_why(const struct ab_policy_input *input, const char *what, bool json,
	   char **ret, struct ab_error *err);

#endif
