#ifndef AB_SESSION_CLEANUP_LEFTOVERS_H
#define AB_SESSION_CLEANUP_LEFTOVERS_H
/*
 * What a run left in the workspace, told to people, and the sweep for a run
 * that could not clean up behind itself: its record says which folders it
 * watched, and what appeared there is moved to its quarantine.
 */
struct ab_quarantine;
struct ab_run;
struct ab_state;
struct ab_strv;

/* The quarantine's report as sentences. */
void ab_leftovers_lines(const struct ab_quarantine *quarantine, const struct ab_run *run,
			struct ab_strv *ret);

/* Sweep for every dead run; what was found, as sentences. */
void ab_leftovers_stale(const struct ab_state *state, struct ab_strv *notes);

#endif
