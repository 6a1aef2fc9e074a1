#include "sandbox/mount/furniture.h"

#include <ctype.h>
#include <sys/mount.h>

#include "base/system/folder.h"
#include "base/process/own_program.h"
#include "sandbox/mount/tree.h"
#include "sandbox/plan/spec.h"
#include "sandbox/seccomp/seccomp.h"

static const struct {
	const char *name, *target;
} dev_links[] = {
	{ "dev/fd", "/proc/self/fd" },	     { "dev/stdin", "/proc/self/fd/0" },
	{ "dev/stdout", "/proc/self/fd/1" }, { "dev/stderr", "/proc/self/fd/2" },
	{ "dev/ptmx", "pts/ptmx" },
};

/* The visible parts of /sys: runtimes count processors and check huge pages. The
 * rest describes or controls the host. */
static const char *const sys_parts[AB_SYS_PARTS] = {
	"/sys/devices/system",
	"/sys/kernel/mm/transparent_hugepage",
};

static const struct {
	const char *name;
	mode_t mode;
} stage_dirs[] = {
	{ "dev", 0755 },
	{ "dev/pts", 0755 },
	{ "dev/shm", 0755 },
	{ "shm", 01777 },
	{ "sys", 0755 },
	{ "sys/devices", 0755 },
	{ "sys/devices/system", 0755 },
	{ "sys/kernel", 0755 },
	{ "sys/kernel/mm", 0755 },
	{ "sys/kernel/mm/transparent_hugepage", 0755 },
};

/* Useless in the box, and they reveal details of the host. */
static const char *const proc_masked[] = {
	"kcore", "keys", "timer_list", "sched_debug", "latency_stats", "acpi", "scsi",
};

static int clone_devices(struct ab_furniture *f, int host, struct ab_error *err)
{
	for (size_t i = 0; i < AB_DEVICES; i++) {
		const char *path = ab_box_devices[i];
		ab_autoclose int fd = ab_tree_lookup(host, path);

		if (fd < 0)
			continue;
		/* Read-only protects the node (its mode, owner and times, which
		 * root could change), not the device behind it. */
		f->devices[i] = ab_tree_clone_with(
			fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, false, path,
			err);
		if (f->devices[i] < 0)
			return -1;
	}
	return 0;
}

/* The host's file, before any layer is mounted. */
static int clone_program(struct ab_furniture *f, int host, struct ab_error *err)
{
	ab_autofree char *path = ab_own_program();
	ab_autoclose int fd = path ? ab_tree_lookup(host, path) : -1;

	if (fd < 0)
		return 0;
	f->program = ab_tree_clone_with(
		fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, true, path, err);
	return f->program < 0 ? -1 : 0;
}

int ab_furniture_collect_readonly(struct ab_furniture *f, int host, struct ab_error *err)
{
	for (size_t i = 0; i < AB_SYS_PARTS; i++) {
		ab_autoclose int fd = ab_tree_lookup(host, sys_parts[i]);

		if (fd < 0)
			continue;
		f->sys_parts[i] = ab_tree_clone(fd, sys_parts[i], err);
		if (f->sys_parts[i] < 0)
			return -1;
	}
	return 0;
}

