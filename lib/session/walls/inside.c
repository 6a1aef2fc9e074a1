#include "session/walls/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/system/fd.h"
#include "sandbox/mount/tree.h"

int ab_inside_open(struct ab_inside *in, pid_t pid, int pidfd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	in->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	in->init = pidfd;
	/* While this process can still be signalled, the number was its own. */
	if (in->root >= 0 && syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
		ab_closep(&in->root), in->root = -1;
	return in->root < 0 ? -1 : 0;
}

enum ab_wall_state ab_inside_look(const struct ab_inside *in, const char *path)
{
	ab_autoclose int fd = ab_tree_lookup(in->root, path);
	struct statx stx;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_TYPE, &stx) < 0)
		return AB_WALL_GONE;
	return stx.stx_attributes & STATX_ATTR_MOUNT_ROOT ? AB_WALL_UP : AB_WALL_DOWN;
}

struct task {
	const char *path;
	int dir; /* of `path`, or the box's root */
	int stage;
	const char *name; /* in `stage`, or NULL */
	const struct stat *expected;
};

static int protect_object(int fd, const struct task *t)
{
	struct ab_error err = { 0 };
	struct stat st;
	ab_autoclose int tree = -1;

	if (fstat(fd, &st) < 0)
		return errno;
	if (t->expected && (st.st_dev != t->expected->st_dev || st.st_ino != t->expected->st_ino))
		return ESTALE;
	tree = ab_tree_clone(fd, t->path, &err);
	if (tree < 0 ||
	    ab_tree_setattr(tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 1,
			    t->path, &err) < 0 ||
	    ab_tree_place(tree, fd, t->path, &err) < 0)
		return err.errnum ? err.errnum : EIO;
	return 0;
}

static int cover_object(int fd, const struct task *t)
{
	ab_autoclose int tree = open_tree(t->stage, t->name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	struct ab_error err = { 0 };

	if (tree < 0)
		return errno;
	return ab_tree_place(tree, fd, t->path, &err) < 0 ? err.errnum : 0;
}

/* In the child. */
static int carry_out(const struct ab_inside *in, const struct task *t)
{
	ab_autoclose int fd = -1;

	if (setns(in->init, CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return errno;
	fd = t->expected ? openat(t->dir, t->path, O_PATH | O_NOFOLLOW | O_CLOEXEC)
			 : ab_tree_lookup(t->dir, t->path);
	if (fd < 0)
		return errno;
	return t->name ? cover_object(fd, t) : protect_object(fd, t);
}

static int run_inside(const struct ab_inside *in, const struct task *t)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(carry_out(in, t));
	if (pid < 0)
		return errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

int ab_inside_protect(const struct ab_inside *in, const char *path)
{
	struct task t = { .path = path, .dir = in->root };

	return run_inside(in, &t);
}

int ab_inside_cover(const struct ab_inside *in, const char *path, int stage, const char *name)
{
	struct task t = { .path = path, .dir = in->root, .stage = stage, .name = name };

	return run_inside(in, &t);
}

int ab_inside_protect_at(const struct ab_inside *in, int dir, const char *name,
			 const struct stat *expected)
{
	struct task t = { .path = name, .dir = dir, .expected = expected };

	return run_inside(in, &t);
}
