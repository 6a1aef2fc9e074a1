#pragma once
/* In a writable folder, what the repositories there use is protected all the same. */

#include "base/base.h"

struct ab_policy;
struct ab_policy_input;

/* -1: no run may write it. */
int ab_permit_closed(const struct ab_policy_input *input, const struct ab_policy *policy,
		     const char *path, struct ab_error *err);
