#include "guard/walls/inside.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "base/process/helper.h"
#include "sandbox/mount/tree.h"

int ab_inside_open(struct ab_inside *in, pid_t pid, int pidfd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	in->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	in->init = pidfd;
	/* While this process can still be signalled, the number was its own. */
	if (in->root >= 0 && syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
		ab_closep(&in->root);
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
	int init;
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
	if (t->expected && !ab_stat_same(&st, t->expected))
		return ESTALE;
	tree = ab_tree_clone_with(fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
				  true, t->path, &err);
	if (tree < 0 || ab_tree_place(tree, fd, t->path, &err) < 0)
		return err.errnum ? err.errnum : EIO;
	return 0;
}

static int cover_object(int fd, const struct task *t)
{
	struct ab_error err = { 0 };

	return ab_tree_place_named(t->stage, t->name, fd, "cover", t->path, &err) < 0 ? err.errnum
										      : 0;
}

/* In the child. */
static int carry_out(const void *arg)
{
	const struct task *t = arg;
	ab_autoclose int fd = -1;

	if (setns(t->init, CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return errno;
	fd = t->expected ? openat(t->dir, t->path, O_PATH | O_NOFOLLOW | O_CLOEXEC)
			 : ab_tree_lookup(t->dir, t->path);
	if (fd < 0)
		return errno;
	return t->name ? cover_object(fd, t) : protect_object(fd, t);
}

static int run_inside(const struct ab_inside *in, struct task t)
{
	int r;

	t.init = in->init;
	r = ab_in_child(carry_out, &t);
	return r < 0 ? errno : r;
}

int ab_inside_protect(const struct ab_inside *in, const char *path)
{
	return run_inside(in, (struct task){ .path = path, .dir = in->root });
}

int ab_inside_cover(const struct ab_inside *in, const char *path, int stage, const char *name)
{
	return run_inside(
		in, (struct task){ .path = path, .dir = in->root, .stage = stage, .name = name });
}

int ab_inside_protect_at(const struct ab_inside *in, int dir, const char *name,
			 const struct stat *expected)
{
	return run_inside(in, (struct task){ .path = name, .dir = dir, .expected = expected });
}
