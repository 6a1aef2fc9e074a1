/* The mount tree: a program that can change a mount can undo the plan. */
#include <sys/mount.h>
#include <sys/syscall.h>

#include "attack/attack.h"

static enum ab_hold mount_it(struct ab_attacker *a, const struct ab_try *t)
{
	const char *target = ab_attacker_path(a, t->arg);

	return ab_refused(a, mount(target, target, "tmpfs", (unsigned long)t->number, NULL));
}

static enum ab_hold umount_it(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, umount2(ab_attacker_path(a, t->arg), MNT_DETACH));
}

static enum ab_hold pivot_it(struct ab_attacker *a, const struct ab_try *t)
{
	const char *path = ab_attacker_path(a, t->arg);

	return ab_refused(a, syscall(SYS_pivot_root, path, path));
}

static enum ab_hold change_root(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a, chroot(ab_attacker_path(a, t->arg)));
}

static enum ab_hold clone_tree(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, open_tree(AT_FDCWD, ab_attacker_path(a, t->arg),
					  OPEN_TREE_CLONE | AT_RECURSIVE));
}

static enum ab_hold set_attributes(struct ab_attacker *a, const struct ab_try *t)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	return ab_refused(a, mount_setattr(AT_FDCWD, ab_attacker_path(a, t->arg), 0, &attr,
					   sizeof(attr)));
}

static enum ab_hold open_file_system(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, fsopen(t->arg, 0));
}

static enum ab_hold pick_file_system(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused_fd(a, fspick(AT_FDCWD, t->arg, 0));
}

static enum ab_hold move_it(struct ab_attacker *a, const struct ab_try *t)
{
	return ab_refused(a,
			  move_mount(AT_FDCWD, ab_attacker_path(a, t->arg), AT_FDCWD, "/mnt", 0));
}

static const struct ab_try mounts[] = {
	{ "make the root writable", mount_it, "/", MS_REMOUNT | MS_BIND },
	{ "make /proc/sys writable", mount_it, "/proc/sys", MS_REMOUNT | MS_BIND },
	{ "mount a file system", mount_it, "./", 0 },
	{ "bind a folder over the workspace", mount_it, "./", MS_BIND },
	{ "propagate mounts to the host", mount_it, "/", MS_SHARED },
	{ "unmount a key's mask", umount_it, "~/.ssh/id_ed25519" },
	{ "unmount the state folder's mask", umount_it, "@state" },
	{ "unmount the box's /proc", umount_it, "/proc" },
	{ "unmount the box's /tmp", umount_it, "/tmp" },
	{ "exchange the root (pivot_root)", pivot_it, "./" },
	{ "change the root (chroot)", change_root, "./" },
	{ "clone the tree without its masks", clone_tree, "/" },
	{ "clear a mount's attributes", set_attributes, "/" },
	{ "move a mount", move_it, "~/.ssh/id_ed25519" },
	{ "open a new file system", open_file_system, "tmpfs" },
	{ "reconfigure a mounted one", pick_file_system, "/" },
};
const struct ab_tries ab_tries_mounts = { "mounts", mounts, AB_COUNT(mounts) };
