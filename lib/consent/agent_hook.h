#pragma once

#include "base/base.h"
#include "policy/layers/layers.h"

/*
 * Answers an agent that is about to run a command: event in, answer out. A
 * permitted command is rewritten to run in the box, if the agent supports that
 * and does not run in a box itself.
 */
struct ab_hook_request {
	struct ab_policy_input policy;
	const char *agent; /* "claude-code" */
	const char *event;
	size_t event_len;
	bool no_box;		    /* judge only, rewrite nothing */
	const char *approver;	    /* a program to ask first, or NULL */
	const char *const *options; /* for `run` in the rewritten command */
	size_t noptions;
};

struct ab_hook_reply {
	char *out;  /* for standard output, or "" */
	char *say;  /* for standard error, or "" */
	int status; /* exit status */
};

/* The name of a supported agent, by either of its names; NULL: unknown. */
const char *ab_hook_agent(const char *name);

/* It replies within this time, which is less than any agent waits unless its user says so. */
enum { AB_HOOK_DEADLINE_S = 15 };

int ab_hook(const struct ab_hook_request *request, struct ab_hook_reply *ret, struct ab_error *err);
void ab_hook_reply_fini(struct ab_hook_reply *reply);

/*
 * Adds the hook to an agent's settings, or removes it. `plan` only reads; `apply`
 * writes the plan's text, unless the file has changed since.
 */
struct ab_hook_plan {
	char *path;	      /* the settings file; absolute */
	char *top;	      /* below it no link is followed; NULL: links are the user's own */
	char *before, *after; /* its text; "": the file does not exist; after NULL: no change */
	const char *needs;    /* what its user has to do besides, or NULL */
	struct ab_strv diff;  /* safe to print; empty: no change */
};

int ab_hook_plan(const struct ab_hook_request *request, bool project, bool remove,
		 struct ab_hook_plan *ret, struct ab_error *err);
/* Refuses while a run can write to the file's folder. */
int ab_hook_apply(const struct ab_policy_input *input, const struct ab_hook_plan *plan,
		  struct ab_error *err);
void ab_hook_plan_fini(struct ab_hook_plan *plan);

/*
 * Where the hook is installed, and what can be proved about it without the agent. With
 * `test`, its command is compared with the one that `hook install` writes, and an event
 * that must be denied is judged. Nothing is started.
 */
struct ab_hook_state {
	const char *agent, *title;
	char *path;		/* the settings file */
	bool project;		/* the one of the project in the current folder */
	bool installed;		/* for every event and tool that `hook install` adds it for */
	bool partial;		/* only for some, or under others */
	struct ab_strv proved;	/* whole sentences, safe to print */
	struct ab_strv lacking; /* likewise: why it does not work, or may not */
};

struct ab_hook_states {
	struct ab_hook_state *v;
	size_t len;
};

/* Of this agent, or of all (NULL). */
int ab_hook_survey(const struct ab_policy_input *input, const char *agent, bool test,
		   struct ab_hook_states *ret, struct ab_error *err);
void ab_hook_states_fini(struct ab_hook_states *states);
