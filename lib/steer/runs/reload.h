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

typedef void ab_reloaded_fn(void *arg, const struct ab_reloaded *run);

/* `run` is an id or a name; NULL: all live runs. `cut`: also close connections
 * to hosts that are now denied. `fn` is told of each. Fails when there is no such run; the
 * failure of a single run is told. */
int ab_reload(const struct ab_policy_input *input, const char *run, bool cut, ab_reloaded_fn *fn,
	      void *arg, struct ab_error *err);
