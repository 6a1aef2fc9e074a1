#ifndef AB_SESSION_CLEANUP_LEFTOVERS_H
#define AB_SESSION_CLEANUP_LEFTOVERS_H
/*
 * What a run left in the workspace, as text for people, and the sweep after a run that could not
 * clean up: its record lists the folders it watched, and protected files created there are moved to
 * its quarantine.
 */
struct ab_moved;
struct ab_quarantine;
struct ab_run;
struct ab_state;
struct ab_strv;

/* One object of the quarantine's report as a sentence. */
char *ab_leftovers_line(const struct ab_moved *moved, const struct ab_run *run);

/* The quarantine's report as sentences. Many objects with the same name are one sentence. */
void ab_leftovers_lines(const struct ab_quarantine *quarantine, const struct ab_run *run,
			struct ab_strv *ret);

/* Sweep for every run that was killed; *notes: the findings as sentences. */
void ab_leftovers_stale(const struct ab_state *state, struct ab_strv *notes);

#endif
