#ifndef AB_SESSION_GC_H
#define AB_SESSION_GC_H
/*
 * What is kept of runs that are over, and its end: runs/ID in the state folder
 * (session/state.h), by age, counted from the end of the run, and by number.
 *
 * A run goes in two steps, so that nobody sees half of one: its folder becomes
 * .gone-ID, and then is emptied; what another one left like that, is too.
 * Links are removed and never followed. Several may do it at once.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strv.h"

struct ab_error;
struct ab_policy_input;
struct ab_state;

#define AB_GC_ALL UINT64_MAX

struct ab_gc_rule {
	uint64_t keep_ms;	/* older ones go; AB_GC_ALL: none is too old */
	uint64_t keep_runs;	/* so many of the newest stay */
	bool quarantine;	/* also those whose quarantine holds something */
	bool dry;		/* only say which */
	uint64_t ms;		/* stop after so long; 0: when all is done */
};

struct ab_gc_report {
	struct ab_strv removed;	/* ids */
	size_t kept;		/* runs that stay, */
	size_t quarantined;	/* and those of them that only their quarantine
				 * keeps */
	size_t failed;		/* could not be removed */
	bool cut;		/* there is more to do */
};

void ab_gc(int runs, const struct ab_gc_rule *rule, struct ab_gc_report *ret);
void ab_gc_report_fini(struct ab_gc_report *report);

/* gc_remove.c: the folder and everything in it; -1 with errno. */
int ab_gc_remove(int runs, const char *name);

#endif
