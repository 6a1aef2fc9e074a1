#pragma once
/*
 * The journal of an apply: what it is going to do to the host, written before anything
 * is done. In the set of layers:
 *
 *	undo/next/	an apply that is not finished
 *	  plan		its steps
 *	  ready		everything is staged; it says what was staged. Before this file
 *			exists, recovery takes back; from then on it finishes
 *	  back		finishing failed: recovery takes back
 *	  done		finished
 *	  old/N		what step N replaced on the host
 *	  new/N		what left the layer with step N, for undo
 *	undo/last/	the last apply: plan, ready, done, old, new
 *	  undo		it is being taken back
 *	  later		a later apply was taken back
 *	  excused	layer/journal/excuse.h
 *	undo/before-N/	those before it: layer/journal/stack.h
 *	undo/gone/	to be removed
 *	undo/known-*	layer/walk/known.h
 *
 * A step replaces one name of the host: a new object is staged beside it under a
 * temporary name and then exchanged with it; a whole new folder is one step. The
 * inodes under the two names tell how far a step is, so each step can be repeated, or
 * taken back, whatever moment the process was killed at.
 */
#include "base/base.h"
#include "layer/walk/changes.h"

enum ab_step_kind {
	AB_STEP_PUT,	/* the staged object takes the place of `old`, or of nothing */
	AB_STEP_REMOVE, /* `old` goes away */
	AB_STEP_MODE,	/* a folder gets another mode */
	AB_STEP_MOVE,	/* everything in `path` of the layer was applied: it leaves the layer */
};

struct ab_step {
	enum ab_step_kind kind;
	char *path;		   /* relative to the root; MOVE: to the layer */
	struct ab_identity old;	   /* on the host when it was planned; ino 0: nothing */
	struct ab_identity staged; /* PUT, from `ready` */
	mode_t mode;		   /* MODE */
	uint64_t changes;	   /* how many changes, as `diff` counts them; MOVE: 0 */
	bool conflict;		   /* the host had changed it since the layer saw it */
};

enum {
	AB_TOKEN_LEN = 24,
	AB_STEP_NAME = 64, /* room for a temporary name */
};

struct ab_steps {
	bool home; /* the layer above the home folder, else the workspace's */
	bool copy; /* project/copy instead of project/upper */
	bool far;  /* root and undo folder are on two file systems: originals are copied */
	char token[AB_TOKEN_LEN + 1]; /* random, in temporary names */
	struct ab_identity root;
	struct ab_step *v;
	size_t len;
	struct ab_strv shown; /* files that are applied and that the layer shows nevertheless */
};

struct ab_step *ab_steps_add(struct ab_steps *steps, enum ab_step_kind kind, const char *path);
void ab_steps_fini(struct ab_steps *steps);

/* The temporary name of the staged object, beside the target. */
void ab_step_name(const struct ab_steps *steps, size_t i, char ret[AB_STEP_NAME]);

/* All -1 with errno; EBADMSG for a damaged file. */
int ab_steps_save(const struct ab_steps *steps, int dir);
int ab_steps_load(int dir, struct ab_steps *ret);
int ab_steps_save_ready(const struct ab_steps *steps, int dir);
int ab_steps_load_ready(int dir, struct ab_steps *steps);

/* Pure: what is in these two files, beside their kind and checksum. */
struct ab_record_reader;
void ab_steps_write(const struct ab_steps *steps, struct ab_buf *ret);
int ab_steps_read(struct ab_record_reader *r, struct ab_steps *ret);
int ab_steps_read_ready(struct ab_record_reader *r, struct ab_steps *steps);
