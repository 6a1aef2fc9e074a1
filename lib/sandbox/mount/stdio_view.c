#include "sandbox/mount/stdio_view.h"

#include <sys/mount.h>
#include <sys/sysmacros.h>

#include "sandbox/mount/mounts.h"
#include "sandbox/mount/tree.h"

/* In the order of ab_box_devices. A terminal is never passed on. */
static const struct {
	unsigned int major, minor;
} numbers[AB_DEVICES] = {
	{ 1, 3 }, { 1, 5 }, { 1, 7 }, { 1, 8 }, { 1, 9 }, { 5, 0 },
};

static size_t find_device(dev_t rdev)
{
	size_t i = 0;

	while (i < AB_DEVICES && makedev(numbers[i].major, numbers[i].minor) != rdev)
		i++;
	return i;
}

const char *ab_stdio_view_device(dev_t rdev)
{
	size_t i = find_device(rdev);

	return i < AB_DEVICES ? ab_box_devices[i] : NULL;
}

/* Open the object of a tree; the mount ends with the last descriptor of it. */
static int open_tree_object(int tree, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", tree);
	return open(path, flags | O_NOCTTY | O_CLOEXEC);
}

static int replace_fd(int by, int fd, struct ab_error *err)
{
	if (by < 0 || dup2(by, fd) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open descriptor %d for the box", fd);
	return 0;
}

static int replace_device(const struct ab_ground *ground, int fd, const struct stat *st,
			  struct ab_error *err)
{
	size_t i = find_device(st->st_rdev);
	ab_autoclose int own = -1;

	/* Of a device that is not the user's, nothing can be changed. */
	if (i == AB_DEVICES || ground->furniture.devices[i] < 0)
		return 0;
	own = open_tree_object(ground->furniture.devices[i],
			       fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK));
	return replace_fd(own, fd, err);
}

/* A read-only clone of the mount that contains the file; -1: it has no name here. */
static int clone_file(const struct ab_ground *ground, int fd, const struct stat *st)
{
	ab_autofree char *path = ab_fd_path(fd);
	ab_autoclose int found = path && path[0] == '/' ? ab_tree_lookup(ground->host, path) : -1;
	struct ab_error unused;
	struct stat now;

	if (found < 0 || fstat(found, &now) < 0 || !ab_stat_same(&now, st))
		return -1;
	return ab_tree_clone_with(found, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
				  false, path, &unused);
}

static int replace_file(const struct ab_ground *ground, int fd, const struct stat *st,
			struct ab_error *err)
{
	ab_autoclose int tree = -1, own = -1;
	off_t at = lseek(fd, 0, SEEK_CUR);

	/* Nobody else has a name for it, so its attributes are nobody else's either. */
	if (st->st_nlink == 0)
		return 0;
	tree = clone_file(ground, fd, st);
	if (tree < 0) {
		if (st->st_uid != geteuid())
			return 0;
		ab_fail(err, AB_EUSAGE, 0,
			"the file on descriptor %d cannot be opened again for the box", fd);
		return ab_hint(err, "pipe it in instead: cat FILE | agentbox run ...");
	}
	own = open_tree_object(tree, O_RDONLY | (fcntl(fd, F_GETFL) & O_NONBLOCK));
	if (own >= 0 && at > 0 && lseek(own, at, SEEK_SET) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find the position of descriptor %d", fd);
	return replace_fd(own, fd, err);
}

int ab_stdio_view_open(const struct ab_ground *ground, int *ret_input, struct ab_error *err)
{
	*ret_input = -1;
	for (int fd = 0; fd < 3; fd++) {
		struct stat st;

		if (fstat(fd, &st) < 0)
			continue;
		if (S_ISCHR(st.st_mode) && replace_device(ground, fd, &st, err) < 0)
			return -1;
		if (!S_ISREG(st.st_mode))
			continue;
		if (replace_file(ground, fd, &st, err) < 0)
			return -1;
		if (fd == 0)
			*ret_input = 0;
	}
	return 0;
}
