#ifndef AB_SESSION_CONSENT_AGENT_HOOK_H
#define AB_SESSION_CONSENT_AGENT_HOOK_H
#include <stdbool.h>
#include <stddef.h>

#include "base/data/strv.h"
#include "policy/layers/layers.h"

struct ab_error;

/*
 * Judge a command that an agent is about to run: its event in, our reply out. An
 * allowed command is rewritten to run in the box, if the agent supports that and
 * is not in a box itself.
 */
struct ab_hook_request {
	struct ab_policy_input policy;
	const char *agent; /* "claude-code" */
	const char *event; /* what it sent */
	size_t event_len;
	bool no_box;		    /* only judge, do not rewrite */
	const char *approver;	    /* a command to ask first, or NULL */
	const char *const *options; /* for the `run` in the new command */
	size_t noptions;
};

struct ab_hook_reply {
	char *out;  /* for standard output; "": nothing */
	char *say;  /* for standard error; "": nothing */
	int status; /* to exit with */
};

int ab_hook(const struct ab_hook_request *request, struct ab_hook_reply *ret, struct ab_error *err);
void ab_hook_reply_fini(struct ab_hook_reply *reply);

/* The supported agents: our names, and their product names. */
void ab_hook_agents(struct ab_strv *ret_names, struct ab_strv *ret_titles);

/*
 * Add the hook to an agent's settings. `plan` only reads; `apply` writes the plan,
 * unless the file has changed meanwhile.
 */
struct ab_hook_plan {
	char *path;	      /* of the settings */
	char *before, *after; /* their text; before "": there is no file */
	struct ab_strv diff;  /* the change, safe to print; empty: none */
};

int ab_hook_plan(const struct ab_hook_request *request, bool project, struct ab_hook_plan *ret,
		 struct ab_error *err);
int ab_hook_apply(const struct ab_hook_plan *plan, struct ab_error *err);
void ab_hook_plan_fini(struct ab_hook_plan *plan);

#endif
