#include "sandbox/mount/tree.h"

#include <sys/mount.h>

#include "base/system/folder.h"

enum { TRIED = 8 }; /* names, to see whether an overlay can look any up */

int ab_tree_lookup(int root, const char *path)
{
	return ab_open_real(root, path[1] ? path + 1 : ".", O_PATH | O_NOFOLLOW, 0);
}

int ab_tree_clone(int fd, const char *what, struct ab_error *err)
{
	int tree = open_tree(fd, "",
			     AT_EMPTY_PATH | OPEN_TREE_CLONE | AT_RECURSIVE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "clone %s", what);
	return tree;
}

int ab_tree_clone_with(int fd, uint64_t set, bool recursive, const char *what, struct ab_error *err)
{
	ab_autoclose int tree = ab_tree_clone(fd, what, err);

	if (tree < 0 || ab_tree_setattr(tree, set, recursive, what, err) < 0)
		return -1;
	return ab_take_fd(&tree);
}

int ab_tree_place(int tree, int target, const char *what, struct ab_error *err)
{
	if (move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "mount on %s", what);
	return 0;
}

int ab_tree_place_named(int dir, const char *name, int target, const char *verb, const char *what,
			struct ab_error *err)
{
	ab_autoclose int tree = open_tree(dir, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "%s %s", verb, what);
	return ab_tree_place(tree, target, what, err);
}

int ab_tree_new(const char *type, const char *const *options, unsigned int attr)
{
	ab_autoclose int fs = fsopen(type, FSOPEN_CLOEXEC);

	if (fs < 0)
		return -1;
	/* The name that `df` and `mount` show. */
	if (fsconfig(fs, FSCONFIG_SET_STRING, "source", type, 0) < 0)
		return -1;
	for (; options[0]; options += 2)
		if (fsconfig(fs, options[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, options[0],
			     options[1], 0) < 0)
			return -1;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return fsmount(fs, FSMOUNT_CLOEXEC, attr);
}

int ab_tree_setattr(int fd, uint64_t set, bool recursive, const char *what, struct ab_error *err)
{
	struct mount_attr attr = { .attr_set = set };

	/*
	 * Private, not slave: in a slave, later mounts of the host would
	 * appear, and be writable.
	 */
	if (recursive)
		attr.propagation = MS_PRIVATE;
	if (mount_setattr(fd, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attr,
			  sizeof(attr)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "set mount attributes of %s", what);
	return 0;
}

int ab_tree_check_overlay(int tree, int lower)
{
	ab_autoclose int dir = openat(lower, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ab_entries entries = { .fd = dir };
	const struct dirent64 *d;
	struct stat st;
	int seen = 0;

	/* There may be an automount point among them. */
	while (seen < TRIED && (d = ab_entries_next(&entries))) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (fstatat(tree, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != EREMOTE)
			return 0;
		seen++;
	}
	return seen ? ab_errno(EREMOTE) : 0;
}
