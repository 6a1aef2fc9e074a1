#ifndef AB_STEER_RUNS_GC_COMMAND_H
#define AB_STEER_RUNS_GC_COMMAND_H
/*
 * `agentbox gc`: remove the records of old runs (session/cleanup/gc.h) on request.
 */
#include "session/cleanup/gc.h"

struct ab_gc_request {
	const char *older; /* "30d", as typed; NULL: records.keepFor */
	const char *keep;  /* "100", as typed; NULL: records.keepRuns */
	bool quarantine;   /* also runs whose quarantine holds something */
	bool dry;	   /* remove nothing, only report */
};

/* Cleans up after killed runs first, and reports that in `notes`. */
int ab_gc_run(const struct ab_policy_input *input, const struct ab_gc_request *request,
	      struct ab_gc_report *ret, struct ab_strv *notes, struct ab_error *err);

#endif
