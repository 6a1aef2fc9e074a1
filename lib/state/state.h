#pragma once
/*
 * The state directory: the only place on the host where we leave files.
 *
 *	live/ID/	an active run; the supervisor and the broker lock its
 *			directory (flock). The kernel releases the lock with the
 *			last of them, so a dead run is recognized without
 *			guessing from pids and start times
 *	live/.ID/	the same for a box that waits for its command: no command
 *			lists it, and nothing of it counts
 *	runs/ID/	a run that has ended
 *	  audit.jsonl	its record (audit/write/log.h): the resolved policy and
 *			what to sweep, what was proved, what happened, how it
 *			ended. One file, because each file costs every run time
 *	  control	the socket of an active run, once it has lasted a moment
 *			(session/control/control_socket.h)
 *	  NNNN-NAME	a file that was moved to quarantine
 *	layers/KEY/	layers that outlive their runs (layer/store/store.h): what
 *			boxes wrote above the home folder, or above a workspace
 *			until it is applied. KEY is the name of a run, the profile
 *			of an agent, or the id of a run that has no name. Locked
 *			by the supervisor and the broker of the run that uses it
 *	told-ENGINE	the user was told what boxes of this engine lack
 *	record.key	signs records (audit/write/seal.h); record.pub is its
 *			public half
 *	placeholders.key, placeholders.rotated
 *			placeholders of secrets are derived from them
 *			(secrets/placeholder_seed.c)
 *	oauth/		refresh tokens that a service replaced by others
 *			(secrets/tokens/token_store.h)
 *	claim		while a command changes files of the host (claim.h)
 *
 * All of it is 0700/0600 and private to the user; the box sees none of it.
 */
#include <jansson.h>

#include "base/base.h"

#define AB_CONTROL_NAME "control" /* in an active run's folder */

struct ab_survey;

struct ab_state {
	char *path; /* real path of the directory */
	int root;
	int live, runs;
};

/* clang-format off */
#define AB_STATE_NONE { .root = -1, .live = -1, .runs = -1 }
/* clang-format on */

/* Creates what is missing; refuses a directory that others can write to. */
int ab_state_open(const char *path, struct ab_state *ret, struct ab_error *err);
void ab_state_fini(struct ab_state *state);
/* For a new run: can its record be moved to runs/ in the end? */
int ab_state_check_writable(const struct ab_state *state, struct ab_error *err);
/* The same, and what ab_state_open() checks, of one that was opened a while ago. */
int ab_state_check(const struct ab_state *state, struct ab_error *err);

struct ab_run {
	const struct ab_state *state;
	char id[8];
	int dir; /* live/ID */
};

/* A short, typable name. */
int ab_run_pick_id(char ret_id[8], struct ab_error *err);
/* An id that no active or kept run has, nor a kept layer. */
int ab_state_pick_id(const struct ab_state *state, char ret_id[8], struct ab_error *err);
/* Create and lock the directory of a new run. */
int ab_run_create(const struct ab_state *state, const char *id, struct ab_run *ret,
		  struct ab_error *err);
/* The same for a run that may come: nobody sees it before it appears. */
int ab_run_reserve(const struct ab_state *state, const char *id, struct ab_run *ret,
		   struct ab_error *err);
int ab_run_appear(const struct ab_run *run, struct ab_error *err);
/* It does not come, or has not begun: remove its folder. */
void ab_run_forget(const struct ab_run *run);
/* The run has ended: live/ID becomes runs/ID. */
void ab_run_retire(struct ab_run *run);
void ab_run_fini(struct ab_run *run);

/* Runs whose processes all died without cleaning up: calls back for each, with its directory
 * locked; retires it afterwards, unless something is left for the next start (false). */
typedef bool (*ab_stale_fn)(struct ab_run *run, void *arg);
void ab_state_each_stale(const struct ab_state *state, ab_stale_fn fn, void *arg);

/* Calls back for each active run, its directory open and not locked; the callee may take it over
 * (ab_run_fini). -1: there may be more. */
typedef void (*ab_live_fn)(struct ab_run *run, void *arg);
int ab_state_each_live(const struct ab_state *state, ab_live_fn fn, void *arg);

/* The directory of an active run, by its id or its name; with NULL, of the only one. Nothing is
 * locked or changed. */
int ab_state_find_live(const struct ab_state *state, const char *run, struct ab_run *ret,
		       struct ab_error *err);

/* Its start record (json_decref() it); NULL: it has none yet. */
json_t *ab_run_start(const struct ab_run *run);
/* Has its record an end, and was its workspace swept? Then files that have appeared since are not the
 * run's, and nothing is left but its folder and its cgroup. */
bool ab_run_ended(const struct ab_run *run);
/* What its survey noted (workspace/quarantine/journal.h). -1: the record does not say. */
int ab_run_survey(const json_t *start, struct ab_survey *ret);
/* The name in its start record, or NULL. Free it. */
char *ab_run_name(const struct ab_run *run);
/* Does its box stay after its command (run --keep, run -d)? */
bool ab_run_stays(const struct ab_run *run);
/* Is it a tool that the box of another run has called? Nobody means it without its id. */
bool ab_run_is_tool(const struct ab_run *run);
/* Can a new run have this name? Letters, digits, - _ and ., at most 32, the first a letter, a digit
 * or _; and no active run has it already. */
int ab_state_check_name(const struct ab_state *state, const char *name, struct ab_error *err);
/* The same, and no other run gets a name until *ret_lock is closed: write the start record
 * meanwhile. */
int ab_state_claim_name(const struct ab_state *state, const char *name, int *ret_lock,
			struct ab_error *err);
