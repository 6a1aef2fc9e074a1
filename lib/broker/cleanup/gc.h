#pragma once
/*
 * Removes ended runs (runs/ID in the state folder, state/state.h) by
 * age, counted from the end of the run, and by number.
 *
 * A run is removed in two steps, so that no reader sees half of one: its folder
 * is renamed to .gone-ID and then emptied, as are those that an earlier gc did
 * not finish. Links are removed and never followed. Several processes may do
 * this at once.
 */
#include "base/base.h"

struct ab_policy_input;
struct ab_policy;

#define AB_GC_ALL UINT64_MAX
/* A file in the folder of a run that a host tool is. A box starts as many of those as it likes, so they
 * are counted on their own: they must not push out the records of other runs. */
#define AB_GC_TOOL_MARK "tool"

struct ab_gc_rule {
	uint64_t keep_ms;   /* remove older ones; AB_GC_ALL: keep all */
	uint64_t keep_runs; /* keep this many of the newest, and as many of tools */
	bool quarantine;    /* also runs with files in quarantine */
	bool dry;	    /* remove nothing, only report */
};

/* What a policy keeps. */
struct ab_gc_rule ab_gc_rule_of(const struct ab_policy *policy);

struct ab_gc_report {
	struct ab_strv removed; /* ids */
	size_t kept;
	size_t quarantined; /* of the kept ones, those kept only for their quarantine */
	size_t failed;	    /* could not be removed */
};

void ab_gc(int runs, const struct ab_gc_rule *rule, struct ab_gc_report *ret);
void ab_gc_report_fini(struct ab_gc_report *report);

/*
 * The same in two steps, for a caller with little time: list the names of folders that are due, the
 * oldest last, and remove one of them. `ret` also gets the remains of earlier ones. A run with a
 * quarantine is listed, and kept by the second step.
 */
void ab_gc_due(int runs, const struct ab_gc_rule *rule, struct ab_strv *ret);
void ab_gc_remove_due(int runs, const char *name);
