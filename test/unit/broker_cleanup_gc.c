/* What goes of runs that are over, what stays, and that nothing else does. */
#include "broker/cleanup/gc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/read/find.h"
#include "base/data/mem.h"
#include "broker/cleanup/hourly.h"
#include "policy/model/policy.h"
#include "state/state.h"
#include "tap.h"

static char top[PATH_MAX];
static int runs;

/* Good until the fourth call from now. */
static const char *at(const char *rel)
{
	static char paths[4][PATH_MAX + 64];
	static size_t next;
	char *path = paths[next++ % AB_COUNT(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, rel);
	return path;
}

static bool exists(const char *rel)
{
	struct stat st;

	return lstat(at(rel), &st) == 0;
}

static void put(const char *rel, const char *text)
{
	FILE *f = fopen(at(rel), "w");

	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
}

static void age(const char *rel, int days)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_NOW },
				     { .tv_sec = time(NULL) - days * 86400 } };

	if (utimensat(AT_FDCWD, at(rel), times, AT_SYMLINK_NOFOLLOW) < 0)
		abort();
}

/* A run that ended so many days ago. */
static void make_run(const char *id, int days)
{
	char rel[64];

	snprintf(rel, sizeof(rel), "runs/%s", id);
	if (mkdir(at(rel), 0700) < 0)
		abort();
	snprintf(rel, sizeof(rel), "runs/%s/audit.jsonl", id);
	put(rel, "{}\n");
	snprintf(rel, sizeof(rel), "runs/%s", id);
	age(rel, days);
}

static void quarantine(const char *id)
{
	char rel[64];

	snprintf(rel, sizeof(rel), "runs/%s/0000-.vscode", id);
	mkdir(at(rel), 0700);
	snprintf(rel, sizeof(rel), "runs/%s/0000-.vscode/x", id);
	put(rel, "work");
}

#define DAYS(n) ((uint64_t)(n)*86400000)

static size_t collect(const struct ab_gc_rule *rule, struct ab_gc_report *ret)
{
	size_t n;

	ab_gc(runs, rule, ret);
	n = ret->removed.len;
	ab_gc_report_fini(ret);
	return n;
}

static void test_rules(void)
{
	struct ab_gc_report r;

	make_run("aaaaa", 40);
	make_run("bbbbb", 31);
	make_run("ccccc", 29);
	make_run("ddddd", 1);
	ok(collect(&(struct ab_gc_rule){ .keep_ms = DAYS(30), .keep_runs = 10, .dry = true }, &r) ==
			   2 &&
		   r.kept == 2 && exists("runs/aaaaa"),
	   "what would go is only said");
	ok(collect(&(struct ab_gc_rule){ .keep_ms = DAYS(30), .keep_runs = 10 }, &r) == 2 &&
		   !exists("runs/aaaaa") && !exists("runs/bbbbb") &&
		   exists("runs/ccccc/audit.jsonl"),
	   "old ones go, others stay");
	ok(collect(&(struct ab_gc_rule){ .keep_ms = AB_GC_ALL, .keep_runs = 1 }, &r) == 1 &&
		   !exists("runs/ccccc") && exists("runs/ddddd"),
	   "too many go, the newest stay");
	ok(collect(&(struct ab_gc_rule){ .keep_ms = AB_GC_ALL, .keep_runs = AB_GC_ALL }, &r) == 0,
	   "without a rule nothing goes");
	make_run("eeeee", -5);
	ok(collect(&(struct ab_gc_rule){ .keep_ms = 0, .keep_runs = 10 }, &r) == 1 &&
		   exists("runs/eeeee"),
	   "one that ends in the future is new");
	make_run("fffff", 3);
	for (int i = 0; i < 3; i++) {
		const char *id = (const char *[]){ "gggg2", "gggg3", "gggg4" }[i];
		char rel[64];

		make_run(id, i);
		snprintf(rel, sizeof(rel), "runs/%s/" AB_GC_TOOL_MARK, id);
		put(rel, "");
		snprintf(rel, sizeof(rel), "runs/%s", id);
		age(rel, i);
	}
	ok(collect(&(struct ab_gc_rule){ .keep_ms = AB_GC_ALL, .keep_runs = 2 }, &r) == 1 &&
		   exists("runs/fffff") && exists("runs/gggg3") && !exists("runs/gggg4"),
	   "runs of tools are counted on their own");
	ok(collect(&(struct ab_gc_rule){ 0 }, &r) == 4 && r.kept == 0, "nothing is to be kept");
}

