/* Claims on folders of the host: what they exclude, and what they do not. */
#include "state/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/clock.h"
#include "state/live_writers.h"
#include "state/state.h"
#include "tap.h"

static char top[PATH_MAX];
static struct ab_state state;
static struct ab_error error;

static char *at(const char *name)
{
	return ab_printf("%s/%s", top, name);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static bool is_file_there(void)
{
	struct stat st;

	return fstatat(state.root, "claim", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int check_root_since(const char *root, uint64_t seen)
{
	struct ab_strv roots = { .v = (char *[]){ (char *)(uintptr_t)root }, .len = 1 };

	error = (struct ab_error){ 0 };
	return ab_claim_check(&state, &roots, seen, &error);
}

static void ignore_text(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

/* A run that begins to plan now. */
static uint64_t begin_plan(void)
{
	uint64_t n = UINT64_MAX;

	if (ab_claim_wait(&state, &(struct ab_strv){ 0 }, ignore_text, NULL, &n, &error) < 0)
		abort();
	return n;
}

static int check_root(const char *root)
{
	return check_root_since(root, begin_plan());
}

static int take(struct ab_claim *claim, const char *root, const struct ab_strv *paths)
{
	error = (struct ab_error){ 0 };
	return ab_claim_take(claim, root, paths, &error);
}

/* Which runs may start beside a claim on $top/a/b? */
static void test_runs(void)
{
	static const struct {
		const char *root;
		bool held;
	} cases[] = {
		{ "a/b", true },	 { "a/b/c", true }, { "a", true },  { "link", true },
		{ "a/b/missing", true }, { "a/bc", false }, { "d", false },
	};
	ab_autofree char *place = at("a/b");
	struct ab_claim claim;

	ab_claim_init(&claim, &state, NULL);
	ok(!is_file_there(), "no file before the first claim");
	ok(take(&claim, place, NULL) == 0, "taken: %s", error.text);
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *root = at(cases[i].root);

		ok((check_root(root) < 0) == cases[i].held, "a run with %s %s: %s", cases[i].root,
		   cases[i].held ? "does not start" : "starts", error.text);
	}
	ok(ab_claim_check(&state, &(struct ab_strv){ 0 }, 0, &error) == 0,
	   "a run that writes nowhere starts");
	ab_claim_release(&claim);
	ok(!is_file_there() && check_root(place) == 0, "and every run when it is over");
	ab_claim_release(&claim);
	ok(take(&claim, place, NULL) == 0, "taken again");
	ab_claim_release(&claim);
}

/* In a child that holds the claim until its pipe is closed. */
static pid_t hold_claim(const char *place, int *ret_end)
{
	int ready[2], end[2];
	char byte;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(end, O_CLOEXEC) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		struct ab_claim claim;

		close(end[1]);
		ab_claim_init(&claim, &state, NULL);
		if (take(&claim, place, NULL) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		(void)!read(end[0], &byte, 1);
		ab_claim_release(&claim);
		_exit(0);
	}
	close(ready[1]);
	close(end[0]);
	if (read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	*ret_end = end[1];
	return pid;
}

static int told;

static void end_claim(void *arg, const char *text)
{
	int *end = arg;

	printf("# %s\n", text);
	told++;
	close(*end);
}

static void test_other_process(void)
{
	ab_autofree char *place = at("a/b"), *other = at("d");
	struct ab_strv roots = { .v = &place, .len = 1 };
	struct ab_claim claim;
	uint64_t seen;
	int end;
	pid_t pid = hold_claim(place, &end);

	ab_claim_init(&claim, &state, NULL);
	ok(check_root(place) < 0 && check_root(other) == 0, "held by another process");
	ok(ab_claim_wait(&state, &roots, end_claim, &end, &seen, &error) == 0 && told == 1,
	   "a run waits for its end, and says so once");
	waitpid(pid, NULL, 0);
	ok(!is_file_there(), "nothing is left");

	pid = hold_claim(place, &end);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(end);
	ok(is_file_there() && check_root(place) == 0, "one that was killed excludes nobody");
	ok(take(&claim, other, NULL) == 0 && check_root(place) == 0 && check_root(other) < 0,
	   "the next claim takes its place");
	ab_claim_release(&claim);
	ok(!is_file_there(), "nothing is left");
}

/* Signals are blocked while a box is being made. */
static void test_signals(void)
{
	ab_autofree char *place = at("a/b");
	struct ab_strv roots = { .v = &place, .len = 1 };
	struct ab_claim claim;
	uint64_t seen;
	sigset_t one, before;
	int end, number;
	pid_t pid = hold_claim(place, &end);

	ab_claim_init(&claim, &state, NULL);
	sigemptyset(&one);
	sigaddset(&one, SIGINT);
	sigprocmask(SIG_BLOCK, &one, &before);
	raise(SIGINT);
	ok(take(&claim, place, NULL) < 0 && error.errnum == EINTR,
	   "a signal ends the wait for another claim: %s", error.text);
	ok(ab_claim_wait(&state, &roots, end_claim, &end, &seen, &error) < 0 &&
		   error.errnum == EINTR,
	   "and that of a run: %s", error.text);
	sigwait(&one, &number);
	close(end);
	ok(take(&claim, place, NULL) == 0, "without a signal it waits: %s", error.text);
	ab_claim_release(&claim);
	sigprocmask(SIG_SETMASK, &before, NULL);
	waitpid(pid, NULL, 0);
}

/* Claims that begin and end while a run is being planned. */
static void test_planning(void)
{
	ab_autofree char *place = at("a/b"), *inner = at("a/b/c"), *other = at("d");
	struct ab_claim claim;
	uint64_t seen = begin_plan();

	ab_claim_init(&claim, &state, NULL);
	ok(check_root_since(place, seen) == 0, "without a claim the plan is good");
	for (int i = 0; i < 3; i++) {
		ok(take(&claim, other, NULL) == 0, "a claim elsewhere");
		ab_claim_release(&claim);
	}
	ok(check_root_since(place, seen) == 0, "changes nothing: %s", error.text);
	ok(take(&claim, place, NULL) == 0, "one in the workspace");
	ab_claim_release(&claim);
	ok(take(&claim, other, NULL) == 0, "and one elsewhere");
	ab_claim_release(&claim);
	ok(check_root_since(place, seen) < 0 &&
		   strstr(error.text, "while the run was being planned"),
	   "the plan is too old: %s", error.text);
	ok(check_root_since(inner, seen) < 0, "also for a folder below it");
	ok(check_root_since(place, begin_plan()) == 0, "a new plan is good");
	seen = begin_plan();
	for (int i = 0; i < 16; i++) {
		if (take(&claim, other, NULL) < 0)
			abort();
		ab_claim_release(&claim);
	}
	ok(check_root_since(place, seen) < 0, "more claims than are listed may have been anywhere");
	ok(check_root_since(place, begin_plan() + 1) < 0, "and so may those of a lost list");
	seen = begin_plan();
	for (int i = 0; i < 15; i++) {
		if (take(&claim, other, NULL) < 0)
			abort();
		ab_claim_release(&claim);
	}
	ok(check_root_since(place, seen) == 0, "fifteen are known: %s", error.text);
}

/* An active run with this record. */
static void start_run(struct ab_run *run, const char *record)
{
	FILE *file;
	int fd;

	if (ab_run_create(&state, "abcde", run, &error) < 0)
		abort();
	fd = openat(run->dir, "audit.jsonl", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file || fputs(record, file) < 0 || fclose(file) != 0)
		abort();
}

static void end_run(struct ab_run *run)
{
	unlinkat(run->dir, "audit.jsonl", 0);
	unlinkat(state.live, run->id, AT_REMOVEDIR);
	ab_run_fini(run);
}

static void test_writers(void)
{
	static const struct {
		const char *writes, *place, *path; /* path NULL: all of place */
		bool refused;
	} cases[] = {
		{ "a/b", "a/b", NULL, true },	{ "a", "a/b", NULL, true },
		{ "a/b/c", "a/b", NULL, true }, { "d", "a/b", NULL, false },
		{ "a/b", "a", "b/x", true },	{ "a/b", "a", "b", true },
		{ "a/b/c", "a", "b", true },	{ "a/b", "a", "bc/x", false },
		{ "a/b", "a", "x", false },	{ "a", "a", "x", true },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *writes = at(cases[i].writes), *place = at(cases[i].place);
		ab_autofree char *record = ab_printf("{\"watch\":{\"write\":[\"%s\"]}}\n", writes);
		struct ab_strv path = { .v = (char *[]){ (char *)(uintptr_t)cases[i].path },
					.len = 1 };
		struct ab_claim claim;
		struct ab_run run;

		start_run(&run, record);
		ab_claim_init(&claim, &state, NULL);
		ok((take(&claim, place, cases[i].path ? &path : NULL) < 0) == cases[i].refused,
		   "%s of %s beside a run that writes to %s: %s",
		   cases[i].path ? cases[i].path : "all", cases[i].place, cases[i].writes,
		   error.text);
		is_str(claim.busy, cases[i].refused ? run.id : "", "the run");
		ok(is_file_there() == !cases[i].refused, "no lock is left if it is refused");
		ab_claim_release(&claim);
		/* The box of our own run is gone. */
		ab_claim_init(&claim, &state, run.id);
		ok(take(&claim, place, NULL) == 0, "our own run does not count");
		ab_claim_release(&claim);
		end_run(&run);
	}
}

static void test_records(void)
{
	static const struct {
		const char *record;
		bool refused;
	} cases[] = {
		{ "", false }, /* it will see the claim when it has written one */
		{ "{\"watch\":{\"write\":[]}}\n", false },
		{ "{\"watch\":", true },
		{ "no record\n", true },
		{ "{\"watch\":{\"write\":[1]}}\n", true },
	};
	ab_autofree char *place = at("a");

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_claim claim;
		struct ab_run run;

		start_run(&run, cases[i].record);
		ab_claim_init(&claim, &state, NULL);
		ok((take(&claim, place, NULL) < 0) == cases[i].refused, "record %zu: %s", i,
		   error.text);
		ab_claim_release(&claim);
		end_run(&run);
	}
}

int main(void)
{
	ab_autofree char *folder = NULL, *link = NULL;
	char name[] = "/tmp/agentbox-test-XXXXXX";

	if (!mkdtemp(name) || !realpath(name, top))
		abort();
	for (const char *const *p = (const char *const[]){ "a", "a/b", "a/b/c", "a/bc", "d", NULL };
	     *p; p++) {
		ab_autofree char *path = at(*p);

		if (mkdir(path, 0700) < 0)
			abort();
	}
	folder = at("state");
	link = at("link");
	if (symlink("a", link) < 0 || ab_state_open(folder, &state, &error) < 0)
		abort();
	test_runs();
	test_other_process();
	test_signals();
	test_planning();
	test_writers();
	test_records();
	ab_state_fini(&state);
	nftw(top, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return done();
}
