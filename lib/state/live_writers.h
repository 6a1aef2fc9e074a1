#pragma once
/*
 * Which active run can write to a place of the host? Its programs could change a file between a
 * check and its use.
 */
#include "base/base.h"

struct ab_state;

struct ab_writer_search {
	const char *root; /* a real path */
	/* Paths in it; NULL: everything in it. A run that can write to the root itself always
	 * counts. */
	const struct ab_strv *paths;
	const char *except; /* the id of a run that does not count, or NULL */
};

/* ret_run is its id. A run whose record cannot be read counts as one; "?": not all runs could be looked
 * at. */
bool ab_find_live_writer(const struct ab_state *state, const struct ab_writer_search *search,
			 char ret_run[8]);
/* Fail because of it. */
int ab_fail_live_writer(const char *place, const char *run, struct ab_error *err);
