#pragma once
/*
 * Removes sets of kept layers (layer/store/store.h) by age, counted from their
 * last use, and by the space that all of them take: those that were not used
 * longest go first.
 *
 * A set that is in use is never removed, nor one with changes that were neither
 * applied nor discarded, unless the rule says so. Both count for the space.
 */
#include "base/base.h"

struct ab_layer_store;
struct ab_run;

struct ab_gc_layers_rule {
	uint64_t keep_ms;  /* remove older ones; UINT64_MAX: keep all */
	uint64_t max_size; /* bytes; UINT64_MAX: any */
	uint64_t entries;  /* to look at, all sets together: what is not looked at counts as 0 */
	bool waiting;	   /* also sets with changes to apply */
	bool dry;	   /* remove nothing, only report */
	bool late;	   /* only take them out of sight: ab_layers_sweep() does the rest */
};

struct ab_gc_layers_report {
	struct ab_strv removed; /* keys */
	struct ab_strv waiting; /* due, but kept for their changes */
	size_t kept;
	size_t failed;	      /* could not be removed */
	uint64_t freed, left; /* bytes */
};

void ab_gc_layers(const struct ab_layer_store *store, const struct ab_gc_layers_rule *rule,
		  struct ab_gc_layers_report *ret);
void ab_gc_layers_report_fini(struct ab_gc_layers_report *report);

/* Cleanup by a run's broker when it is idle (broker/cleanup/hourly.h): a look at all sets once an
 * hour, and some files each time. `most` as for ab_hourly_cleanup(): so many times a few files. */
void ab_gc_layers_hourly(const struct ab_run *run, size_t most);

/* Pure: what the policy in a start record keeps; -1: it has no policy. */
int ab_gc_layers_policy(const char *record, struct ab_gc_layers_rule *ret);
