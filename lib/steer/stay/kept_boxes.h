#pragma once
/* Find a box that stays among the active runs, and connect to its control socket. */
#include "base/base.h"
#include "state/state.h"
#include "steer/client/steer.h"

struct ab_policy_input;

struct ab_kept_box {
	struct ab_state state;
	struct ab_steer steer;
};

int ab_kept_box_open(const struct ab_policy_input *input, const char *box, struct ab_kept_box *ret,
		     struct ab_error *err);
void ab_kept_box_fini(struct ab_kept_box *box);