/* A run that keeps so many, cleans up and ends. */
static void clean_up(int keep)
{
	struct ab_state state = { .root = -1, .live = -1, .runs = runs };
	struct ab_run run = { .state = &state, .id = "zzzzz" };
	struct ab_policy policy = { .records = { .keep_ms = 30 * 86400000ull,
						 .keep_runs = (uint64_t)keep } };
	struct ab_gc_rule rule = ab_gc_rule_of(&policy);

	ab_hourly_cleanup(&run, &rule, AB_HOURLY_STEP);
}

static void test_rule(void)
{
	struct ab_policy policy = { .records = { .keep_ms = 2000, .keep_runs = 7 } };
	struct ab_gc_rule rule = ab_gc_rule_of(&policy);

	ok(rule.keep_ms == 2000 && rule.keep_runs == 7, "what a policy keeps");
	ok(!rule.quarantine && !rule.dry, "and nothing else is asked for");
	rule = ab_gc_rule_of(&(struct ab_policy){ 0 });
	ok(rule.keep_ms == AB_GC_ALL && rule.keep_runs == AB_GC_ALL, "without limits, everything");
}

static size_t count_runs(void)
{
	DIR *list = opendir(at("runs"));
	const struct dirent *e;
	size_t n = 0;

	while (list && (e = readdir(list)) != NULL)
		n += e->d_name[0] != '.';
	if (list)
		closedir(list);
	return n;
}

/* Short runs remove more than they add, most of them nothing. */
static void test_turns(void)
{
	size_t turns = 0, ids = 0;

	for (char id[] = "zzzz\1"; id[4] < 127; id[4]++) {
		bool is_id = ab_run_id_valid(id);

		ids += is_id;
		turns += is_id && ab_hourly_is_turn(id);
	}
	ok(turns * AB_HOURLY_TURN > ids && turns * 10 < ids, "%zu of %zu have their turn", turns,
	   ids);
	ok(!ab_hourly_is_turn(""), "no id, no turn");
}

static void test_hourly(void)
{
	struct timespec hour[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - 3601 } };
	struct stat before, after;
	size_t n;

	for (int i = 0; i < 100; i++) {
		char id[8];

		snprintf(id, sizeof(id), "yy%c%c%c", 'a' + i % 8, 'a' + i / 8 % 8, 'a' + i / 64);
		make_run(id, 1);
	}
	make_run("qqqqq", 40);
	mkdir(at("runs/.gone-ppppp"), 0700);
	put("runs/.looked", "");
	clean_up(50);
	n = count_runs();
	ok(n < 101 && n >= 101 - AB_HOURLY_STEP && !exists("runs/qqqqq"),
	   "one run removes a few, the oldest first");
	ok(stat(at("runs/.looked"), &before) == 0, "it leaves a list");
	clean_up(60);
	ok(count_runs() == n, "a run with another rule does not use it");
	for (int i = 0; i < 12; i++)
		clean_up(50);
	ok(count_runs() == 50, "as many as are due go");
	clean_up(50);
	ok(count_runs() == 50 && !exists("runs/.gone-ppppp"), "the rest stays, remains do not");
	ok(stat(at("runs/.looked"), &after) == 0 && after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
		   after.st_mtim.tv_nsec == before.st_mtim.tv_nsec,
	   "taking names off the list does not count as a look");
	clean_up(10);
	ok(count_runs() == 50, "within the hour nothing else is due");
	utimensat(AT_FDCWD, at("runs/.looked"), hour, 0);
	clean_up(10);
	ok(count_runs() == 50 - AB_HOURLY_STEP, "an hour later it is");
	mkdir(at("live"), 0700);
	put("live/audit.jsonl", "");
	put("runs/.looked", "          2592000000                   10\n../../live\nyy/..\n");
	clean_up(10);
	ok(stat(at("runs/.looked"), &after) == 0 && after.st_size == 20 + 1 + 20 + 1,
	   "each name is taken off the list");
	ok(exists("live/audit.jsonl"), "a name that is not a run's is left alone");
	collect(&(struct ab_gc_rule){ 0 }, &(struct ab_gc_report){ 0 });
	unlink(at("runs/.looked"));
	unlink(at("live/audit.jsonl"));
	rmdir(at("live"));
}

