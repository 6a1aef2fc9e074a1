#ifndef AB_STEER_RELOAD_H
#define AB_STEER_RELOAD_H
/*
 * Have runs that go on read their settings again. Only the lists of hosts of a
 * run can change; a file that is wrong changes nothing.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"

struct ab_policy_input;

struct ab_reloaded {
	char run[8];
	struct ab_error error;		/* code AB_ENONE: it was done */
	struct ab_strv changes;		/* "+ x.y allowed"; none: no change */
	struct ab_strv notes;
};

struct ab_reloads {
	struct ab_reloaded *v;
	size_t len;
};

/* `run`: its id or name; NULL: all. `cut`: close what is denied by now. Fails
 * when there is no such run; what one of them says is in its place. */
int ab_reload(const struct ab_policy_input *input, const char *run, bool cut,
	      struct ab_reloads *ret, struct ab_error *err);
void ab_reloads_fini(struct ab_reloads *reloads);

#endif
