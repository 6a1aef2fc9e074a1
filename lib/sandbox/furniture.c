#include "sandbox/furniture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/tree.h"

static const char *const device_names[AB_DEVICES] = {
	"null", "zero", "full", "random", "urandom", "tty",
};

static const struct {
	const char *name, *target;
} dev_links[] = {
	{ "dev/fd", "/proc/self/fd" },
	{ "dev/stdin", "/proc/self/fd/0" },
	{ "dev/stdout", "/proc/self/fd/1" },
	{ "dev/stderr", "/proc/self/fd/2" },
	{ "dev/ptmx", "pts/ptmx" },
};

/* Of /sys only this much: run-times count processors and look at huge pages;
 * the rest tells about the host or steers it. */
static const char *const sys_parts[AB_SYS_PARTS] = {
	"/sys/devices/system",
	"/sys/kernel/mm/transparent_hugepage",
};

static const char *const stage_dirs[] = {
	"dev",
	"dev/pts",
	"dev/shm",
	"sys",
	"sys/devices",
	"sys/devices/system",
	"sys/kernel",
	"sys/kernel/mm",
	"sys/kernel/mm/transparent_hugepage",
};

/*
 * Run by root this is the wall: sysctls and the like ask for the owner of
 * the file, not for a capability.
 */
static const char *const proc_readonly[] = {
	"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs",
	"/proc/sysrq-trigger",
};
static const char *const proc_masked[] = {
	"/proc/kcore",	 "/proc/keys", "/proc/timer_list", "/proc/sched_debug",
	"/proc/latency_stats", "/proc/acpi", "/proc/scsi",
};

int ab_furniture_collect(struct ab_furniture *f, int host,
			 struct ab_error *err)
{
	memset(f, -1, sizeof(*f));	/* -1 in every descriptor */
	for (size_t i = 0; i < AB_DEVICES; i++) {
		ab_autoclose int fd = -1;
		char path[32];

		snprintf(path, sizeof(path), "/dev/%s", device_names[i]);
		fd = ab_tree_lookup(host, path);
		if (fd < 0)
			continue;
		f->devices[i] = ab_tree_clone(fd, path, err);
		/* Read-only closes the node (its mode, owner and times: run by
		 * root they are ours to change), not the device behind it. */
		if (f->devices[i] < 0 ||
		    ab_tree_setattr(f->devices[i],
				    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					    MOUNT_ATTR_NOEXEC,
				    0, 0, path, err) < 0)
			return -1;
	}
	return 0;
}

int ab_furniture_collect_readonly(struct ab_furniture *f, int host,
				  struct ab_error *err)
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

