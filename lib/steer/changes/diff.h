#pragma once
/*
 * `diff`: shows what a layer would change on the host. Nothing on the host is changed,
 * except that an apply that was interrupted is completed or taken back first.
 *
 * For a run without a layer above its workspace it shows what is known without one
 * (steer/changes/run_changes.c).
 */
#include "base/base.h"
#include "layer/diff/show.h"

struct ab_policy_input;

enum ab_diff_form { AB_DIFF_PATCH, AB_DIFF_STAT, AB_DIFF_JSON, AB_DIFF_HTML };
enum ab_diff_part { AB_DIFF_ALL, AB_DIFF_LABELLED, AB_DIFF_SAFE };

struct ab_diff_request {
	/* The run, name or @profile, then paths. With `settled` the first word is the former
	 * (or there are no such words: `which` NULL); else it may be a path. */
	const char *which;
	const char *const *paths;
	size_t npaths;
	bool settled;
	bool home; /* the layer above the home folder */
	enum ab_diff_form form;
	enum ab_diff_part part;
	bool hunks; /* with JSON */
	struct ab_show_style style;
};

/* Takes output; -1: nobody reads it any more. */
typedef int ab_diff_put_fn(void *arg, const char *data, size_t len);

struct ab_diff_report {
	struct ab_show_totals totals;
	struct ab_strv notes; /* sentences for standard error */
	struct ab_strv roots; /* folders that the box could write, before the first output */
	bool unmatched;	      /* nothing changed at the paths */
};

void ab_diff_report_fini(struct ab_diff_report *report);

int ab_diff(const struct ab_policy_input *input, const struct ab_diff_request *request,
	    ab_diff_put_fn *put, void *arg, struct ab_diff_report *ret, struct ab_error *err);

/* The same as a whole file, which is replaced at once. */
int ab_diff_save(const struct ab_policy_input *input, const struct ab_diff_request *request,
		 const char *file, struct ab_diff_report *ret, struct ab_error *err);
