#pragma once
/*
 * Applies the mount plan in the box's own mount namespace, in init with
 * CAP_SYS_ADMIN. Nothing is ever created on a file system of the host, except folders in
 * a kept layer.
 */
#include "base/base.h"
#include "sandbox/mount/furniture.h"

struct ab_spec;

/* What every box needs, independent of the plan. */
struct ab_ground {
	int host;  /* the host's root */
	int stage; /* detached tmpfs for the box's own files */
	struct ab_furniture furniture;
};

/* Runs while the plan is still being made. `tmp_size` in bytes. */
int ab_mounts_prepare(uint64_t tmp_size, struct ab_ground *ret, struct ab_error *err);
/* Then its /proc: a new one, or the one outside. */
int ab_mounts_prepare_proc(struct ab_ground *ground, bool new_proc, struct ab_error *err);
/*
 * Consumes `ground`. *ret_walls, with which a wall can be put up again later: first the staging tmpfs,
 * then each folder that ab_plan_stage() names, in the order of the plan and as many as there is room
 * for. A mount of the box covers each of these folders; the descriptors are below it. If
 * ab_overlays_hide_names(), the last one is for ab_overlays_hide(). Sets `errnum` of each layer, and
 * `blocked`.
 */
int ab_mounts_apply(struct ab_spec *spec, struct ab_ground *ground, struct ab_fds *ret_walls,
		    struct ab_error *err);
