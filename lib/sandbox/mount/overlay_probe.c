#include "sandbox/mount/overlays.h"

#include <sched.h>
#include <sys/mount.h>

#include "base/process/helper.h"
#include "sandbox/mount/tree.h"

/* As the box has them: our own ids, and no others. */
static int enter_namespaces(void)
{
	char uid[48], gid[48];

	snprintf(uid, sizeof(uid), "%u %u 1", geteuid(), geteuid());
	snprintf(gid, sizeof(gid), "%u %u 1", getegid(), getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -1;
	(void)ab_write_file(AT_FDCWD, "/proc/self/setgroups", "deny");
	return ab_write_file(AT_FDCWD, "/proc/self/uid_map", uid) < 0 ||
			       ab_write_file(AT_FDCWD, "/proc/self/gid_map", gid) < 0
		       ? -1
		       : 0;
}

/* In the child. Opened here: the kernel takes no folder from the mounts of another namespace. */
static int try_overlay(const void *arg)
{
	const char *const *paths = arg;
	char names[2][32] = { "/proc/u", "/proc/w" };
	/* "volatile": without it, the end of the overlay would write the whole file system out. */
	const char *const options[] = { "lowerdir", ".",      "upperdir",  names[0],
					"workdir",  names[1], "userxattr", NULL,
					"volatile", NULL,     NULL };
	int tree;

	if (enter_namespaces() < 0)
		return errno == EINVAL ? ENOSYS : errno;
	if (chdir(paths[0]) < 0)
		return errno;
	/* Any folder works as the mount point, and /proc always exists. */
	if (!paths[1] && (mount("tmpfs", "/proc", "tmpfs", 0, NULL) < 0 ||
			  mkdir(names[0], 0700) < 0 || mkdir(names[1], 0700) < 0))
		return errno;
	for (size_t i = 0; paths[1] && i < AB_COUNT(names); i++) {
		int fd = open(paths[i + 1], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			return errno;
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", fd);
	}
	tree = ab_tree_new("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return tree < 0 || ab_tree_check_overlay(tree, AT_FDCWD) < 0 ? errno : 0;
}

int ab_overlay_probe(const char *lower, const char *upper, const char *work)
{
	const char *const folders[] = { lower, upper, work };
	int r = ab_in_child(try_overlay, folders);

	return r < 0 ? errno : r;
}
