#ifndef AB_SANDBOX_MOUNT_FURNITURE_H
#define AB_SANDBOX_MOUNT_FURNITURE_H
/*
 * What every box has besides the plan: a small /dev, a fresh /proc whose
 * system parts are read-only, a masked /sys.
 *
 * ready() needs no plan: it makes the file systems, what has to exist in the
 * staging tmpfs, and takes the device nodes while they are usable. finish()
 * comes when the tmpfs is attached, place() puts everything up.
 */
#include <stddef.h>

struct ab_error;

#define AB_DEVICES 6
#define AB_SYS_PARTS 2

struct ab_furniture {
	int devices[AB_DEVICES]; /* trees; -1: the host has none */
	int sys_parts[AB_SYS_PARTS];
	int shm;
	int proc, pts; /* new, detached */
};

/* In the box only: holds the run's id. Read-only there, and nobody but the
 * host's root could make one outside, so it tells a box from a host. */
#define AB_MARKER "/dev/agentbox"

int ab_furniture_ready(struct ab_furniture *f, int host, int stage, struct ab_error *err);
/* After the root became read-only: clones from now on are so too. */
int ab_furniture_collect_readonly(struct ab_furniture *f, int host, struct ab_error *err);
int ab_furniture_finish(struct ab_furniture *f, int stage, const char *run_id,
			struct ab_error *err);
int ab_furniture_place(struct ab_furniture *f, int root, int stage, struct ab_error *err);
void ab_furniture_fini(struct ab_furniture *f);

#endif
