/* The state directory: what it refuses, how runs are made, retired, found. */
#include "session/state.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "tap.h"

static char top[PATH_MAX];

/* Good until the eighth call from now. */
static const char *at(const char *rel)
{
	static char paths[8][PATH_MAX + 64];
	static size_t next;
	char *path = paths[next++ % AB_COUNT(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, rel);
	return path;
}

static int try_open(const char *path, struct ab_error *err)
{
	struct ab_state state;

	*err = (struct ab_error){ 0 };
	if (ab_state_open(path, &state, err) < 0)
		return -1;
	ab_state_fini(&state);
	return 0;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static void check_open(void)
{
	struct ab_error err;
	struct ab_state state;

	ok(try_open(at("a/b/state"), &err) == 0, "missing folders are made");
	ok(mode_of(at("a/b/state")) == 0700 && mode_of(at("a")) == 0700 &&
		   mode_of(at("a/b/state/live")) == 0700 &&
		   mode_of(at("a/b/state/runs")) == 0700,
	   "for us alone");
	ok(try_open(at("a/b/state"), &err) == 0, "and found again");

	mkdir(at("open"), 0700);
	chmod(at("open"), 0777);
	ok(try_open(at("open"), &err) < 0, "one that all can write is refused");
	ok(strstr(err.text, at("open")) && err.hint[0] &&
		   strcmp(err.step, "state folder") == 0,
	   "with its name, a way out and the step");
	ok(mode_of(at("open")) == 0777, "and left as it is");
	chmod(at("open"), 0770);
	ok(try_open(at("open"), &err) < 0, "so is one that a group can write");
	chmod(at("open"), 0755);
	ok(try_open(at("open"), &err) == 0, "to read is no harm");

	if (symlink("open", at("link")) < 0)
		abort();
	ok(ab_state_open(at("link"), &state, &err) == 0, "a link to our own");
	is_str(state.path, at("open"), "goes by its real path");
	ab_state_fini(&state);
	ok(state.root == -1 && state.live == -1 && !state.path, "and is closed");

	if (symlink("nowhere", at("dangling")) < 0)
		abort();
	ok(try_open(at("dangling"), &err) < 0, "a link to nowhere");
	close(open(at("file"), O_CREAT | O_WRONLY, 0600));
	ok(try_open(at("file"), &err) < 0 && err.errnum == ENOTDIR, "a file");
	ok(try_open(at("file/below"), &err) < 0, "below a file");

	/* Another's folder: root makes one, others look at root's. */
	if (geteuid() == 0) {
		mkdir(at("other"), 0700);
		if (chown(at("other"), 12345, 12345) < 0)
			abort();
		ok(try_open(at("other"), &err) < 0 &&
			   strstr(err.text, "another user"),
		   "one of another user");
	} else {
		ok(try_open("/usr", &err) < 0 &&
			   strstr(err.text, "another user"),
		   "one of another user");
	}
}

static void check_inner_links(void)
{
	struct ab_error err;

	mkdir(at("inner"), 0700);
	mkdir(at("elsewhere"), 0700);
	if (symlink("../elsewhere", at("inner/live")) < 0)
		abort();
	ok(try_open(at("inner"), &err) < 0, "a link in place of live/");
	unlink(at("inner/live"));
	ok(try_open(at("inner"), &err) == 0, "without it");
}

static void check_ids(void)
{
	char a[8], b[8];
	struct ab_error err;
	bool typable = true;
	int same = 0;

	ok(ab_run_pick_id(a, &err) == 0, "an id is picked");
	for (int i = 0; i < 200; i++) {
		memcpy(b, a, sizeof(b));
		if (ab_run_pick_id(a, &err) < 0)
			abort();
		typable &= strlen(a) == 5 &&
			   strspn(a, "abcdefghijkmnpqrstuvwxyz23456789") == 5;
		same += strcmp(a, b) == 0;
	}
	ok(typable, "ids are short and typable");
	ok(same <= 1, "and not the same each time");
}

static bool is_locked(const char *path)
{
	ab_autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;
}

static void check_run(void)
{
	struct ab_state state;
	struct ab_run run, twice;
	struct ab_error err = { 0 };
	char text[8] = "";
	int fd;

	if (ab_state_open(at("run"), &state, &err) < 0)
		abort();
	ok(ab_run_create(&state, "aaaaa", &run, &err) == 0, "a run %s", err.text);
	ok(mode_of(at("run/live/aaaaa")) == 0700 &&
		   mode_of(at("run/live/aaaaa/audit.jsonl")) == 0600,
	   "its folder and record are ours alone");
	ok(is_locked(at("run/live/aaaaa")), "its folder is locked");
	ok(ab_run_create(&state, "aaaaa", &twice, &err) < 0 &&
		   err.errnum == EEXIST && strcmp(err.step, "record") == 0,
	   "the same id cannot be had twice");
	ok(write(run.audit, "one\n", 4) == 4 && lseek(run.audit, 0, SEEK_SET) == 0 &&
		   write(run.audit, "two\n", 4) == 4,
	   "the record is appended to");
	ab_run_retire(&run);
	ok(access(at("run/live/aaaaa"), F_OK) < 0 &&
		   access(at("run/runs/aaaaa"), F_OK) == 0,
	   "retired it is among the runs");
	ab_run_fini(&run);
	ok(!is_locked(at("run/runs/aaaaa")), "and unlocked");
	fd = open(at("run/runs/aaaaa/audit.jsonl"), O_RDONLY | O_CLOEXEC);
	ok(read(fd, text, sizeof(text)) == 8 && memcmp(text, "one\ntwo\n", 8) == 0,
	   "with its record");
	close(fd);
	ab_state_fini(&state);
}

struct seen {
	int count;
	char ids[64];
};

static void see(struct ab_run *run, void *arg)
{
	struct seen *seen = arg;
	size_t n = strlen(seen->ids);

	seen->count++;
	snprintf(seen->ids + n, sizeof(seen->ids) - n, "%s ", run->id);
}

static void make_stale(const char *id, const char *record)
{
	ab_autofree char *rel = ab_printf("stale/live/%s", id);
	const char *dir = at(rel);
	ab_autofree char *file = ab_path_join(dir, "audit.jsonl");
	int fd;

	if (mkdir(dir, 0700) < 0)
		abort();
	if (!record)
		return;
	fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || ab_write_all(fd, record, strlen(record)) < 0)
		abort();
	close(fd);
}

static void age(const char *rel)
{
	struct timespec old[2] = { { .tv_sec = time(NULL) - 300 },
				   { .tv_sec = time(NULL) - 300 } };

	if (utimensat(AT_FDCWD, at(rel), old, 0) < 0)
		abort();
}

static void check_stale(void)
{
	struct ab_state state;
	struct ab_run live;
	struct ab_error err = { 0 };
	struct seen seen = { 0 };

	if (ab_state_open(at("stale"), &state, &err) < 0 ||
	    ab_run_create(&state, "alive", &live, &err) < 0 ||
	    write(live.audit, "x\n", 2) != 2)
		abort();
	make_stale("dead2", "x\n");
	make_stale("unbrn", NULL);
	make_stale("empty", "");
	make_stale("too-long-a-name", "x\n");
	if (symlink("dead2", at("stale/live/link")) < 0)
		abort();
	ab_state_each_stale(&state, see, &seen);
	is_str(seen.ids, "dead2 ", "a dead one with a record, and no other");
	ok(access(at("stale/runs/dead2"), F_OK) == 0, "it is retired");
	ok(access(at("stale/live/alive"), F_OK) == 0, "a live one is left alone");
	ok(access(at("stale/live/unbrn"), F_OK) == 0 &&
		   access(at("stale/live/empty"), F_OK) == 0,
	   "one without a record may just be starting");
	ok(access(at("stale/live/too-long-a-name"), F_OK) == 0,
	   "what is not ours is left alone");
	age("stale/live/unbrn");
	age("stale/live/empty");
	age("stale/live/alive");
	seen = (struct seen){ 0 };
	ab_state_each_stale(&state, see, &seen);
	ok(seen.count == 0, "nothing to sweep now");
	ok(access(at("stale/live/unbrn"), F_OK) < 0 &&
		   access(at("stale/live/empty"), F_OK) < 0,
	   "those that never began are gone once they are old");
	ok(access(at("stale/live/alive"), F_OK) == 0, "a live one never");
	ab_run_fini(&live);
	ab_state_each_stale(&state, see, &seen);
	is_str(seen.ids, "alive ", "when its processes are gone it is found");
	ab_state_fini(&state);
	/* A state that was never opened: nothing to do. */
	ab_state_each_stale(&state, see, &seen);
	ok(seen.count == 1, "a closed state has no runs");
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int main(void)
{
	char name[] = "/tmp/agentbox-test-XXXXXX";
	int result;

	umask(022);
	if (!mkdtemp(name) || !realpath(name, top))
		abort();
	check_open();
	check_inner_links();
	check_ids();
	check_run();
	check_stale();
	result = done();
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return result;
}
