#pragma once
/* The child process of a run or a task, until the library call. */
#include "base/base.h"

struct ab_policy_input;
struct ab_serve_policy;

/* In the child: take the folder and environment of the policy, and fill in the policy input. */
int ab_child_enter(const struct ab_serve_policy *policy, struct ab_policy_input *ret,
		   struct ab_error *err);

/* The same in a child that has waited, with other streams than it had. */
int ab_child_take(const int stdio[3], const struct ab_serve_policy *policy,
		  struct ab_policy_input *ret, struct ab_error *err);
