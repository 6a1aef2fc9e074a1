#pragma once
/*
 * `allow` and `deny`: decide about a host or a path, for a live run, for the next
 * one, or for every run.
 *
 *	permit.c	what the argument means, and which run; command lines
 *	permit_host.c	hosts and denials, in a live run
 *	permit_path.c	paths, for the next run
 *	permit_always.c	settings of the user or of the project, also protected names
 */
#include "base/base.h"

struct ab_policy_input;

struct ab_permit {
	const struct ab_policy_input *input;
	const char *what; /* ID, DOMAIN or PATH, as typed */
	const char *run;  /* id or name; NULL: the run of the denial, else
				 * the only live one */
	bool deny;
	bool always;	    /* also in the settings that decide: the user's, or the project's */
	bool user, project; /* in these settings; implies `always`, unless `undo` */
	bool undo;	    /* only remove it from the settings */
	uint64_t for_ms;    /* 0: as long as the run lasts */
};

struct ab_permitted {
	char run[8];		/* the live run that changed, or "" */
	struct ab_strv entries; /* the hosts, as entries of a list */
	uint64_t released;	/* waiting connections that were released */
	char *path;		/* for the next run, or NULL */
	char *workspace;	/* whose next run may write the path; NULL: only
				 * the settings changed */
	char *command;		/* starts the run again, or NULL */
	char *file;		/* the settings file that was read, or NULL */
	struct ab_strv diff;	/* the change to it, safe to print */
	struct ab_strv said;	/* what was done, as sentences */
	struct ab_strv notes;	/* what else is worth knowing */
};

/* The host, group or real path that it would open, if no run was denied that, or waits for it; free it. Then
 * a person may have copied the command from output that only looks like agentbox's own. */
char *ab_permit_unasked(const struct ab_permit *permit);
/* The id of a denial, in the newest run that has one, which `allow` by id would lift with this host or real
 * path; free it. NULL: there is none. */
char *ab_permit_denial_of(const struct ab_policy_input *input, const char *what);
/* A path without links; what does not exist is added to the real path of the rest. */
char *ab_permit_real_path(const char *path);

/* On failure *ret says what was done before. */
int ab_permit(const struct ab_permit *permit, struct ab_permitted *ret, struct ab_error *err);
char *ab_permitted_json(const struct ab_permit *permit, const struct ab_permitted *permitted);
void ab_permitted_fini(struct ab_permitted *permitted);
