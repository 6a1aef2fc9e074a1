/* Which folders of cgroups are removed, in an ordinary folder: the removal of those that were left behind asks
 * for names and locks only. And how one is locked. A run and a real cgroup: residue.bats. */
#include "host/cgroup.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/system/fd.h"
#include "base/system/folder.h"

#include "tap.h"

static char top[] = "/tmp/agentbox-cgroup-XXXXXX";

static const struct {
	const char *name;
	bool ours, locked, full, stays;
	const char *why;
} cases[] = {
	{ "agentbox-abcd2", true, false, false, false, "nobody has locked it" },
	{ "agentbox-abcd3", true, true, false, true, "its supervisor lives" },
	{ "agentbox-abcd4", true, false, true, true, "it is not empty" },
	{ "agentbox-tests", false, false, false, true, "a run did not make it" },
	{ "agentbox-", true, false, false, true, "no id" },
	{ "agentbox-build", true, false, false, true, "ids have no l" },
	{ "agentbox-abcd2-other", true, false, false, true, "the name of another program" },
	{ "user.slice", true, false, false, true, "not ours" },
	{ "agentbox-nwy29", true, true, false, true, "the one of the run that looks" },
};

static char *path_of(const char *name)
{
	return ab_path_join(top, name);
}

static void check_left(void)
{
	ab_autofree char *own = path_of("agentbox-nwy29");

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *path = path_of(cases[i].name);
		ab_autofree char *child = ab_path_join(path, "child");
		int lock = -1; /* open until the end */

		if (cases[i].ours ? ab_folder_make_held(path, 0755, &lock) != 1
				  : mkdir(path, 0755) < 0)
			abort();
		if (cases[i].full)
			mkdir(child, 0700);
		if (!cases[i].locked)
			ab_closep(&lock);
	}
	ab_cgroup_remove_left(own);
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *path = path_of(cases[i].name);
		ab_autofree char *child = ab_path_join(path, "child");

		ok((access(path, F_OK) == 0) == cases[i].stays, "%s %s: %s", cases[i].name,
		   cases[i].stays ? "stays" : "is removed", cases[i].why);
		rmdir(child);
		rmdir(path);
	}
}

/* What is not in a cgroup file system is never removed; what could not be looked at may be there. */
static void check_one(void)
{
	ab_autofree char *path = path_of("agentbox-abcd2");
	ab_autofree char *below = path_of("absent/agentbox-abcd2");
	ab_autofree char *loop = path_of("loop");
	ab_autofree char *behind = path_of("loop/agentbox-abcd2");

	mkdir(path, 0700);
	(void)!symlink("loop", loop);
	ok(ab_cgroup_remove(path, "abcd2") == 0 && access(path, F_OK) == 0,
	   "a folder that is not a cgroup stays");
	ok(ab_cgroup_remove(path, "abcd3") == 0 && access(path, F_OK) == 0, "another run's");
	ok(ab_cgroup_remove(below, "abcd2") == 0, "the folder above it is gone, and so is it");
	ok(ab_cgroup_remove(behind, "abcd2") < 0, "the folder above it cannot be looked at");
	unlink(loop);
	rmdir(path);
}

/* In the place of a cgroup file system: rmdir() fails with `fault` for so many calls. */
static struct {
	bool on;
	int fault, faults, calls;
} mounted;

int statfs(const char *path, struct statfs *fs)
{
	int r = (int)syscall(SYS_statfs, path, fs);

	if (mounted.on)
		fs->f_type = CGROUP2_SUPER_MAGIC;
	return r;
}

int rmdir(const char *path)
{
	if (mounted.on && mounted.calls++ < mounted.faults) {
		errno = mounted.fault;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static void fail_removal(int fault, int faults)
{
	mounted.on = true;
	mounted.fault = fault;
	mounted.faults = faults;
	mounted.calls = 0;
}

static void check_busy(void)
{
	ab_autofree char *path = path_of("agentbox-abcd2");

	mkdir(path, 0700);
	fail_removal(EBUSY, 3);
	ok(ab_cgroup_try_remove(path, "abcd2") < 0 && errno == EBUSY && mounted.calls == 1,
	   "one that is busy is tried once");
	ok(ab_cgroup_remove(path, "abcd2") == 0 && mounted.calls == 4 && access(path, F_OK) < 0,
	   "or until it is removed");
	mkdir(path, 0700);
	fail_removal(EROFS, 1000);
	ok(ab_cgroup_remove(path, "abcd2") < 0 && errno == EROFS && mounted.calls == 1,
	   "on a mount that is read-only it stays");
	mounted.on = false;
	rmdir(path);
	fail_removal(EROFS, 1000);
	ok(ab_cgroup_remove(path, "abcd2") == 0, "unless it is gone");
	mounted.on = false;
}

static const char *rival_path; /* another process locks it first */
static int rival = -1;

int flock(int fd, int how)
{
	if (rival_path && rival < 0) {
		rival = open(rival_path, O_RDONLY | O_CLOEXEC);
		if (syscall(SYS_flock, rival, LOCK_EX) < 0)
			abort();
	}
	return (int)syscall(SYS_flock, fd, how);
}

/* Whoever can read the folder can lock it, between its creation and our lock. */
static void check_held(void)
{
	ab_autofree char *path = path_of("agentbox-held2");
	ab_autoclose int other = -1, lock = -1, unlocked = -1;

	ok(ab_folder_make_held(path, 0755, &lock) == 1 && lock >= 0, "a folder is made");
	other = open(path, O_RDONLY | O_CLOEXEC);
	ok(flock(other, LOCK_EX | LOCK_NB) < 0, "and locked");
	rmdir(path);
	rival_path = path;
	alarm(60); /* an endless wait ends us */
	ok(ab_folder_make_held(path, 0755, &unlocked) == 1 && unlocked >= 0,
	   "a lock that another process keeps is not waited for without end");
	alarm(0);
	ab_folder_remove_unheld(top, "agentbox-?????");
	ok(access(path, F_OK) == 0, "and keeps the folder");
	ab_closep(&rival);
	rival_path = NULL;
	ab_folder_remove_unheld(top, "agentbox-?????");
	ok(access(path, F_OK) < 0, "until it is gone");
}

int main(void)
{
	if (!mkdtemp(top))
		return 1;
	check_held();
	check_left();
	check_one();
	check_busy();
	rmdir(top);
	return done();
}
