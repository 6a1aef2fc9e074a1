/* Which folders of cgroups are removed, in an ordinary folder: the removal of those that were left behind asks
 * for names and locks only. A run and a real cgroup: residue.bats. */
#include "host/cgroup.h"

#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char top[] = "/tmp/agentbox-cgroup-XXXXXX";

static const struct {
	const char *name;
	bool locked, full, stays;
	const char *why;
} cases[] = {
	{ "agentbox-abcd2", false, false, false, "nobody has locked it" },
	{ "agentbox-abcd3", true, false, true, "its supervisor lives" },
	{ "agentbox-abcd4", false, true, true, "it is not empty" },
	{ "agentbox-", false, false, true, "no id" },
	{ "agentbox-abcd2-other", false, false, true, "the name of another program" },
	{ "user.slice", false, false, true, "not ours" },
	{ "agentbox-own22", true, false, true, "the one of the run that looks" },
};

static char *path_of(const char *name)
{
	return ab_path_join(top, name);
}

static void check_left(void)
{
	ab_autofree char *own = path_of("agentbox-own22");

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *path = path_of(cases[i].name);
		ab_autofree char *child = ab_path_join(path, "child");

		mkdir(path, 0700);
		if (cases[i].full)
			mkdir(child, 0700);
		/* Open until the end. */
		if (cases[i].locked)
			(void)flock(open(path, O_RDONLY | O_CLOEXEC), LOCK_EX);
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

int main(void)
{
	if (!mkdtemp(top))
		return 1;
	check_left();
	check_one();
	rmdir(top);
	return done();
}
