#pragma once
/*
 * `agentbox gc`: remove the records of old runs (broker/cleanup/gc.h) and old kept
 * layers (broker/cleanup/gc_layers.h) on request.
 */
#include "broker/cleanup/gc.h"
#include "broker/cleanup/gc_layers.h"

struct ab_gc_request {
	const char *older; /* "30d", as typed; NULL: records.keepFor */
	const char *keep;  /* "100", as typed; NULL: records.keepRuns */
	bool quarantine;   /* also runs whose quarantine holds something */
	bool layers;	   /* also layers with changes to apply */
	bool dry;	   /* remove nothing, only report */
};

struct ab_gc_done {
	struct ab_gc_report runs;
	struct ab_gc_layers_report layers;
};

/* Cleans up after killed runs first, and reports that in `notes`. */
int ab_gc_run(const struct ab_policy_input *input, const struct ab_gc_request *request,
	      struct ab_gc_done *ret, struct ab_strv *notes, struct ab_error *err);
void ab_gc_done_fini(struct ab_gc_done *done);
