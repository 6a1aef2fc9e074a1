#pragma once
/*
 * Inside lib/policy: the steps of loading a policy, shared by its callers.
 */
#include "policy/layers/layers.h"
#include "policy/model/config.h"

/* The project file's text, as if it were trusted. */
struct ab_project {
	const char *text;
	size_t len;
};

struct ab_load {
	const struct ab_policy_input *in;
	struct ab_policy *policy;
	struct ab_arena *arena;
	const char *workspace; /* clean; where relative paths start */
	bool chosen;	       /* by --workspace */
	struct ab_strv *notes;
	struct ab_error *err;
};

int ab_load_init(struct ab_load *l, const struct ab_policy_input *in, struct ab_strv *notes,
		 struct ab_error *err);
/* For texts with paths that start at the workspace. */
struct ab_context ab_load_context(const struct ab_load *l);
/* All layers, with the real project file, or with this one (NULL: none). in->program is a file, or NULL. */
int ab_load_policy(const struct ab_policy_input *in, bool real, const struct ab_project *project,
		   struct ab_policy **ret_policy, struct ab_strv *ret_notes, struct ab_error *err);

/* Read one of the user's own files into a config; *ret_exists: is there one? ret_managed: see
 * ab_settings_file_parse(). */
int ab_load_file(struct ab_load *l, enum ab_layer layer, const char *path, struct ab_config *ret,
		 struct ab_config *ret_managed, bool *ret_exists);

/* Merge a profile and everything that it extends into base. */
int ab_load_profile(struct ab_load *l, const char *name, const struct ab_origin *from, int depth,
		    struct ab_config *base);

/* Replace "auto" in a list of presets by those of the workspace's lock files. */
void ab_load_resolve_auto(struct ab_load *l, struct ab_value *v);
/* Add what the presets of `with` stand for to the lists of the merged config. */
void ab_load_presets(struct ab_load *l);

/* Turn the merged config into the policy: add the protections that always
 * apply, and refuse a workspace that cannot have been meant. */
int ab_load_finish(struct ab_load *l);

/* The user file and whether it must exist; NULL: there is no folder for it. */
/* The text of the user's settings, if it was given in place of a file; else NULL. */
const char *ab_load_user_text(const struct ab_policy_input *in);
char *ab_load_user_path(const struct ab_policy_input *in, bool *ret_must);
