#pragma once
/*
 * Rules for the next run in a workspace: files that a person allowed too late
 * for the active run, because a running box cannot be given more access.
 * They are in next.json in the state folder, which no box sees and no project
 * can write, and expire after AB_NEXT_DAYS.
 *
 * A run takes the rules of its workspace when it begins, and removes them when
 * its command starts. In between it holds a lock: if it fails or dies, the
 * rules are still there, and another run that begins meanwhile does not get
 * them too.
 */
#include "base/base.h"

struct ab_policy_input;

enum { AB_NEXT_MAX = 64, AB_NEXT_DAYS = 7 };

/* Times are seconds since 1970. *ret_had: the rule existed, and its age counts from now. */
int ab_next_run_add(int state, int64_t now, const char *workspace, const char *path, bool *ret_had,
		    struct ab_error *err);

struct ab_next_run { /* the rules that a run has taken */
	char *workspace;
	struct ab_strv write;
	int claim; /* the lock; -1: no rules taken */
};

#define AB_NEXT_NONE        \
	{                   \
		.claim = -1 \
	}

/* For a run with these settings. Takes nothing if the run must not write (--read-only). A rule that
 * cannot be taken becomes a note, and the run starts anyway. */
void ab_next_run_take(const struct ab_policy_input *in, int64_t now, struct ab_next_run *ret,
		      struct ab_strv *notes);
/* The paths that ab_next_run_take() would take. Changes nothing. */
void ab_next_run_peek(const struct ab_policy_input *in, int64_t now, struct ab_strv *ret_write);
/* The command is about to start: remove the rules. */
int ab_next_run_use(int state, int64_t now, struct ab_next_run *next, struct ab_error *err);
/* The command did not start: keep the rules for the next run. */
int ab_next_run_return(int state, int64_t now, const struct ab_next_run *next,
		       struct ab_error *err);
void ab_next_run_fini(struct ab_next_run *next);
