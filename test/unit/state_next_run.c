/*
 * Rules for the next run, on a real file system: who gets them, once, when
 * they are forgotten, and what a broken or foreign file does.
 */
#include "state/next_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "base/system/fd.h"
#include "policy_help.h"
#include "state/state.h"
#include "tap.h"

enum { NOW = 1800000000, DAY = 86400 };

static struct ab_state state;

static bool exists(const char *name)
{
	return faccessat(state.root, name, F_OK, 0) == 0;
}

static int add(const char *workspace, const char *path, int64_t now)
{
	bool had;

	error = (struct ab_error){ 0 };
	if (ab_next_run_add(state.root, now, workspace, path, &had, &error) < 0)
		return -1;
	return had;
}

/* "path path", or what was noted instead. */
static const char *take(int64_t now, struct ab_next_run *next)
{
	ab_strv_fini(&notes);
	ab_next_run_take(&input, now, next, &notes);
	return next->write.len ? joined(&next->write) : joined(&notes);
}

static int use(int64_t now, struct ab_next_run *next)
{
	int result;

	error = (struct ab_error){ 0 };
	result = ab_next_run_use(state.root, now, next, &error);
	ab_next_run_fini(next);
	return result;
}

static void forget_all(void)
{
	unlinkat(state.root, "next.json", 0);
}

static void check_once(void)
{
	struct ab_next_run next;
	struct stat st;

	is_str(take(NOW, &next), "", "where nothing was said there is nothing");
	ok(next.claim < 0 && !exists("next.lock"), "and nothing is made");

	ok(add(input.cwd, "/data", NOW) == 0, "a rule is new");
	ok(add(input.cwd, "/data", NOW + 1) == 1, "said again it was there");
	ok(add(at("home/other"), "/else", NOW) == 0, "one for another folder");
	ok(fstatat(state.root, "next.json", &st, 0) == 0 && (st.st_mode & 0777) == 0600,
	   "nobody else reads the file");

	is_str(take(NOW + 2, &next), "/data", "a run gets those of its folder");
	ok(notes.len == 0, "and nothing is said before the policy permits it");
	ok(ab_next_run_use(state.root, NOW + 2, &next, &error) == 0, "the command starts");
	ok(ab_next_run_return(state.root, NOW + 2, &next, &error) == 0,
	   "and could not be executed");
	ab_next_run_fini(&next);
	is_str(take(NOW + 3, &next), "/data", "so the next one gets them");
	ok(use(NOW + 3, &next) == 0, "which does start");
	is_str(take(NOW + 3, &next), "", "the run after it gets none");

	input.workspace = at("home/other");
	is_str(take(NOW + 3, &next), "/else", "another folder still has its");
	ok(use(NOW + 3, &next) == 0 && !exists("next.json"), "the last one takes the file along");
	input.workspace = NULL;
}

static void check_failure(void)
{
	struct ab_next_run first, second;

	forget_all();
	add(input.cwd, "/data", NOW);
	is_str(take(NOW, &first), "/data", "a run that will fail");
	is_str(take(NOW, &second),
	       "paths that you allowed for the next run are not in force: "
	       "another run that is starting uses them",
	       "meanwhile nobody else gets it, and hears so");
	ab_next_run_fini(&second);
	ab_next_run_fini(&first);
	is_str(take(NOW, &second), "/data", "afterwards it is there again");
	add(input.cwd, "/late", NOW);
	ok(use(NOW, &second) == 0, "used");
	is_str(take(NOW, &first), "/late", "what was said meanwhile is for the one after");
	ok(use(NOW, &first) == 0, "used, too");
}

static void check_death(void)
{
	struct ab_next_run next;
	int status;
	pid_t pid;

	forget_all();
	add(input.cwd, "/data", NOW);
	pid = fork();
	if (pid == 0) {
		take(NOW, &next);
		raise(SIGKILL);
	}
	waitpid(pid, &status, 0);
	is_str(take(NOW, &next), "/data", "a run that was killed loses nothing");
	ab_next_run_fini(&next);

	/* A process that it forked has the lock, too. */
	take(NOW, &next);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	ab_next_run_fini(&next);
	is_str(take(NOW, &next), "/data",
	       "the lock ends although it was "
	       "inherited");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ab_next_run_fini(&next);
}

/* What was allowed is not what stands under its name by now. */
static void check_links(void)
{
	ab_autofree char *path = ab_strdup(at("out"));
	struct ab_next_run next;

	if (mkdir(path, 0700) < 0 || add(input.cwd, path, NOW) < 0 ||
	    add(input.cwd, "/data", NOW) < 0)
		abort();
	take(NOW, &next);
	ok(next.write.len == 2 && strcmp(next.write.v[0], path) == 0, "a folder that is there");
	ab_next_run_fini(&next);
	if (rmdir(path) < 0 || symlink("/usr", path) < 0)
		abort();
	is_str(take(NOW, &next), "/data", "but not one that is a link by now");
	ok(strstr(joined(&notes), "now leads elsewhere"), "which is said");
	ab_next_run_fini(&next);
	is_str(take(NOW, &next), "/data", "and forgotten");
	ab_next_run_fini(&next);
	forget_all();
}

