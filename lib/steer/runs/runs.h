#pragma once
/*
 * `ps` and `stop`: live runs, as their start records and supervisors describe
 * them. A supervisor has one second to answer. Texts come from the box or the
 * caller and may contain anything.
 */
#include "base/base.h"

struct ab_policy_input;

struct ab_run_command { /* in a box that stays */
	uint64_t number;
	struct ab_strv command;
	int64_t age_ms;
	bool detached; /* it has no client of its own */
	bool attached; /* a client is connected to it */
};

struct ab_run_info {
	char id[8];
	char *name; /* or NULL */
	struct ab_strv command;
	char *cwd, *profile; /* or NULL */
	char *home;	     /* what the home folder is in the box; NULL: it did not answer */
	char *review;	     /* "ask", "auto"; NULL: its changes are direct */
	int64_t pid;	     /* of its supervisor */
	int64_t age_ms;
	bool answered;		  /* the supervisor did; else unknown: */
	uint64_t allowed, denied; /* requests */
	uint64_t refused;	  /* denied requests, programs and files */
	uint64_t pending;	  /* open questions */
	bool heard;		  /* the ports are known */
	uint16_t *ports;
	size_t nports;
	struct ab_strv secrets; /* names */
	bool stays;		/* the box takes further commands; these run now: */
	struct ab_run_command *commands;
	size_t ncommands;
};

struct ab_run_list {
	struct ab_run_info *v; /* the oldest first */
	size_t len;
};

/* Cleans up after killed runs, as a new run does, and reports that in `notes`. */
int ab_runs_list(const struct ab_policy_input *input, struct ab_run_list *ret,
		 struct ab_strv *notes, struct ab_error *err);
void ab_run_list_fini(struct ab_run_list *list);

/* Pure: a table, safe to print, for a terminal of that many columns (0: no
 * limit); or JSON. */
char *ab_run_list_text(const struct ab_run_list *list, size_t columns);
char *ab_run_list_json(const struct ab_run_list *list);

/*
 * End runs: ask each to stop (TERM, then KILL after the grace period), and kill
 * a run that does not answer, by pidfd and never by pid. Returns when all have
 * ended. Without names, all runs. `slow` (or NULL) is called once if it takes
 * more than two seconds. *notes: sentences about changes that wait for a decision.
 */
#define AB_GRACE_MOST_MS 600000
struct ab_stop {
	const char *const *runs;
	size_t nruns;
	uint64_t grace_ms; /* at most AB_GRACE_MOST_MS */
	void (*slow)(void *arg, size_t left);
	void *arg;
};
/* *ended: the runs that have ended, as "dev (7kq2x)". */
int ab_runs_stop(const struct ab_policy_input *input, const struct ab_stop *how,
		 struct ab_strv *ended, struct ab_strv *notes, struct ab_error *err);
