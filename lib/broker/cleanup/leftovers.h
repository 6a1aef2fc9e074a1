#pragma once
/*
 * What a run left in the workspace, as text for people, and the sweep after a run that could not
 * clean up: its record lists the folders it watched, and protected files created there are moved to
 * its quarantine.
 */
#include "base/base.h"

struct ab_log_setup;
struct ab_moved;
struct ab_quarantine;
struct ab_run;
struct ab_state;

/* One object of the quarantine's report as a sentence. */
char *ab_leftovers_line(const struct ab_moved *moved, const struct ab_run *run);

/* The quarantine's report as sentences. Many objects with the same name are one sentence. */
void ab_leftovers_lines(const struct ab_quarantine *quarantine, const struct ab_run *run,
			struct ab_strv *ret);

/* Write the last line of a record whose supervisor is gone, and before it what was moved. Best effort. */
void ab_leftovers_record(const struct ab_run *run, const struct ab_log_setup *setup,
			 struct ab_buf *line);

/* Sweep for every run that was killed; *notes: the findings as sentences. */
void ab_leftovers_stale(const struct ab_state *state, struct ab_strv *notes);

/* Search the workspace of a run that has ended once more, without limits, for repositories that it made
 * and protected names. *ret: the findings as sentences; *ret_complete: every folder was searched. */
int ab_leftovers_scan(struct ab_run *run, struct ab_strv *ret, bool *ret_complete,
		      struct ab_error *err);
