#include <sched.h>
#include <sys/mount.h>

#include "base/process/helper.h"
#include "sandbox/mount/tree.h"
#include "session/review/review_layer.h"

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
	char names[3][32];
	/* "volatile": without it, the end of the overlay would write the whole file system out. */
	const char *const options[] = { "lowerdir", names[0], "upperdir",  names[1],
					"workdir",  names[2], "userxattr", NULL,
					"volatile", NULL,     NULL };

	int fds[3], tree;

	if (enter_namespaces() < 0)
		return errno;
	for (size_t i = 0; i < 3; i++) {
		fds[i] = open(paths[i], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fds[i] < 0)
			return errno;
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", fds[i]);
	}
	tree = ab_tree_new("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return tree < 0 || ab_tree_check_overlay(tree, fds[0]) < 0 ? errno : 0;
}

int ab_overlay_probe(const char *lower, const char *upper, const char *work)
{
	const char *const folders[] = { lower, upper, work };
	int r = ab_in_child(try_overlay, folders);

	return r < 0 ? errno : r;
}
