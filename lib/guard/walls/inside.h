#pragma once
/*
 * Mounts in a box that is running already, made from outside.
 *
 * Nothing in the box has the right to mount. A child of the caller enters the box's user and mount
 * namespace, mounts once and exits. The caller must have one thread and be in no Landlock domain.
 * The clone that is mounted must be made inside: the kernel takes none from another namespace.
 */
#include "base/base.h"

struct ab_inside {
	int init; /* pidfd of the box's init; not owned */
	int root; /* the box's root folder */
};

/* `pid`: init's number here. -1 with errno. */
int ab_inside_open(struct ab_inside *in, pid_t pid, int pidfd);

enum ab_wall_state {
	AB_WALL_UP,
	AB_WALL_DOWN, /* the object is there without a mount on it */
	AB_WALL_GONE, /* there is no such object, or no way to it */
};
/* Is something mounted on the path? Without a process inside. */
enum ab_wall_state ab_inside_look(const struct ab_inside *in, const char *path);

/* These return 0 or an errno. The path is real, as in the mount plan. */

/* Make what is there now read-only. */
int ab_inside_protect(const struct ab_inside *in, const char *path);
/* Cover it with `name` of the staging tmpfs. */
int ab_inside_cover(const struct ab_inside *in, const char *path, int stage, const char *name);
/* The same as ab_inside_protect() for a file below a folder, which must be this one. */
int ab_inside_protect_at(const struct ab_inside *in, int dir, const char *name,
			 const struct stat *expected);
