#pragma once
/*
 * A claim on a folder of the host, while one of our commands changes files in it (apply, undo,
 * restore). It excludes other claims, and boxes that can write there.
 *
 * It is a lock (flock) on the file "claim" in the state folder, which the kernel releases with the
 * process. Both sides announce themselves before they look for the other one, so that at least one
 * of them sees the other:
 *
 *	claim	locks the file, then looks for active runs that can write there
 *	run	writes its start record, then looks for the lock
 *
 * The file contains the folder, so that a run elsewhere need not wait. No safety depends on it: if
 * a run reads an old path, the claim has not looked for runs yet.
 *
 * A claim that begins and ends while a run is being planned would be missed: the run then protects
 * what it saw before. So claims are counted and listed in the file "claims", and a run compares the
 * count before it looks at its folders with the one after its start record is written.
 */
#include "base/base.h"
#include "layer/journal/host_guard.h"

struct ab_state;

struct ab_claim {
	struct ab_host_guard guard; /* the first member */
	const struct ab_state *state;
	const char *own; /* the id of a run whose box is gone, or NULL */
	char busy[8];	 /* the run that was in the way of the last try, or "" */
	bool hasty;	 /* do not wait for another claim */
	bool unlisted;	 /* a run that is being planned looks for the change itself */
	bool used;	 /* it was taken at least once, and listed */
	int lock;
};
#define AB_CLAIM_NONE      \
	{                  \
		.lock = -1 \
	}

/* `state` and `own` outlive the claim. */
void ab_claim_init(struct ab_claim *ret, const struct ab_state *state, const char *own);
/* Waits for another claim, for some seconds. `paths` as in struct ab_host_guard. */
int ab_claim_take(struct ab_claim *claim, const char *root, const struct ab_strv *paths,
		  struct ab_error *err);
void ab_claim_release(struct ab_claim *claim);

/* For a run that will write to `roots`. Before it looks at them: wait for a claim, for some seconds;
 * `tell` gets a sentence once if it has to. *ret_seen: how many claims there were until now. */
int ab_claim_wait(const struct ab_state *state, const struct ab_strv *roots,
		  void (*tell)(void *arg, const char *text), void *arg, uint64_t *ret_seen,
		  struct ab_error *err);
/* After its start record is written: fail if there is one, or was one after the first `seen`. */
int ab_claim_check(const struct ab_state *state, const struct ab_strv *roots, uint64_t seen,
		   struct ab_error *err);
