#pragma once
/*
 * Do the steps of an apply, or take them back. Each can be repeated: what is done
 * already is recognized by its inode and left alone. No name of the host is replaced
 * unless it is the file that the step expects; nothing is written through a hard link.
 */
#include "base/base.h"
#include "layer/journal/plan.h"
#include "layer/walk/known.h"
#include "layer/walk/look.h"

struct ab_host_guard;
struct ab_layer_set;

/* An apply and the places that it works on. */
struct ab_site {
	int root;      /* the host's folder, O_PATH */
	int upper;     /* the layer; -1: it was discarded, and what is applied never left it */
	int undo;      /* the set's undo folder */
	int dir;       /* undo/next or undo/last */
	int old, made; /* in dir */
	struct ab_parent host, layer;
	struct ab_steps steps;
	struct ab_host_guard *guard; /* that was entered, or NULL */
	bool done;   /* undo/last: the apply was completed, so originals are only in `old` */
	bool copied; /* a step has copied an original, so it must be written to the disk */
	bool later;  /* a later apply was taken back: the layer has its changes again */
	struct ab_known excused; /* journal/excuse.h */
	size_t forgotten;	 /* applies that can no longer be taken back */
	struct ab_strv kept; /* applied files that were changed and taken back: where they are */
	const char *failed;  /* a path within a step at which it failed; NULL: its own */
};
#define AB_SITE_NONE                                                                   \
	{                                                                              \
		.root = -1, .upper = -1, .undo = -1, .dir = -1, .old = -1, .made = -1, \
		.host = AB_PARENT_NONE, .layer = AB_PARENT_NONE,                       \
	}

/* Open root, upper and undo of a set for one of its layers. A copy may have been discarded. */
int ab_site_open(struct ab_site *site, const struct ab_layer_set *set, bool home,
		 struct ab_error *err);
/* Then dir, old and new: undo/NAME. -1 with errno. */
int ab_site_enter(struct ab_site *site, const char *name);
/* Before anything is staged, put in place or taken back: keep others away from the files of the
 * steps until ab_site_fini(). */
int ab_site_claim(struct ab_site *site, const struct ab_layer_set *set, struct ab_host_guard *guard,
		  struct ab_error *err);
void ab_site_fini(struct ab_site *site);
#define ab_autosite __attribute__((cleanup(ab_site_fini)))

/* Is nothing in this folder younger than that, apart from what is excused? False if it cannot be read. */
bool ab_site_tree_older(const struct ab_site *site, int parent, const char *path,
			struct timespec than, unsigned int depth);

/* Put one step in place. -1 with errno; ESTALE: the host's file is not the expected one.
 * `fresh`: this process staged it a moment ago, so no part of it can be done already. */
int ab_step_do(struct ab_site *site, size_t i, bool fresh);

/* Is the step done, or is what was staged for it still what it was? Boxes can write where it is
 * staged. False for a folder that is not in place: what is in it is not compared. */
bool ab_step_intact(struct ab_site *site, size_t i);

/* What is to be taken away again when a step is taken back. */
struct ab_step_now {
	bool skip;		 /* leave the step as it is */
	struct ab_identity host; /* what is there now; ino 0: nothing */
};

/* Take one step back. The layer gets back what it had, unless it has something new. `fresh`: the
 * apply was completed, and nothing has been taken back yet. */
int ab_step_undo(struct ab_site *site, size_t i, const struct ab_step_now *now, bool fresh);

/* Before `ready`: copy the original of a step to the undo folder, which is on another mount. */
int ab_step_copy_original(struct ab_site *site, size_t i);

/* After `done`: remove the original that is still beside its place, because the undo folder has a copy
 * of it. ab_step_left(): 1: there is one; 0: there is none; -1 with errno. */
int ab_step_clear(struct ab_site *site, size_t i);
int ab_step_left(struct ab_site *site, size_t i);

/* Remove what was staged for a step, before `ready`. */
int ab_step_unstage(struct ab_site *site, size_t i);

enum ab_step_change {
	AB_STEP_SAME,
	AB_STEP_HOST_CHANGED,  /* the host's file is not the one that apply left */
	AB_STEP_LAYER_CHANGED, /* a later run changed it in the layer */
};
/* Can the step be taken back without losing anything? `ready`: when everything was staged. */
enum ab_step_change ab_step_check(struct ab_site *site, size_t i, struct timespec ready,
				  struct ab_step_now *ret);

/* After all steps were done or taken back: remember the host's files. */
void ab_site_known(struct ab_site *site, bool undone, const struct ab_step_now *now);