static void check_time(void)
{
	struct ab_next_run next;

	forget_all();
	add(input.cwd, "/data", NOW);
	is_str(take(NOW + AB_NEXT_DAYS * DAY - 1, &next), "/data", "a rule is kept for days");
	ab_next_run_fini(&next);
	is_str(take(NOW + AB_NEXT_DAYS * DAY, &next), "", "and forgotten then");
	is_str(take(NOW - DAY, &next), "/data", "a clock may be set back");
	ab_next_run_fini(&next);
	is_str(take(NOW - DAY - 1, &next), "", "one to come does not count");
}

static void check_bounds(void)
{
	struct ab_next_run next;
	char path[32];
	int i = 0;

	forget_all();
	do
		snprintf(path, sizeof(path), "/d%d", i);
	while (add(input.cwd, path, NOW) == 0 && i++ < 2 * AB_NEXT_MAX);
	ok(i == AB_NEXT_MAX, "so many rules and no more: %d", i);
	ok(strstr(error.text, "64 rules"), "which is said: %s", error.text);
	ok(add(input.cwd, "/d3", NOW) == 1, "one of them can be said again");
	forget_all();
	ok(add(input.cwd, "/d\xff", NOW) < 0, "bytes that are no text");

	add(input.cwd, "/data", NOW);
	add_flag("filesystem.write", NULL, "--read-only");
	is_str(take(NOW, &next), "", "--read-only takes nothing");
	input.nsettings = 0;
	is_str(take(NOW, &next), "/data", "and leaves it");
	ab_next_run_fini(&next);
}

static const char *take_text(const char *text, mode_t mode)
{
	struct ab_next_run next;
	ab_autoclose int fd = -1;
	const char *seen;

	forget_all();
	fd = openat(state.root, "next.json", O_WRONLY | O_CREAT, mode);
	if (fd < 0 || fchmod(fd, mode) < 0 || ab_write_all(fd, text, strlen(text)) < 0)
		abort();
	seen = take(NOW, &next);
	ab_next_run_fini(&next);
	return seen;
}

static void check_broken(void)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"version\":1}",
		"{\"version\":2,\"next\":[]}",
		"{\"version\":1,\"next\":{}}",
		"{\"version\":1,\"next\":[1]}",
		"{\"version\":1,\"next\":[{\"workspace\":\"/w\"}]}",
		"{\"version\":1,\"next\":[{\"write\":[],\"at\":1}]}",
	};
	ab_autofree char *good = ab_printf("{\"version\":1,\"next\":[{\"workspace\":\"%s\","
					   "\"write\":\"/data\",\"at\":%d}]}",
					   input.cwd, NOW);

	for (size_t i = 0; i < AB_COUNT(bad); i++)
		ok(strstr(take_text(bad[i], 0600), "is broken"), "not a list of rules: %s", bad[i]);
	is_str(take_text(good, 0600), "/data", "this one is");
	ok(strstr(take_text(good, 0666), "others can write to it"),
	   "but not where others can write it");
	forget_all();
	if (symlinkat(at("good"), state.root, "next.json") < 0)
		abort();
	put_file("good", good);
	{
		struct ab_next_run next;

		ok(strstr(take(NOW, &next), "is broken"), "nor as a link");
	}
	forget_all();
	ok(mkdirat(state.root, "next.json", 0700) == 0 && add(input.cwd, "/data", NOW) < 0,
	   "a folder in its place is an error");
	unlinkat(state.root, "next.json", AT_REMOVEDIR);
}

/* Another user can have the lock of a folder that he may list. */
static void check_locked(void)
{
	int fd = openat(state.root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	forget_all();
	flock(fd, LOCK_EX);
	alarm(240);
	ok(add(input.cwd, "/locked", NOW) < 0 && strstr(error.text, "holds the lock"),
	   "a lock that is kept is not waited for");
	close(fd);
	ok(add(input.cwd, "/locked", NOW) == 0, "one that is free is taken");
	alarm(0);
}

int main(void)
{
	world_init();
	set_env("AGENTBOX_STATE", at("state"));
	if (ab_state_open(at("state"), &state, &error) < 0)
		return 1;
	check_once();
	check_failure();
	check_death();
	check_links();
	check_time();
	check_bounds();
	check_broken();
	check_locked();
	ab_state_fini(&state);
	world_fini();
	return done();
}
