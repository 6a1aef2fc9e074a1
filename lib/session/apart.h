#ifndef AB_SESSION_APART_H
#define AB_SESSION_APART_H
/*
 * A run in a child of ours, for a caller that has more to do when it is over:
 * ab_run() makes the process that calls it the run's supervisor for good.
 *
 * What the run says comes to the request's `say` in this process. Signals that
 * come meanwhile are passed on; when the child is stopped, so are we. Dies
 * this process, so does the run.
 */
#include <stddef.h>
#include <stdint.h>

#include "session/result.h"

struct ab_error;
struct ab_request;

struct ab_apart {
	char *result;			/* a JSON object, session/result.h */
	struct ab_stream out, err;	/* what was captured */
};

/*
 * As ab_run(); the request's own `result` must be NULL. `capture` is how much
 * of each stream is kept; 0: they are the caller's own. Captured, a terminal is
 * not the command's standard input. *ret is filled in any case, whatever is
 * returned.
 */
int ab_run_apart(const struct ab_request *request, uint64_t capture,
		 struct ab_apart *ret, int *ret_status, struct ab_error *err);
void ab_apart_fini(struct ab_apart *apart);

#endif
