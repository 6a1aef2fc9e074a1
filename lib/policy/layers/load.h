#ifndef AB_POLICY_LAYERS_LOAD_H
#define AB_POLICY_LAYERS_LOAD_H
/*
 * Inside lib/policy: the parts of a load that its callers share.
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
/* All layers, with this project file (NULL: none) instead of the real one. */
int ab_load_all(const struct ab_policy_input *in, const struct ab_project *project,
		struct ab_policy **ret_policy, struct ab_strv *ret_notes, struct ab_error *err);

/* What messages call a file: from cwd, from "~", or absolute. */
char *ab_load_name(const struct ab_policy_input *in, const char *path);

/* One file into a config; *ret_exists says whether there is one. */
int ab_load_file(struct ab_load *l, enum ab_layer layer, const char *path, bool nofollow,
		 struct ab_config *ret, bool *ret_exists);

/* A profile and all that it extends, merged into base. */
int ab_load_profile(struct ab_load *l, const char *name, const struct ab_origin *from,
		    struct ab_config *base);

/* Turn what is in the store into the policy: protected for ever what must be,
 * and refuse a workspace that nobody can have meant. */
int ab_load_finish(struct ab_load *l);

/* The user file and whether it must exist; NULL when there is no place. */
char *ab_load_user_path(const struct ab_policy_input *in, bool *ret_must);

#endif