static int fill_stage(int stage, struct ab_error *err)
{
	for (size_t i = 0; i < AB_COUNT(stage_dirs); i++)
		if (mkdirat(stage, stage_dirs[i].name, stage_dirs[i].mode) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "create %s", stage_dirs[i].name);
	for (size_t i = 0; i < AB_DEVICES; i++)
		if (mknodat(stage, ab_box_devices[i] + 1, S_IFREG | 0444, 0) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "create %s", ab_box_devices[i] + 1);
	if (mknodat(stage, &AB_OWN_PROGRAM[1], S_IFREG | 0444, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create %s", AB_OWN_PROGRAM);
	for (size_t i = 0; i < AB_COUNT(dev_links); i++)
		if (symlinkat(dev_links[i].target, stage, dev_links[i].name) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "link %s", dev_links[i].name);
	return 0;
}

int ab_furniture_ready(struct ab_furniture *f, int host, int stage, struct ab_error *err)
{
	static const char *const pts_options[] = {
		"newinstance", NULL, "ptmxmode", "0666", "mode", "0620", "max", "256", NULL,
	};

	memset(f, -1, sizeof(*f)); /* every descriptor is -1 */
	f->shares_proc = false;
	if (clone_devices(f, host, err) < 0 || clone_program(f, host, err) < 0 ||
	    fill_stage(stage, err) < 0)
		return -1;
	f->pts = ab_tree_new("devpts", pts_options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	if (f->pts < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "mount devpts");
	return 0;
}

int ab_furniture_new_proc(struct ab_furniture *f, struct ab_error *err)
{
	static const char *const plain[] = { NULL };
	static const char *const closed[] = { "ro", NULL, NULL };

	f->proc = ab_tree_new("proc", geteuid() == 0 ? closed : plain,
			      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (f->proc < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "mount a new /proc");
	return 0;
}

/* Everything in /proc that is not a process. */
static int link_shared_proc(int proc, int folder)
{
	ab_autodir DIR *list = ab_folder_list(proc, ".");
	const char *name;

	if (!list)
		return -1;
	while ((name = ab_folder_next(list)) != NULL) {
		ab_autofree char *target = NULL;

		if (isdigit((unsigned char)name[0]))
			continue;
		target = ab_printf(AB_SHARED_PROC_NAME "/%s", name);
		if (symlinkat(target, folder, name) < 0)
			return -1;
	}
	return 0;
}

int ab_furniture_share_proc(struct ab_furniture *f, int host, int stage, struct ab_error *err)
{
	ab_autoclose int proc = ab_tree_lookup(host, "/proc");
	ab_autoclose int folder = -1;

	if (proc < 0 || mkdirat(stage, "proc", 0755) < 0 ||
	    (folder = openat(stage, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    mkdirat(folder, AB_SHARED_PROC_NAME, 0555) < 0 || link_shared_proc(proc, folder) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "share /proc");
	f->shares_proc = true;
	f->proc = ab_tree_clone_with(
		proc, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
		true, "/proc", err);
	return f->proc < 0 ? -1 : 0;
}

int ab_furniture_finish(struct ab_furniture *f, int stage, const char *run_id, struct ab_error *err)
{
	ab_autoclose int fd = openat(stage, "dev/agentbox", O_WRONLY | O_CREAT | O_CLOEXEC, 0444);

	if (fd < 0 || ab_write_all(fd, run_id, strlen(run_id)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", AB_MARKER);
	f->shm = open_tree(stage, "shm", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (f->shm < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create /dev/shm");
	return 0;
}

static int mount_tree(int root, int tree, const char *path, struct ab_error *err)
{
	ab_autoclose int target = ab_tree_lookup(root, path);

	if (target < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", path);
	return ab_tree_place(tree, target, path, err);
}

/* Mount a clone of `name` in the staging tmpfs on `path`. */
static int mount_staged(int root, int stage, const char *name, const char *path,
			struct ab_error *err)
{
	ab_autoclose int target = ab_tree_lookup(root, path);

	if (target < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", path);
	return ab_tree_place_named(stage, name, target, "find", path, err);
}

static int place_dev(struct ab_furniture *f, int root, int stage, struct ab_error *err)
{
	if (mount_staged(root, stage, "dev", "/dev", err) < 0 ||
	    mount_tree(root, f->shm, "/dev/shm", err) < 0)
		return -1;
	for (size_t i = 0; i < AB_DEVICES; i++)
		if (f->devices[i] >= 0 &&
		    mount_tree(root, f->devices[i], ab_box_devices[i], err) < 0)
			return -1;
	if (f->program >= 0 && mount_tree(root, f->program, AB_OWN_PROGRAM, err) < 0)
		return -1;
	return mount_tree(root, f->pts, "/dev/pts", err);
}

/*
 * The system parts of /proc belong to root: the kernel does not let anyone else
 * write them. /proc/sys is mounted read-only in addition, because some of its
 * files do not only check the owner. For root all of /proc is mounted read-only:
 * the modes of its system files are shared with the host, so chmod in the box
 * would change them there.
 */
static int protect_proc_sys(int root, struct ab_error *err)
{
	ab_autoclose int sys = ab_tree_lookup(root, "/proc/sys");
	ab_autoclose int tree = -1;

	if (sys < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find /proc/sys");
	tree = ab_tree_clone_with(sys, MOUNT_ATTR_RDONLY, false, "/proc/sys", err);
	return tree < 0 ? -1 : ab_tree_place(tree, sys, "/proc/sys", err);
}

/* `at`: where the parts are. */
static int mask_proc_parts(int root, int stage, const char *at, struct ab_error *err)
{
	for (size_t i = 0; i < AB_COUNT(proc_masked); i++) {
		char path[40];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", at, proc_masked[i]);
		/* A file that only root can read needs no mask for others. */
		if (access(path, R_OK) < 0 || lstat(path, &st) < 0)
			continue;
		if (mount_staged(root, stage, S_ISDIR(st.st_mode) ? "d" : "f", path, err) < 0)
			return -1;
	}
	return 0;
}

static int place_proc(struct ab_furniture *f, int root, int stage, struct ab_error *err)
{
	if (f->shares_proc) {
		if (mount_staged(root, stage, "proc", "/proc", err) < 0 ||
		    mount_tree(root, f->proc, AB_SHARED_PROC, err) < 0)
			return -1;
		return mask_proc_parts(root, stage, AB_SHARED_PROC, err);
	}
	if (mount_tree(root, f->proc, "/proc", err) < 0 ||
	    (geteuid() != 0 && protect_proc_sys(root, err) < 0))
		return -1;
	return mask_proc_parts(root, stage, "/proc", err);
}

static int place_sys(struct ab_furniture *f, int root, int stage, struct ab_error *err)
{
	ab_autoclose int sys = ab_tree_lookup(root, "/sys");

	if (sys < 0 && errno == ENOENT)
		return 0;
	if (mount_staged(root, stage, "sys", "/sys", err) < 0)
		return -1;
	for (size_t i = 0; i < AB_SYS_PARTS; i++)
		if (f->sys_parts[i] >= 0 &&
		    mount_tree(root, f->sys_parts[i], sys_parts[i], err) < 0)
			return -1;
	return 0;
}

int ab_furniture_place(struct ab_furniture *f, int root, int stage, struct ab_error *err)
{
	if (place_dev(f, root, stage, err) < 0 || place_proc(f, root, stage, err) < 0)
		return -1;
	return place_sys(f, root, stage, err);
}

void ab_furniture_fini(struct ab_furniture *f)
{
	for (size_t i = 0; i < AB_DEVICES; i++)
		ab_closep(&f->devices[i]);
	for (size_t i = 0; i < AB_SYS_PARTS; i++)
		ab_closep(&f->sys_parts[i]);
	ab_close_all(&f->program, &f->shm, &f->proc, &f->pts);
}

bool ab_furniture_boxed(void)
{
	return access(AB_MARKER, F_OK) == 0 || ab_seccomp_marked();
}
