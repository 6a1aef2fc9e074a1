#ifndef AB_STEER_CLEAR_H
#define AB_STEER_CLEAR_H
/*
 * Removing the records of old runs, as somebody asked for it (session/gc.h).
 */
#include "session/gc.h"

/* The settings count where the request says nothing, and dead runs are swept
 * first. */
struct ab_gc_request {
	const char *older, *keep;	/* as typed, or NULL: the settings */
	bool quarantine, dry;
};
int ab_gc_run(const struct ab_policy_input *input,
	      const struct ab_gc_request *request, struct ab_gc_report *ret,
	      struct ab_strv *notes, struct ab_error *err);

#endif
