#pragma once
/*
 * What one policy allows that another does not. Pure: it compares text, so two
 * paths that reach one file through links are different. In doubt, it reports
 * a difference.
 */
#include "base/base.h"

struct ab_policy;

/* One line for each thing that `b` allows and `a` does not:
 * "network.allow: github.com". None: b is not wider than a. */
void ab_policy_wider(const struct ab_policy *a, const struct ab_policy *b,
		     struct ab_strv *ret_lines);

/* Is it the same in every respect, also in where its values come from? Secrets are compared by name
 * only. */
bool ab_policy_same(const struct ab_policy *a, const struct ab_policy *b);

/* The keys whose values are others, except those about hosts that an active run takes over. What a run adds by
 * itself, or was granted for it alone, does not count. Of a list its elements' texts are compared: of a secret
 * that is its name. */
void ab_policy_changed_keys(const struct ab_policy *a, const struct ab_policy *b,
			    struct ab_strv *ret_keys);

/* Both directions, for people or as JSON; free it. */
char *ab_policy_diff(const struct ab_policy *a, const char *a_name, const struct ab_policy *b,
		     const char *b_name, bool json);
