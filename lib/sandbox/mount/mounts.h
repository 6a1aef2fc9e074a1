#ifndef AB_SANDBOX_MOUNT_MOUNTS_H
#define AB_SANDBOX_MOUNT_MOUNTS_H
/*
 * Applies the mount plan in the box's own mount namespace, in init with
 * CAP_SYS_ADMIN. Nothing is ever created on a file system of the host.
 */
#include <stdint.h>

#include "sandbox/mount/furniture.h"

struct ab_spec;
struct ab_error;

/* What every box needs, independent of the plan. */
struct ab_ground {
	int host;  /* the host's root */
	int stage; /* detached tmpfs for the box's own files */
	struct ab_furniture furniture;
};

/* Runs while the plan is still being made. `tmp_size` in bytes. */
int ab_mounts_prepare(uint64_t tmp_size, struct ab_ground *ret, struct ab_error *err);
/* Consumes `ground`. */
int ab_mounts_apply(const struct ab_spec *spec, struct ab_ground *ground, struct ab_error *err);

#endif
