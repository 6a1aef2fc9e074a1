#pragma once
/*
 * Open a layer of a set to compare it with the host, after an apply that was
 * interrupted has been completed or taken back.
 *
 * The set is locked by the caller. Without the lock (a box uses it), nothing is
 * recovered, and what is seen may change meanwhile: good enough to show, never to apply.
 */
#include "base/base.h"
#include "layer/walk/changes.h"

struct ab_host_guard;
struct ab_layer_set;

#define AB_LAYER_VIEW_NONE               \
	{                                \
		.upper = -1, .lower = -1 \
	}

/* `home`: the layer above the home folder, else above the workspace. err->errnum ENOENT:
 * the set has no such layer. */
int ab_layer_open_view(const struct ab_layer_set *set, bool home, struct ab_layer_view *ret,
		       struct ab_error *err);
void ab_layer_view_fini(struct ab_layer_view *view);
#define ab_autoview __attribute__((cleanup(ab_layer_view_fini)))

/*
 * Complete or take back what a killed apply or undo left half done. Call it when a set
 * was locked, before anything else. `guard` is asked if files of the host are to be changed.
 * *notes: what was done, as sentences. Costs one look if there is nothing to do.
 * err->errnum ENODEV: the folder of the host has been replaced or is gone.
 */
int ab_layer_recover(const struct ab_layer_set *set, struct ab_host_guard *guard,
		     struct ab_strv *notes, struct ab_error *err);

/* The part of the set ("project/upper"), the list of files that apply left on the host, and the
 * host's folder as O_PATH (-1 with err). */
const char *ab_layer_part(const struct ab_layer_set *set, bool home);
const char *ab_layer_known_name(bool home);
int ab_layer_root_open(const struct ab_layer_set *set, bool home, struct ab_error *err);
/* Does that folder no longer exist? */
bool ab_layer_root_gone(const struct ab_layer_set *set, bool home);
