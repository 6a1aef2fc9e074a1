#pragma once
/* Shared by the files of `diff`. */
#include "base/base.h"
#include "steer/changes/diff.h"

struct ab_found_run;
struct ab_label_hits;

/* Where the output goes: in pieces, so that memory does not grow with it. */
struct ab_diff_out {
	ab_diff_put_fn *put;
	void *arg;
	struct ab_buf b;
	bool closed; /* nobody reads it any more */
};
void ab_diff_flush(struct ab_diff_out *out, bool all);

/* Is a change with these labels in the part that is asked for? */
bool ab_diff_wants_labels(const struct ab_diff_request *request, const struct ab_label_hits *hits);

/* run_changes.c: a run without a layer; `state` is the path of the state folder. */
int ab_diff_run(const struct ab_policy_input *input, const struct ab_diff_request *request,
		const struct ab_found_run *run, const char *state, struct ab_diff_out *out,
		struct ab_diff_report *report, struct ab_error *err);
