#ifndef AB_SANDBOX_MOUNT_MOUNTS_H
#define AB_SANDBOX_MOUNT_MOUNTS_H
/*
 * Carry out the mount plan, in the box's own mount namespace, as its init
 * with CAP_SYS_ADMIN. Nothing is ever created on a file system of the host.
 */
#include <stdint.h>

#include "sandbox/mount/furniture.h"

struct ab_spec;
struct ab_error;

/* What every box needs and no plan decides. */
struct ab_ground {
	int host;  /* the host's root */
	int stage; /* a tmpfs for all that is the box's own, detached */
	struct ab_furniture furniture;
};

/* Made while the plan is still being made. `tmp_size` in bytes. */
int ab_mounts_prepare(uint64_t tmp_size, struct ab_ground *ret, struct ab_error *err);
/* Uses the ground up. */
int ab_mounts_apply(const struct ab_spec *spec, struct ab_ground *ground, struct ab_error *err);

#endif
