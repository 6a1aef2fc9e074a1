#pragma once
/*
 * The store of kept layers: what a box wrote above the host's files, kept for
 * the next run of the same name, for review, or both. All layers that belong
 * together are one set, a folder of the state folder:
 *
 *	layers/KEY/		0700
 *	  meta.json		what the set is (layer/store/meta.h)
 *	  lock			locked (flock) while a box uses the set, or a command
 *				works on it or looks at it. Supervisor and broker hold
 *				the same lock: the kernel releases it with the last of
 *				them. Who only looks has the folder KEY locked, too
 *	  home/upper, home/work		the layer above the home folder
 *	  project/upper, project/work	the layer above the workspace, for review
 *	  project/copy			or a full copy of it
 *	  undo/			what the last apply replaced
 *
 * KEY is the name of `--name NAME`; `@PROFILE` for an agent profile; `@dir-HASH`
 * for a workspace (filesystem.home "kept"); the id of the run for `--review`
 * without a name.
 *
 * The box wrote everything in upper, copy and work, so it is hostile: nothing
 * here opens a path in it through a link, enters another file system, or stops
 * at a folder that is closed to its owner. Only agentbox writes the other
 * files, but a set with a wrong owner or mode or a damaged meta.json is an
 * error, and nothing in it is used.
 */
#include "base/base.h"
#include "layer/store/meta.h"

#define AB_LAYERS_FOLDER "layers" /* in the state folder */
enum { AB_LAYER_KEY_MAX = 48 };

/* Where the state folder is. Neither is owned. */
struct ab_layer_store {
	int root;	  /* the state folder */
	const char *path; /* its real path */
};
/* Of a struct ab_state *. */
#define AB_LAYER_STORE(state) \
	(&(const struct ab_layer_store){ .root = (state)->root, .path = (state)->path })

struct ab_layer_set {
	char *key;
	char *path; /* real path of the folder, to show and to mount */
	int dir;
	int lock;   /* -1: not locked by us */
	bool fresh; /* it has no meta.json yet: created by this call, or by a killed run */
	struct ab_layer_meta meta;
};

#define AB_LAYER_SET_NONE             \
	{                             \
		.dir = -1, .lock = -1 \
	}

/* How to open a set. TRY and LOOK go with LOCK. */
enum {
	AB_LAYERS_CREATE = 1,  /* create the set if it does not exist */
	AB_LAYERS_LOCK = 2,    /* lock it; waits for a moment if another process has it */
	AB_LAYERS_TRY = 4,     /* do not wait for one who uses it */
	AB_LAYERS_LOOK = 8,    /* only look: others wait for us; with TRY, wait for nobody */
	AB_LAYERS_UNREAD = 16, /* also a set that cannot be read, to remove it */
};

/*
 * Open a set and read its meta.json. Fails with err->errnum ENOENT if there is no such set, and
 * EWOULDBLOCK if another process has locked it; the text then names the run and the hint what to
 * do. Without LOCK nothing protects the set from changes by others.
 */
int ab_layers_open(const struct ab_layer_store *store, const char *key, unsigned how,
		   struct ab_layer_set *ret, struct ab_error *err);
/* A set for one run, that no name leads to: locked, and fresh for as long as it lives. What a killed
 * run left of it is removed by ab_layers_sweep(). */
int ab_layers_open_private(const struct ab_layer_store *store, struct ab_layer_set *ret,
			   struct ab_error *err);
void ab_layer_set_fini(struct ab_layer_set *set);
#define ab_autolayerset __attribute__((cleanup(ab_layer_set_fini)))

/* Is it used, by a box or by a command that does not only look? */
bool ab_layer_set_busy(const struct ab_layer_set *set);

/* Let others have a set that we have locked, and take it again. False: another one uses it now, or
 * has removed it. */
void ab_layer_set_unlock(const struct ab_layer_set *set);
bool ab_layer_set_lock_again(const struct ab_layer_store *store, const struct ab_layer_set *set);

/* Replace meta.json at once; the set must be locked. */
int ab_layer_set_save(struct ab_layer_set *set, struct ab_error *err);

/*
 * Create `kind` ("home", "project") with upper and work, if they are missing. upper gets the mode
 * of `real`, the folder that it will lie above. *ret_upper, *ret_work: their paths, to mount; free
 * them.
 */
int ab_layer_set_make(struct ab_layer_set *set, const char *kind, int real, char **ret_upper,
		      char **ret_work, struct ab_error *err);
/* Open a part of the set ("home/upper", "project/copy", "undo") for reading or O_PATH: beneath it,
 * without links. -1 with errno: ENOENT if there is none. */
int ab_layer_set_open(const struct ab_layer_set *set, const char *part, int flags);
/* Remove a part ("project", "undo"). It is renamed first, so no reader sees half of it. */
int ab_layer_set_drop(struct ab_layer_set *set, const char *part, struct ab_error *err);

/* Was an apply or an undo killed? Then host files may be half changed, and the set has the others
 * (layer/journal/plan.h). */
bool ab_layer_set_interrupted(const struct ab_layer_set *set);

/* Are there changes to the workspace that were neither applied nor discarded? meta.waiting says it;
 * if that is unknown: is there anything in project/? */
bool ab_layer_set_waiting(const struct ab_layer_set *set);

/*
 * What the set takes on the disk, as du(1) counts it. Bounded: `cut` says that there may be more.
 * In a set that we have locked, folders that are closed to their owner are opened for a moment.
 */
enum { AB_LAYER_ENTRIES_MAX = 1 << 20 };
struct ab_layer_size {
	uint64_t bytes;
	uint64_t entries;
	bool cut;
};
void ab_layer_set_size(const struct ab_layer_set *set, uint64_t most_entries,
		       struct ab_layer_size *ret);
/* The same for a folder in a set. `may_open_closed`: also such folders. */
void ab_layer_size_of(int dir, bool may_open_closed, uint64_t most_entries,
		      struct ab_layer_size *ret);

/* Keys. */
bool ab_layer_key_valid(const char *key);
char *ab_layer_key_profile(const char *profile);     /* "@PROFILE" */
char *ab_layer_key_workspace(const char *workspace); /* "@dir-HASH" */

/* The keys of all sets, sorted. A set that cannot be read is in the list too. */
int ab_layers_list(const struct ab_layer_store *store, struct ab_strv *ret, struct ab_error *err);

/*
 * The set that a person means: a key (a name, `@profile`, a run's id), or the id of a run that used
 * it. With NULL: the newest one that has changes waiting for the folder `cwd` or one above it.
 * `how` as for ab_layers_open(), without CREATE.
 */
int ab_layers_find(const struct ab_layer_store *store, const char *which, const char *cwd,
		   unsigned how, struct ab_layer_set *ret, struct ab_error *err);

/*
 * Remove a set, which the caller has locked, and everything in it. Removes no file outside: links
 * are removed and never followed, other file systems are not entered. set->dir and set->lock are
 * closed afterwards.
 */
int ab_layers_remove(const struct ab_layer_store *store, struct ab_layer_set *set,
		     struct ab_error *err);
/* The same in two steps, for a caller with little time: take the set out of sight, and remove up to
 * `budget` entries of such sets. True: there are more. */
int ab_layers_retire(const struct ab_layer_store *store, struct ab_layer_set *set,
		     struct ab_error *err);
bool ab_layers_sweep(const struct ab_layer_store *store, size_t budget);
