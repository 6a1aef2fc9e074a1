#ifndef AB_SESSION_STATE_STATE_H
#define AB_SESSION_STATE_STATE_H
/*
 * The state directory: the one place on the host where we leave anything.
 *
 *	live/ID/	a run that is going on; its directory is locked (flock)
 *			by the supervisor and the broker, so a dead one is told
 *			from a live one without guessing at pids: the kernel
 *			gives the lock up with the last of them, which is more
 *			than a pid and the time of its start can say
 *	runs/ID/	a run that has ended
 *	  audit.jsonl	its record (audit/write/log.h): the policy as it was resolved
 *			and what to sweep, what was proved, what happened, how
 *			it ended. One file, because each costs every run
 *	  control	of a live one, once it has lasted a moment: the socket
 *			(session/control/control_socket.h)
 *	  NNNN-NAME	what was moved away from the workspace
 *
 * All of it is 0700/0600 and ours; the box sees nothing of it.
 */
#include <jansson.h>

struct ab_error;

#define AB_CONTROL_NAME "control" /* in a live run's folder */

struct ab_state {
	char *path; /* real path of the directory */
	int root;
	int live, runs;
};

/* Makes what is missing; refuses a directory that others can write. */
int ab_state_open(const char *path, struct ab_state *ret, struct ab_error *err);
void ab_state_fini(struct ab_state *state);

struct ab_run {
	const struct ab_state *state;
	char id[8];
	int dir; /* live/ID */
};

/* A short, typable name. */
int ab_run_pick_id(char ret_id[8], struct ab_error *err);
/* One that no live or kept run has. */
int ab_state_pick_id(const struct ab_state *state, char ret_id[8], struct ab_error *err);
/* Make and lock the directory of a new run. */
int ab_run_create(const struct ab_state *state, const char *id, struct ab_run *ret,
		  struct ab_error *err);
/* The run has ended: live/ID becomes runs/ID. */
void ab_run_retire(struct ab_run *run);
void ab_run_fini(struct ab_run *run);

/*
 * Runs whose processes are all gone without having cleaned up: calls back for
 * each, with its directory locked; it is retired afterwards.
 */
typedef void (*ab_stale_fn)(struct ab_run *run, void *arg);
void ab_state_each_stale(const struct ab_state *state, ab_stale_fn fn, void *arg);

/* Calls back for each run that is going on, its directory open and not
 * locked; the callee may take it over (ab_run_fini). */
typedef void (*ab_live_fn)(struct ab_run *run, void *arg);
void ab_state_each_live(const struct ab_state *state, ab_live_fn fn, void *arg);

/*
 * The directory of a run that is going on, by its id or its name; with NULL,
 * of the only one. Nothing is locked or changed.
 */
int ab_state_find_live(const struct ab_state *state, const char *run, struct ab_run *ret,
		       struct ab_error *err);

/* Its start record; NULL: it has none (yet). To be let go. */
json_t *ab_run_start(const struct ab_run *run);
/* The name in there, or NULL. Free it. */
char *ab_run_name(const struct ab_run *run);
/* May a new run be called that? Letters, digits, - _ and ., at most 32; and
 * no run that is going on is called so already. */
int ab_state_check_name(const struct ab_state *state, const char *name, struct ab_error *err);
/* The same, and nobody else is given a name until *ret_lock is closed: the
 * start record is to be written meanwhile. */
int ab_state_claim_name(const struct ab_state *state, const char *name, int *ret_lock,
			struct ab_error *err);

#endif
