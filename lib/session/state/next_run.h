#ifndef AB_SESSION_STATE_NEXT_RUN_H
#define AB_SESSION_STATE_NEXT_RUN_H
/*
 * Rules for the next run in a workspace: what a person allowed when it was too
 * late for the run that goes on, because a box can only become narrower. They
 * are in next.json of the state folder, which no box sees and no project can
 * write, and are forgotten after AB_NEXT_DAYS.
 *
 * A run takes the rules of its workspace when it begins, and removes them when
 * its command starts. From the one to the other it has a lock: if it fails or
 * dies on the way they are still there, and another one that begins meanwhile
 * does not get them too.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/data/strv.h"

struct ab_error;
struct ab_policy_input;

enum { AB_NEXT_MAX = 64, AB_NEXT_DAYS = 7 };

/* Times are seconds since 1970. *ret_had: it was there, and counts from now. */
int ab_next_run_add(int state, int64_t now, const char *workspace, const char *path, bool *ret_had,
		    struct ab_error *err);

struct ab_next_run { /* what a run has taken */
	char *workspace;
	struct ab_strv write;
	int claim; /* the lock; -1: there was nothing to take */
};

#define AB_NEXT_NONE        \
	{                   \
		.claim = -1 \
	}

/*
 * For a run with these settings. Takes nothing where nothing is to be writable
 * (--read-only); one that cannot be taken is noted, and no reason not to
 * start.
 */
void ab_next_run_take(const struct ab_policy_input *in, int64_t now, struct ab_next_run *ret,
		      struct ab_strv *notes);
/* The command is about to start: they are used up. */
int ab_next_run_use(int state, int64_t now, struct ab_next_run *next, struct ab_error *err);
/* It did not, after all: they are for the next run again. */
int ab_next_run_return(int state, int64_t now, const struct ab_next_run *next,
		       struct ab_error *err);
void ab_next_run_fini(struct ab_next_run *next);

#endif
