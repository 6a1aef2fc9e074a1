#pragma once
/* The child process of a run or a task, until the library call. */
#include "base/base.h"

struct ab_policy_input;
struct ab_serve_policy;

/* In the child: take the folder and environment of the policy, and fill in the policy input. `stdio`:
 * three other streams for one that has waited, or NULL. */
int ab_child_enter(const int *stdio, const struct ab_serve_policy *policy,
		   struct ab_policy_input *ret, struct ab_error *err);
