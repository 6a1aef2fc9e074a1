#pragma once
/*
 * The kept layers of a run (layer/store/store.h).
 *
 * A run with a name continues with the home layer of that name; an agent's profile has one for all
 * its runs, and filesystem.home "kept" one for each workspace. One run at a time writes to a layer:
 *
 *	--name NAME	a second run with this name does not start
 *	profile,	two agents at once are usual, so the second one starts, and nothing that it
 *	workspace	writes reaches the kept layer. It sees what is kept: below a temporary
 *			layer if the state folder is outside home; else in a copy, if that is
 *			small enough; else nothing of it. It is told which
 *
 * What is in a layer was written by another box, so it is hostile. It is mounted, and otherwise only
 * touched by descriptors.
 */
#include "base/base.h"
#include "layer/store/store.h"

struct ab_host_guard;
struct ab_policy;

struct ab_kept_layers {
	struct ab_layer_set set;     /* of the home layer; dir -1: none */
	struct ab_layer_set review;  /* of the workspace's layer, if it is another one */
	bool copy;		     /* `set` is a private copy: removed at the end */
	char *home;		     /* the real folder that the home layer lies above */
	char *upper, *work;	     /* to mount; NULL: the home layer is temporary */
	char *below;		     /* upper of a layer in use, to show below a temporary one */
	struct ab_strv points;	     /* folders of the home layer (layer/walk/points.h) */
	struct ab_strv placeholders; /* that may be in this layer, or in the copy of one */
};

#define AB_KEPT_LAYERS_NONE                                           \
	{                                                             \
		.set = AB_LAYER_SET_NONE, .review = AB_LAYER_SET_NONE \
	}

struct ab_kept_layers_wish {
	struct ab_layer_store store;
	const struct ab_policy *policy;
	struct ab_host_guard *guard; /* asked before an interrupted apply is completed */
	const char *name;	     /* of --name, or NULL */
	bool verbose;		     /* compare the layer with the host's files */
};

/* Pure: the key of the home layer that this run would keep; NULL: none. Free it. */
char *ab_kept_layers_key(const struct ab_policy *policy, const char *name);

/*
 * Find or create the set of this run's home layer, lock it, and fill `upper` and `work`; or `below`;
 * or nothing, if the run keeps nothing. `notes` are for the user, `details` for -v.
 */
int ab_kept_layers_take(const struct ab_kept_layers_wish *wish, struct ab_kept_layers *ret,
			struct ab_strv *notes, struct ab_strv *details, struct ab_error *err);
/* The box does not use the home layer after all: its home folder is the host's. A review may share
 * its set. */
void ab_kept_layers_leave_home(struct ab_kept_layers *kept, const struct ab_layer_store *store,
			       const struct ab_layer_set *review);

/* For --review: the set of the run's name, or one with the run's id. Locked; `kept` owns it. */
int ab_kept_layers_review(struct ab_kept_layers *kept, const struct ab_kept_layers_wish *wish,
			  const char *run_id, struct ab_layer_set **ret, struct ab_error *err);

/* The box is about to start: describe it in meta.json. */
int ab_kept_layers_begin(struct ab_kept_layers *kept, const struct ab_kept_layers_wish *wish,
			 const char *run_id, struct ab_error *err);

/* The descriptors that hold the locks, for the broker; -1: none. */
enum { AB_KEPT_LOCKS = 2 };
void ab_kept_layers_locks(const struct ab_kept_layers *kept, int ret[AB_KEPT_LOCKS]);

/* After the run: a sentence if there is no room left for the layers, else NULL. `review`: the set of
 * the workspace's layer, or NULL. Free it. */
char *ab_kept_layers_full(const struct ab_kept_layers *kept, const struct ab_layer_set *review);

/* Releases the locks; removes a private copy, and a set that no box has used. */
void ab_kept_layers_fini(struct ab_kept_layers *kept, const struct ab_layer_store *store);
