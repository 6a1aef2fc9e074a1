#ifndef AB_POLICY_LAYERS_COMPARE_H
#define AB_POLICY_LAYERS_COMPARE_H
/*
 * What one policy allows that another does not. Pure: it compares text, so two
 * paths that reach one file through links are different. In doubt, it reports
 * a difference.
 */
#include <stdbool.h>

struct ab_policy;
struct ab_strv;

/* One line for each thing that `b` allows and `a` does not:
 * "network.allow: github.com". None: b is not wider than a. */
void ab_policy_wider(const struct ab_policy *a, const struct ab_policy *b,
		     struct ab_strv *ret_lines);

/* Is it the same in every respect, also in where its values come from? Secrets are compared by name
 * only. */
bool ab_policy_same(const struct ab_policy *a, const struct ab_policy *b);

/* Both directions, for people or as JSON; free it. */
char *ab_policy_diff(const struct ab_policy *a, const char *a_name, const struct ab_policy *b,
		     const char *b_name, bool json);

#endif
