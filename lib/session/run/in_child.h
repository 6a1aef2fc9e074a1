#pragma once
/*
 * A run in a child process, for a caller that continues afterwards: ab_run() would turn the
 * calling process into the run's supervisor.
 *
 * Messages of the run reach the request's `say` in this process. Signals are forwarded to the
 * child. If the child is stopped, so is this process; if this process dies, so does the run.
 */
#include "base/base.h"
#include "session/run/result_json.h"

struct ab_request;

struct ab_child_run {
	char *result;		   /* a JSON object, session/run/result_json.h */
	struct ab_stream out, err; /* captured output */
};

/*
 * Like ab_run(); the request's own `result` must be NULL. `capture` is how many bytes of each
 * output stream to keep; 0: the command gets the caller's streams. With `capture`, a terminal on
 * standard input is replaced by /dev/null. *ret is filled in even on failure: always call
 * ab_child_run_fini().
 */
int ab_run_in_child(const struct ab_request *request, uint64_t capture, struct ab_child_run *ret,
		    int *ret_status, struct ab_error *err);
void ab_child_run_fini(struct ab_child_run *child);
