#pragma once
/*
 * The layers of a box: overlays, made in init and not attached anywhere yet.
 *
 * From the top: the upper folder, which gets the writes; a read-only middle layer with whiteouts for
 * the names that must not appear; the upper folder of another box, if it is shown; the host's folder, or
 * copies of what is in it (pieces.h). A whiteout in the upper folder would not last:
 * the box can create the name and remove it, and then the host's file shows.
 *
 * These names hardly ever appear, and there are many, so the whiteouts themselves are put there a
 * moment after the start, from outside (ab_overlays_hide()). The folders on the way to them must be
 * there before: overlay remembers which layers have a folder.
 *
 * A kept upper folder was filled by another box, so it is hostile. Nothing here looks into it;
 * whatever is mounted in the finished overlay is looked up without following links (tree.h).
 */
#include "base/base.h"

struct ab_spec;

struct ab_overlays {
	struct ab_overlay *v; /* one for each layer of the specification */
	size_t len;
	/* The middle layers, writable although the box's staging tmpfs is not; -1: none. They lead to nothing else. */
	int hidden;
};

/* While the host's tree is still writable: find the folders and clone the places of kept layers. */
int ab_overlays_collect(const struct ab_spec *spec, int host, struct ab_overlays *ret,
			struct ab_error *err);
/*
 * While the staging tmpfs is attached and writable, with umask 0; makes it the current folder. Sets `errnum` of each layer; fails
 * if a layer that is not optional cannot be made.
 */
int ab_overlays_make(struct ab_overlays *o, struct ab_spec *spec, int stage, struct ab_error *err);
/* The tree for this path, once; -1: it was not made. */
int ab_overlays_take(struct ab_overlays *o, const struct ab_spec *spec, const char *path);
/* The host's folder of this path, which the caller does not own, or -1. */
int ab_overlays_lower(const struct ab_overlays *o, const struct ab_spec *spec, const char *path);
/* Is this the device number of folders in one of the overlays? */
bool ab_overlays_have(const struct ab_overlays *o, dev_t dev);
void ab_overlays_fini(struct ab_overlays *o);

/* overlay_probe.c: can these folders become an overlay? Without `upper` and `work`: with a tmpfs. In a process
 * with namespaces of its own, so nothing is mounted. 0, or an errno: EINVAL is the overlay's. */
int ab_overlay_probe(const char *lower, const char *upper, const char *work);

/* Does a box with this specification have them? */
bool ab_overlays_hide_names(const struct ab_spec *spec);
/* In the process that has the names: put the whiteouts there. -1 with errno. */
int ab_overlays_hide(const struct ab_spec *spec, int hidden);

/* The name of the temporary upper folder of layer i in the staging tmpfs. A layer that was not made has
 * none. */
enum { AB_OVERLAY_NAME = 32 };
void ab_overlays_upper(size_t i, char ret[AB_OVERLAY_NAME]);
