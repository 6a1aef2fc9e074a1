#pragma once
/*
 * The layer above a reviewed workspace, in its set (layer/store/store.h): an overlay where the kernel
 * can make one, else a full copy of the workspace. It is tried, not guessed: a mount below the
 * workspace, a file system that cannot be a lower folder and a state folder on an overlay all show
 * in the attempt.
 */
#include "base/base.h"

struct ab_facts;
struct ab_layer_set;

struct ab_review_setup {
	const char *workspace;	       /* its real path */
	const char *state;	       /* the state folder's */
	const struct ab_strv *missing; /* denied paths that do not exist */
	const struct ab_strv *hidden; /* more files that the box may not read as they are: secrets */
	/* A long copy reports its progress. May be NULL. */
	void (*progress)(void *arg, uint64_t entries, uint64_t bytes);
	void *arg;
};

/*
 * Make the layer, or continue with the one that is there, and add it to the facts. The set is locked;
 * what it says about its layer is saved. Notes for the user go to `notes`.
 */
int ab_review_layer(const struct ab_review_setup *setup, struct ab_layer_set *set,
		    struct ab_facts *facts, struct ab_strv *notes, struct ab_error *err);
