#pragma once
/*
 * Takes changes of a layer over to the host, drops them, or takes an apply back.
 *
 * An apply is one transaction (layer/journal/plan.h): after SIGKILL at any moment the
 * next command that uses the set ends with the state before or the state after, never
 * with something between. If a step fails, everything is taken back.
 *
 * What was applied leaves the layer, so that the layer shows the host's file again; undo
 * puts it back. Where the layer contains everything (a copy, an opaque folder), it stays:
 * both sides are equal then.
 *
 * New files belong to the caller. Their mode is the layer's without set-id bits and
 * without bits of the umask that the host's file did not have; their modification time
 * is the layer's; extended attributes are not taken over. The caller has locked the set.
 */
#include "base/base.h"
#include "layer/journal/finish.h"
#include "layer/journal/stack.h"
#include "layer/journal/view.h"
#include "layer/walk/changes.h"

struct ab_host_guard;
struct ab_layer_set;
struct ab_layer_store;

/* What is to happen, and what happened, with one change. */
struct ab_pick {
	bool take;	  /* apply it */
	bool part;	  /* only a part: the host's file gets `content` */
	bool done;	  /* it was applied, or discarded */
	bool dropped;	  /* --ours: it was removed from the layer */
	const char *left; /* taken, but not done: why */
	char *content;
	size_t len;
};

struct ab_apply {
	struct ab_layer_set *set;
	struct ab_host_guard *guard; /* asked before files of the host are changed */
	bool labelled;		     /* changes have their labels */
	bool safe;		     /* changes with a label are never taken along */
	struct ab_layer_view view;
	struct ab_changes changes;
	struct ab_pick *picks; /* one for each change */
	size_t forgotten;      /* earlier applies that can no longer be taken back */
};
#define AB_APPLY_NONE                       \
	{                                   \
		.view = AB_LAYER_VIEW_NONE, \
	}

/* Recover what was interrupted, then look at the layer. Fails if a limit is exceeded. */
int ab_apply_open(struct ab_layer_set *set, bool home, struct ab_host_guard *guard,
		  struct ab_apply *ret, struct ab_strv *notes, struct ab_error *err);
void ab_apply_fini(struct ab_apply *apply);
#define ab_autoapply __attribute__((cleanup(ab_apply_fini)))

/* Choose changes. A path is relative to the root, "" for all; false: nothing changed there. The
 * new folder that a chosen change is in is taken with it. */
void ab_apply_pick_safe(struct ab_apply *apply);
bool ab_apply_pick_path(struct ab_apply *apply, const char *path);
/* Leave out what has a label, and say so. */
void ab_apply_keep_safe(struct ab_apply *apply);
/* A modified file gets this content, which the apply owns from now on. The rest of the change
 * stays in the layer. */
void ab_apply_pick_part(struct ab_apply *apply, size_t i, char *content, size_t len);
/* Read the files and find the labels, once. */
void ab_apply_label(struct ab_apply *apply);

enum ab_apply_conflict {
	AB_APPLY_LEAVE,	 /* conflicts stay in the layer */
	AB_APPLY_THEIRS, /* the layer's version counts */
	AB_APPLY_OURS,	 /* the host's version counts: the change is dropped */
};

/* Do it. The picks say what happened. -1: nothing was applied, unless the error says
 * otherwise. */
int ab_apply_commit(struct ab_apply *apply, enum ab_apply_conflict conflict,
		    const struct ab_progress *progress, struct ab_error *err);

/* Remove what was picked from the layer, refused changes too, or with `ours` what was dropped. These picks are
 * done afterwards, and meta.json says how many changes are left. */
int ab_apply_discard(struct ab_apply *apply, bool ours, struct ab_error *err);
/* Remove the whole layer, and the set if nothing else is in it. */
int ab_layer_discard(const struct ab_layer_store *store, struct ab_layer_set *set, bool home,
		     struct ab_error *err);

/* How many changes are left in the layer afterwards. */
size_t ab_apply_rest(const struct ab_apply *apply);

/* ---- undo ---- */

struct ab_undone {
	bool home;
	struct ab_strv *paths;	 /* what was taken back: a new folder as one */
	size_t changes;		 /* how many changes these are */
	size_t left;		 /* applies that can be taken back after this one */
	bool gone;		 /* the layer was discarded, and the changes are not in it again */
	struct ab_strv *changed; /* what was changed since on the host or in the layer */
	struct ab_strv *held;	 /* OURS: what stays because its repository changed */
	struct ab_strv *notes;	 /* what else is worth knowing, escaped */
};

/*
 * Take the last apply back; then the one before it is the last one (journal/stack.h). If something changed since, nothing is done and -1 returned with
 * AB_EREFUSED; THEIRS takes it back nevertheless (later changes are lost), OURS leaves
 * what changed as it is, and the whole state of a git repository (layer/walk/index.h) of which a part
 * changed. New objects of a git repository stay, and are not counted.
 */
int ab_apply_undo(struct ab_layer_set *set, enum ab_apply_conflict conflict,
		  struct ab_host_guard *guard, const struct ab_progress *progress,
		  struct ab_undone *ret, struct ab_error *err);

/* Is there an apply to take back? */
bool ab_apply_can_undo(const struct ab_layer_set *set);
