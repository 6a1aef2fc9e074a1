#ifndef AB_SESSION_RUN_IN_CHILD_H
#define AB_SESSION_RUN_IN_CHILD_H
/*
 * A run in a child process, for a caller that has more to do afterwards:
 * ab_run() would make the calling process the run's supervisor for good.
 *
 * What the run says reaches the request's `say` in this process. Signals are
 * passed on to the child; if the child is stopped, so are we; if this process
 * dies, so does the run.
 */
#include <stddef.h>
#include <stdint.h>

#include "session/run/result_json.h"

struct ab_error;
struct ab_request;

struct ab_child_run {
	char *result;		   /* a JSON object, session/run/result_json.h */
	struct ab_stream out, err; /* what was captured */
};

/*
 * As ab_run(); the request's own `result` must be NULL. `capture` is how many
 * bytes of each output stream are kept; 0: the command has the caller's own
 * streams. With `capture`, /dev/null takes the place of a terminal on standard
 * input. *ret is filled in even on failure: always call ab_child_run_fini().
 */
int ab_run_in_child(const struct ab_request *request, uint64_t capture, struct ab_child_run *ret,
		    int *ret_status, struct ab_error *err);
void ab_child_run_fini(struct ab_child_run *apart);

#endif
