#pragma once
/*
 * What every box has in addition to the plan: a small /dev, a /proc whose system
 * parts are read-only, a masked /sys.
 *
 * ready() needs no plan: it creates the file systems and the content of the
 * staging tmpfs, and clones the device nodes while they are usable; new_proc() or
 * share_proc() does the same for /proc. finish() follows when the tmpfs is attached,
 * place() mounts everything.
 *
 * A shared /proc is the host's, read-only with everything in it. Its processes have
 * other numbers than in the box. So it is mounted on AB_SHARED_PROC, and /proc is a
 * folder with links to everything in it except the processes: programs find
 * /proc/self, /proc/cpuinfo and the rest, and nobody takes a number of the host for
 * one of the box.
 */
#include "base/base.h"
#include "sandbox/plan/engine.h"

#define AB_SYS_PARTS 2

struct ab_furniture {
	int devices[AB_DEVICES]; /* trees; -1: the host has none */
	int sys_parts[AB_SYS_PARTS];
	int program; /* our own, in front of which no layer is; -1: its file is out of reach */
	int shm;
	int proc, pts; /* detached trees */
	bool shares_proc;
};

/* Exists only in a box and contains the run's id. It is read-only there, and only
 * root could create it on the host, so it distinguishes a box from a host. */
#define AB_MARKER "/dev/agentbox"
/* Is this process in a box? In one without mounts, the filter tells. */
bool ab_furniture_boxed(void);

int ab_furniture_ready(struct ab_furniture *f, int host, int stage, struct ab_error *err);
/* One of these. EPERM: the kernel does not mount a new one here. */
int ab_furniture_new_proc(struct ab_furniture *f, struct ab_error *err);
int ab_furniture_share_proc(struct ab_furniture *f, int host, int stage, struct ab_error *err);
/* After the root became read-only: clones are then read-only, too. */
int ab_furniture_collect_readonly(struct ab_furniture *f, int host, struct ab_error *err);
int ab_furniture_finish(struct ab_furniture *f, int stage, const char *run_id,
			struct ab_error *err);
int ab_furniture_place(struct ab_furniture *f, int root, int stage, struct ab_error *err);
void ab_furniture_fini(struct ab_furniture *f);
