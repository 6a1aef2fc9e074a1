#pragma once
/*
 * The whole journal: finish an apply, or take it back, completely. When one of these
 * returns, no half of an apply is left, unless an error says what stands in the way; the
 * next command on the set tries again.
 */
#include "base/base.h"

struct ab_layer_set;
struct ab_site;
struct ab_step_now;

/* Told after each step; may be NULL. */
struct ab_progress {
	void (*step)(void *arg, size_t done, size_t all);
	void *arg;
};

/*
 * Everything is staged and `ready` is written. Do the steps; if one fails, take all of
 * them back: then -1. The apply becomes undo/last. `fresh` as in ab_step_do().
 */
int ab_site_finish(struct ab_site *site, bool fresh, const struct ab_progress *progress,
		   struct ab_error *err);

/* Nothing is in place yet: remove what was staged and the journal. */
int ab_site_drop_staged(struct ab_site *site, struct ab_error *err);

/* Take undo/last back. `now` has one entry for each step. *notes: changed files that are beside their place
 * now; if it fails, they are in the hint. */
int ab_site_undo(struct ab_site *site, const struct ab_step_now *now,
		 const struct ab_progress *progress, struct ab_strv *notes, struct ab_error *err);

/* A file of the journal undo/NAME cannot be read, errno says why: say what it is for, and where the originals
 * are. -1. */
int ab_site_fail_unread(const struct ab_layer_set *set, const char *name, struct ab_error *err);
