#pragma once
/*
 * A claim for the time in which one settings file is replaced. The new text is written under a
 * temporary name beside the file. A box that can write to the folder could open that name, and
 * would keep a descriptor to what becomes a protected file. So there is no such box meanwhile.
 */
#include "base/base.h"
#include "state/claim.h"
#include "state/state.h"

struct ab_policy_input;

struct ab_file_claim {
	struct ab_state state;
	struct ab_claim claim;
	bool taken;
};

/* `path` is absolute. Fails with AB_EREFUSED while a run can write there. Inside a box there are no
 * other boxes to see, and nothing is claimed. `ret` must not be moved. */
int ab_file_claim_take(const struct ab_policy_input *in, const char *path,
		       struct ab_file_claim *ret, struct ab_error *err);
/* Also after a failure. */
void ab_file_claim_release(struct ab_file_claim *claim);