static void test_quarantine(void)
{
	struct ab_gc_report r;

	make_run("aaaaa", 40);
	quarantine("aaaaa");
	make_run("bbbbb", 40);
	mkdir(at("runs/bbbbb/quarantine"), 0700);
	put("runs/bbbbb/audit.1.jsonl", "{}\n");
	age("runs/bbbbb", 40);
	ok(collect(&(struct ab_gc_rule){ 0 }, &r) == 1 && r.quarantined == 1 && r.kept == 1 &&
		   exists("runs/aaaaa/0000-.vscode/x") && !exists("runs/bbbbb"),
	   "what was moved away keeps its run, and nothing else does");
	ok(collect(&(struct ab_gc_rule){ .quarantine = true }, &r) == 1 && !exists("runs/aaaaa"),
	   "unless it is meant");
}

/* What the box could have made. */
static void test_hostile(void)
{
	struct ab_gc_report r;
	int dir;

	put("outside", "mine");
	mkdir(at("away"), 0700);
	put("away/file", "mine");

	make_run("aaaaa", 40);
	quarantine("aaaaa");
	if (symlink("../../../../away", at("runs/aaaaa/0000-.vscode/link")) < 0 ||
	    symlink("../../outside", at("runs/aaaaa/result.json")) < 0 ||
	    symlink("../away", at("runs/bbbbb")) < 0 ||
	    symlink("../../away", at("runs/aaaaa/.up-0")) < 0)
		abort();
	put("runs/notes.txt", "mine");
	mkdir(at("runs/Somebody"), 0700);
	make_run("backup", 40);
	make_run("old", 40);
	make_run("l0001", 40);
	/* Deeper than a path can be. */
	dir = open(at("runs/aaaaa/0000-.vscode"), O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 3000; i++) {
		int next;

		if (mkdirat(dir, "deep", 0700) < 0)
			abort();
		next = openat(dir, "deep", O_RDONLY | O_DIRECTORY);
		close(dir);
		dir = next;
	}
	close(dir);
	mkdir(at("runs/aaaaa/0000-.vscode/shut"), 0700);
	put("runs/aaaaa/0000-.vscode/shut/x", "x");
	chmod(at("runs/aaaaa/0000-.vscode/shut"), 0);
	mkdir(at("runs/aaaaa/0000-.vscode/fixed"), 0700);
	mkdir(at("runs/aaaaa/0000-.vscode/fixed/in"), 0500);
	chmod(at("runs/aaaaa/0000-.vscode/fixed"), 0500);

	ok(collect(&(struct ab_gc_rule){ .quarantine = true }, &r) == 1 && r.failed == 0 &&
		   !exists("runs/aaaaa"),
	   "a run with links, deep and shut folders goes");
	ok(exists("away/file") && exists("outside"), "no link is followed");
	ok(exists("runs/bbbbb") && exists("runs/notes.txt") && exists("runs/Somebody") &&
		   exists("runs/backup") && exists("runs/old") && exists("runs/l0001"),
	   "what is not the folder of a run is not touched");
	mkdir(at("runs/.gone-zzzzz"), 0700);
	put("runs/.gone-zzzzz/x", "x");
	collect(&(struct ab_gc_rule){ .keep_ms = AB_GC_ALL, .keep_runs = AB_GC_ALL }, &r);
	ok(!exists("runs/.gone-zzzzz"), "what somebody did not finish goes");
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	snprintf(top, sizeof(top), "%s/agentbox-unit.XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(top))
		return 1;
	mkdir(at("runs"), 0700);
	runs = open(at("runs"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_rules();
	test_turns();
	test_hourly();
	test_quarantine();
	test_hostile();
	test_rule();
	close(runs);
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
