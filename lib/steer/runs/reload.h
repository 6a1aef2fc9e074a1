#pragma once
/*
 * Make live runs reload their settings. Only the host lists of a run can change;
 * a file with an error changes nothing.
 */
#include "base/base.h"

struct ab_policy_input;

struct ab_reloaded {
	char run[8];
	struct ab_error error;	/* code AB_ENONE: it succeeded */
	struct ab_strv changes; /* "+ x.y allowed"; empty: no change */
	struct ab_strv notes;	/* for the user */
};

struct ab_reloads {
	struct ab_reloaded *v;
	size_t len;
};

/* `run` is an id or a name; NULL: all live runs. `cut`: also close connections
 * to hosts that are now denied. Fails when there is no such run; the failure of a
 * single run is in its row. */
int ab_reload(const struct ab_policy_input *input, const char *run, bool cut,
	      struct ab_reloads *ret, struct ab_error *err);
void ab_reloads_fini(struct ab_reloads *reloads);
