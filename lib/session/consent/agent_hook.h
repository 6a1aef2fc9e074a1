#ifndef AB_SESSION_CONSENT_AGENT_HOOK_H
#define AB_SESSION_CONSENT_AGENT_HOOK_H
#include <stdbool.h>
#include <stddef.h>

#include "base/data/strv.h"
#include "policy/layers/layers.h"

struct ab_error;

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

int ab_hook(const struct ab_hook_request *request, struct ab_hook_reply *ret, struct ab_error *err);
void ab_hook_reply_fini(struct ab_hook_reply *reply);

/*
 * Adds the hook to an agent's settings. `plan` only reads; `apply` writes the
 * plan's text, unless the file has changed since.
 */
struct ab_hook_plan {
	char *path;	      /* the settings file */
	char *before, *after; /* its text; before "": the file does not exist */
	struct ab_strv diff;  /* safe to print; empty: no change */
};

int ab_hook_plan(const struct ab_hook_request *request, bool project, struct ab_hook_plan *ret,
		 struct ab_error *err);
int ab_hook_apply(const struct ab_hook_plan *plan, struct ab_error *err);
void ab_hook_plan_fini(struct ab_hook_plan *plan);

#endif
