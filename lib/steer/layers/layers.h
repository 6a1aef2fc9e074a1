#pragma once
/*
 * `agentbox layers`: the kept layers of all runs (layer/store/store.h), as a
 * list, removed, or brought up to date with the host. `which` is a name,
 * @profile, or the id of a run.
 */
#include "base/base.h"

struct ab_policy_input;

struct ab_layer_info {
	char *key;
	char *name, *profile, *workspace; /* or NULL */
	int64_t created_ms, used_ms;	  /* since 1970; 0: unknown */
	uint64_t bytes;
	bool more;	 /* at least so many bytes */
	bool busy;	 /* in use */
	char run[8];	 /* the last run that used it, or "" */
	bool home;	 /* has a home layer */
	bool undo;	 /* the last apply can be taken back */
	bool waiting;	 /* has changes that were neither applied nor discarded */
	bool gone;	 /* the workspace does not exist any more */
	int64_t changes; /* how many; -1: not counted */
	char *damaged;	 /* why it cannot be read, or NULL */
};

struct ab_layer_infos {
	struct ab_layer_info *v; /* the last used first */
	size_t len;
};

/* Without `sizes` they are all 0, and no layer is searched. */
int ab_layer_infos_get(const struct ab_policy_input *input, bool sizes, struct ab_layer_infos *ret,
		       struct ab_error *err);
void ab_layer_infos_fini(struct ab_layer_infos *list);

/* Pure: a table, safe to print, for a terminal of that many columns (0: no limit); or JSON. */
char *ab_layer_infos_text(const struct ab_layer_infos *list, int64_t now_ms, size_t columns);
/* `waiting`, for `ps --all`: only those that no run uses and that have changes to apply. The text is
 * "" if there are none. */
char *ab_layer_infos_json(const struct ab_layer_infos *list, bool waiting);
char *ab_layers_waiting_text(const struct ab_layer_infos *list, int64_t now_ms, size_t columns);

/*
 * Remove the layers. 1: they have changes to apply, and `force` is not set; nothing was removed, and
 * *ret_changes is their number or -1. 2: the same for files in a home layer. Fails if they are in
 * use. An interrupted apply is settled before; *notes says so.
 */
int ab_layers_rm(const struct ab_policy_input *input, const char *which, bool force,
		 int64_t *ret_changes, struct ab_strv *notes, struct ab_error *err);

/*
 * Let the host's files win over copies in the home layer: without paths, over those that the host
 * changed after the box did; with paths, over all that differ in these files and folders. What only
 * the layer has stays.
 */
struct ab_layers_refreshed {
	struct ab_strv paths; /* relative to home, raw bytes */
	struct ab_strv left;  /* could not be refreshed: PATH, then why, in turn */
	struct ab_strv notes; /* sentences: an interrupted apply was settled */
};
int ab_layers_refresh(const struct ab_policy_input *input, const char *which,
		      const char *const *paths, size_t npaths, struct ab_layers_refreshed *ret,
		      struct ab_error *err);
void ab_layers_refreshed_fini(struct ab_layers_refreshed *done);
