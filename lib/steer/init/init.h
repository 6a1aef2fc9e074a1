#pragma once
/*
 * `init`: a project's first .agentbox.json. The workspace is hostile: the names of its
 * files and the host of its git remote select built-in presets
 * (policy/toolchains/toolchains.h), and nothing in it is run.
 *
 * An existing file is kept; what is missing is added to its list `with`. One that is not
 * trusted is not trusted by init: the user has not seen it.
 */
#include "base/base.h"
#include "policy/layers/trust.h"

struct ab_policy_input;

struct ab_init_plan {
	struct ab_strv presets;	   /* detected */
	struct ab_strv evidence;   /* for each of them: a file, or the host of the git remote */
	struct ab_strv registries; /* hosts that the user's own settings of the tools name */
	struct ab_strv agents;	   /* agents in use: their programs, or their hooks' names */
	struct ab_strv keys;	   /* variables that could be secrets (policy/show/summary.h) */
	struct ab_strv hooks;	   /* for each of them: the name for `hook install`, or "" */
	char *path;		   /* of the file */
	char *before;		   /* its text; NULL: it does not exist */
	char *after;		   /* its new text; NULL: there is nothing to add */
	struct ab_strv diff;	   /* "+line", safe to print */
	enum ab_trust_state trust; /* of `before` */
};

/* Only reads. Fails if the workspace is not a project (a home folder), or if its settings file has
 * mistakes. */
int ab_init_look(const struct ab_policy_input *in, struct ab_init_plan *ret, struct ab_error *err);
void ab_init_plan_fini(struct ab_init_plan *plan);

/* May the new text be trusted once it is written? */
bool ab_init_trusts(const struct ab_init_plan *plan);

/* Write the new text, unless the file has changed since, and record the trust in it. Links are not
 * followed. */
int ab_init_write(const struct ab_policy_input *in, const struct ab_init_plan *plan,
		  struct ab_error *err);

/* Write a new settings file of the project, which is not trusted. Fails if there is one. */
int ab_init_create(const struct ab_policy_input *in, const char *text, char **ret_path,
		   struct ab_error *err);

/* What was detected, for people and as members of a JSON object. */
char *ab_init_text(const struct ab_init_plan *plan);
char *ab_init_json(const struct ab_init_plan *plan);