static int write_marker(int stage, const char *run_id, struct ab_error *err)
{
	ab_autoclose int fd = openat(stage, "dev/agentbox",
				     O_WRONLY | O_CREAT | O_CLOEXEC, 0444);

	if (fd < 0 || ab_write_all(fd, run_id, strlen(run_id)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "write %s", AB_MARKER);
	return 0;
}

int ab_furniture_stage(struct ab_furniture *f, int stage, const char *run_id,
		       struct ab_error *err)
{
	for (size_t i = 0; i < AB_COUNT(stage_dirs); i++)
		if (mkdirat(stage, stage_dirs[i], 0755) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "make %s",
				       stage_dirs[i]);
	for (size_t i = 0; i < AB_DEVICES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "dev/%s", device_names[i]);
		if (mknodat(stage, name, S_IFREG | 0444, 0) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "make %s", name);
	}
	for (size_t i = 0; i < AB_COUNT(dev_links); i++)
		if (symlinkat(dev_links[i].target, stage, dev_links[i].name) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "link %s",
				       dev_links[i].name);
	if (mkdirat(stage, "shm", 01777) < 0 ||
	    (f->shm = open_tree(stage, "shm",
				OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make shm");
	return write_marker(stage, run_id, err);
}

/* Clone `name` of the staging tmpfs onto `path`. */
static int put_staged(int root, int stage, const char *name, const char *path,
		      struct ab_error *err)
{
	ab_autoclose int tree = open_tree(stage, name,
					  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	ab_autoclose int target = ab_tree_lookup(root, path);

	if (tree < 0 || target < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", path);
	return ab_tree_place(tree, target, path, err);
}

static int put(int root, int tree, const char *path, struct ab_error *err)
{
	ab_autoclose int target = ab_tree_lookup(root, path);

	if (target < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", path);
	return ab_tree_place(tree, target, path, err);
}

static int place_dev(struct ab_furniture *f, int root, int stage,
		     struct ab_error *err)
{
	if (put_staged(root, stage, "dev", "/dev", err) < 0 ||
	    put(root, f->shm, "/dev/shm", err) < 0)
		return -1;
	for (size_t i = 0; i < AB_DEVICES; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/%s", device_names[i]);
		if (f->devices[i] >= 0 &&
		    put(root, f->devices[i], path, err) < 0)
			return -1;
	}
	if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		  "newinstance,ptmxmode=0666,mode=0620") < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "mount devpts");
	return 0;
}

static int place_proc(int root, int stage, struct ab_error *err)
{
	ab_autoclose int proc = -1;

	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL) < 0) {
		int errnum = errno;

		ab_fail(err, AB_ESYSTEM, errnum, "mount a fresh /proc");
		if (errnum == EPERM)
			ab_hint(err, "parts of this machine's /proc are hidden "
				     "(a container does that), and the kernel "
				     "then refuses a new one; start the "
				     "container with unmasked system paths "
				     "(Docker: --security-opt "
				     "systempaths=unconfined)");
		return -1;
	}
	proc = ab_tree_lookup(root, "/proc");
	if (proc < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find /proc");
	/* A clone has the flags of its mount: read-only for a moment. */
	if (ab_tree_setattr(proc, MOUNT_ATTR_RDONLY, 0, 0, "/proc", err) < 0)
		return -1;
	for (size_t i = 0; i < AB_COUNT(proc_readonly); i++) {
		ab_autoclose int fd = ab_tree_lookup(root, proc_readonly[i]);
		ab_autoclose int tree = -1;

		if (fd < 0 && errno == ENOENT)
			continue;	/* not in every kernel */
		if (fd < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "find %s",
				       proc_readonly[i]);
		tree = ab_tree_clone(fd, proc_readonly[i], err);
		if (tree < 0 ||
		    ab_tree_place(tree, fd, proc_readonly[i], err) < 0)
			return -1;
	}
	/*
	 * Root owns every file of /proc, and the modes of those that are not
	 * a process's are the machine's: chmod in the box would change them
	 * for the host. So for root it stays read-only as a whole.
	 */
	if (geteuid() != 0 &&
	    ab_tree_setattr(proc, 0, MOUNT_ATTR_RDONLY, 0, "/proc", err) < 0)
		return -1;
	for (size_t i = 0; i < AB_COUNT(proc_masked); i++) {
		struct stat st;

		if (lstat(proc_masked[i], &st) < 0)
			continue;
		if (put_staged(root, stage, S_ISDIR(st.st_mode) ? "d" : "f",
			       proc_masked[i], err) < 0)
			return -1;
	}
	return 0;
}

static int place_sys(struct ab_furniture *f, int root, int stage,
		     struct ab_error *err)
{
	ab_autoclose int sys = ab_tree_lookup(root, "/sys");

	if (sys < 0 && errno == ENOENT)
		return 0;
	if (put_staged(root, stage, "sys", "/sys", err) < 0)
		return -1;
	for (size_t i = 0; i < AB_SYS_PARTS; i++)
		if (f->sys_parts[i] >= 0 &&
		    put(root, f->sys_parts[i], sys_parts[i], err) < 0)
			return -1;
	return 0;
}

int ab_furniture_place(struct ab_furniture *f, int root, int stage,
		       struct ab_error *err)
{
	if (place_dev(f, root, stage, err) < 0 ||
	    place_proc(root, stage, err) < 0)
		return -1;
	return place_sys(f, root, stage, err);
}

void ab_furniture_fini(struct ab_furniture *f)
{
	for (size_t i = 0; i < AB_DEVICES; i++)
		ab_closep(&f->devices[i]);
	for (size_t i = 0; i < AB_SYS_PARTS; i++)
		ab_closep(&f->sys_parts[i]);
	ab_closep(&f->shm);
}
