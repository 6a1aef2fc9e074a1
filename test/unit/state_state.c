/* The state directory: what it refuses, how runs are made, retired, found. */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "host/lock/lockdown.h"
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
		   mode_of(at("a/b/state/live")) == 0700 && mode_of(at("a/b/state/runs")) == 0700,
	   "for us alone");
	ok(try_open(at("a/b/state"), &err) == 0, "and found again");

	mkdir(at("open"), 0700);
	chmod(at("open"), 0777);
	ok(try_open(at("open"), &err) < 0, "one that all can write is refused");
	ok(strstr(err.text, at("open")) && err.hint[0] && strcmp(err.step, "state folder") == 0,
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
		ok(try_open(at("other"), &err) < 0 && strstr(err.text, "another user"),
		   "one of another user");
	} else {
		ok(try_open("/usr", &err) < 0 && strstr(err.text, "another user"),
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

/* Instead of the C library's: how often it gives the same again. */
static unsigned int dull;

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	static unsigned char next;
	unsigned char *p = buf;

	(void)flags;
	memset(p, 0, len);
	if (dull)
		dull--;
	else
		p[0] = p[1] = ++next;
	return (ssize_t)len;
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
		typable &= strlen(a) == 5 && strspn(a, "abcdefghijkmnpqrstuvwxyz23456789") == 5;
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
	char id[8];

	if (ab_state_open(at("run"), &state, &err) < 0)
		abort();
	ok(ab_run_create(&state, "aaaaa", &run, &err) == 0, "a run %s", err.text);
	ok(mode_of(at("run/live/aaaaa")) == 0700, "its folder is ours alone");
	ok(is_locked(at("run/live/aaaaa")), "its folder is locked");
	ok(ab_run_create(&state, "aaaaa", &twice, &err) < 0 && err.errnum == EEXIST &&
		   strcmp(err.step, "record") == 0,
	   "the same id cannot be had twice");
	ab_run_retire(&run);
	ok(access(at("run/live/aaaaa"), F_OK) < 0 && access(at("run/runs/aaaaa"), F_OK) == 0,
	   "retired it is among the runs");
	ab_run_fini(&run);
	ok(!is_locked(at("run/runs/aaaaa")), "and unlocked");

	dull = 3;
	ok(ab_state_pick_id(&state, id, &err) == 0 && !dull && strcmp(id, "aaaaa") != 0,
	   "what an ended run is called, no other one is");
	dull = 1000;
	ok(ab_state_pick_id(&state, id, &err) < 0, "nor is it tried for ever");
	dull = 0;
	ab_state_fini(&state);
}

struct seen {
	int count;
	char ids[64];
	bool leaves; /* something of each run for the next start */
};

static bool see(struct ab_run *run, void *arg)
{
	struct seen *seen = arg;
	size_t n = strlen(seen->ids);

	seen->count++;
	snprintf(seen->ids + n, sizeof(seen->ids) - n, "%s ", run->id);
	return !seen->leaves;
}

static void make_record(const char *dir, const char *name, const char *record)
{
	ab_autofree char *file = ab_path_join(dir, name);
	int fd;

	fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || ab_write_all(fd, record, strlen(record)) < 0)
		abort();
	close(fd);
}

static void make_stale(const char *id, const char *record)
{
	ab_autofree char *rel = ab_printf("stale/live/%s", id);
	const char *dir = at(rel);

	if (mkdir(dir, 0700) < 0)
		abort();
	if (record)
		make_record(dir, AB_LOG_NAME, record);
}

static void age(const char *rel)
{
	struct timespec old[2] = { { .tv_sec = time(NULL) - 300 }, { .tv_sec = time(NULL) - 300 } };

	if (utimensat(AT_FDCWD, at(rel), old, 0) < 0)
		abort();
}

static void check_stale(void)
{
	struct ab_state state;
	struct ab_run live;
	struct ab_error err = { 0 };
	struct seen seen = { .leaves = true };

	if (ab_state_open(at("stale"), &state, &err) < 0 ||
	    ab_run_create(&state, "alive", &live, &err) < 0)
		abort();
	make_record(at("stale/live/alive"), AB_LOG_NAME, "x\n");
	make_stale("dead2", "x\n");
	make_stale("unbrn", NULL);
	make_stale("empty", "");
	/* Killed while a new file for its record was made. */
	make_stale("full1", NULL);
	make_record(at("stale/live/full1"), "audit.1.jsonl", "x\n");
	make_stale("full2", "");
	make_record(at("stale/live/full2"), "audit.1.jsonl", "x\n");
	make_stale("too-long-a-name", "x\n");
	if (symlink("dead2", at("stale/live/link")) < 0)
		abort();
	ab_state_each_stale(&state, see, &seen);
	ok(seen.count == 3 && access(at("stale/runs/dead2"), F_OK) < 0 &&
		   access(at("stale/live/dead2"), F_OK) == 0,
	   "of which something is left, they stay for the next start");
	seen = (struct seen){ 0 };
	ab_state_each_stale(&state, see, &seen);
	ok(seen.count == 3 && strstr(seen.ids, "dead2 ") && strstr(seen.ids, "full1 ") &&
		   strstr(seen.ids, "full2 "),
	   "dead ones with a record, and no other: %s", seen.ids);
	ok(access(at("stale/runs/dead2"), F_OK) == 0, "they are retired");
	ok(access(at("stale/live/alive"), F_OK) == 0, "a live one is left alone");
	ok(access(at("stale/live/unbrn"), F_OK) == 0 && access(at("stale/live/empty"), F_OK) == 0,
	   "one without a record may just be starting");
	ok(access(at("stale/live/too-long-a-name"), F_OK) == 0, "what is not ours is left alone");
	age("stale/live/unbrn");
	age("stale/live/empty");
	age("stale/live/alive");
	seen = (struct seen){ 0 };
	ab_state_each_stale(&state, see, &seen);
	ok(seen.count == 0, "nothing to sweep now");
	ok(access(at("stale/live/unbrn"), F_OK) < 0 && access(at("stale/live/empty"), F_OK) < 0,
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

static void count_run(struct ab_run *run, void *arg)
{
	(void)run;
	++*(size_t *)arg;
}

static size_t count_live(const struct ab_state *state)
{
	size_t n = 0;

	(void)ab_state_each_live(state, count_run, &n);
	return n;
}

/* The folder of a run that may come. */
static void check_reserved(void)
{
	struct ab_state state;
	struct ab_run run, other;
	struct ab_error err = { 0 };
	struct seen seen = { 0 };

	if (ab_state_open(at("reserved"), &state, &err) < 0)
		abort();
	ok(ab_run_reserve(&state, "comes", &run, &err) == 0 &&
		   access(at("reserved/live/.comes"), F_OK) == 0 && count_live(&state) == 0,
	   "a reserved folder is no run yet");
	make_record(at("reserved/live/.comes"), AB_LOG_NAME, "");
	age("reserved/live/.comes");
	ab_state_each_stale(&state, see, &seen);
	ok(seen.count == 0 && access(at("reserved/live/.comes"), F_OK) == 0,
	   "it stays while a process has it, however old it is");
	ok(ab_run_appear(&run, &err) == 0 && access(at("reserved/live/comes"), F_OK) == 0 &&
		   access(at("reserved/live/.comes"), F_OK) < 0 && count_live(&state) == 1,
	   "when it appears it is one");
	ab_run_forget(&run);
	ok(access(at("reserved/live/comes"), F_OK) < 0, "and can still be forgotten");
	ab_run_fini(&run);
	if (ab_run_reserve(&state, "taken", &run, &err) < 0 ||
	    ab_run_create(&state, "taken", &other, &err) < 0)
		abort();
	ok(ab_run_appear(&run, &err) < 0 && strcmp(err.step, "record") == 0,
	   "it never takes the place of another run");
	ab_run_fini(&run);
	ab_state_each_stale(&state, see, &seen);
	ok(access(at("reserved/live/.taken"), F_OK) == 0, "one that is new may not be locked yet");
	age("reserved/live/.taken");
	ab_state_each_stale(&state, see, &seen);
	ok(access(at("reserved/live/.taken"), F_OK) < 0 && seen.count == 0,
	   "an old one without a process is removed");
	ab_run_fini(&other);
	ab_state_fini(&state);
}

static int find(const struct ab_state *state, const char *id, char ret[8], struct ab_error *err)
{
	struct ab_run run;

	*err = (struct ab_error){ 0 };
	ret[0] = '\0';
	if (ab_state_find_live(state, id, &run, err) < 0)
		return -1;
	snprintf(ret, 8, "%s", run.id);
	ab_run_fini(&run);
	return 0;
}

static void check_live(void)
{
	static const char *const none[] = { "",	   ".",	     "..",	  "../runs",
					    "a/b", "first/", "nosuchrun", "nosch" };
	struct ab_state state;
	struct ab_run first, second;
	struct ab_error err = { 0 };
	bool refused = true;
	char id[8];

	if (ab_state_open(at("live"), &state, &err) < 0)
		abort();
	ok(find(&state, NULL, id, &err) < 0 && err.code != AB_EUSAGE, "no run, none is found: %s",
	   err.text);
	if (ab_run_create(&state, "first", &first, &err) < 0)
		abort();
	ok(find(&state, NULL, id, &err) == 0 && strcmp(id, "first") == 0,
	   "the only one needs no name");
	ok(find(&state, "first", id, &err) == 0 && strcmp(id, "first") == 0, "by name");
	ok(is_locked(at("live/live/first")), "its lock is as it was");
	if (ab_run_create(&state, "secnd", &second, &err) < 0)
		abort();
	ok(find(&state, NULL, id, &err) < 0 && err.code == AB_EUSAGE && strstr(err.text, "first") &&
		   strstr(err.text, "secnd"),
	   "of two one must be named: %s", err.text);
	ok(find(&state, "secnd", id, &err) == 0, "as here");
	ab_run_fini(&second);
	ok(find(&state, "secnd", id, &err) < 0 && strstr(err.text, "ended"),
	   "one that was killed has ended: %s", err.text);
	ok(find(&state, NULL, id, &err) == 0 && strcmp(id, "first") == 0, "and does not count");
	ab_run_retire(&first);
	ok(find(&state, "first", id, &err) < 0 && strstr(err.text, "ended"),
	   "so has one that was retired");
	for (size_t i = 0; i < AB_COUNT(none); i++)
		refused &= find(&state, none[i], id, &err) < 0 && strstr(err.text, "no run");
	ok(refused, "what is no run is not found");
	ab_run_fini(&first);
	ab_state_fini(&state);
}

/* A locked supervisor goes on with another file when one is full. */
static void check_locked(void)
{
	struct ab_log_setup setup = { .run_id = "lockd", .size = 100 };
	struct ab_state state;
	struct ab_run run;
	struct ab_log log;
	struct ab_error err = { 0 };
	int status = -1;
	pid_t pid;

	if (ab_state_open(at("locked"), &state, &err) < 0 ||
	    ab_run_create(&state, "lockd", &run, &err) < 0)
		abort();
	setup.dir = run.dir;
	if (ab_log_open(&setup, &log, &err) < 0)
		abort();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct ab_buf line = { 0 };

		if (ab_lock_supervisor(state.root, &err) < 0)
			_exit(2);
		for (int i = 0; i < 8; i++) {
			ab_record_open(&line, "lockd", "test");
			if (ab_log_write(&log, &line, &err) < 0)
				_exit(3);
		}
		_exit(log.full == 7 ? 0 : 4);
	}
	ok(waitpid(pid, &status, 0) == pid && status == 0,
	   "records of a locked supervisor: status %#x", status);
	ok(access(at("locked/live/lockd/audit.1.jsonl"), F_OK) == 0 &&
		   access(at("locked/live/lockd/audit.3.jsonl"), F_OK) < 0 &&
		   access(at("locked/live/lockd/audit.7.jsonl"), F_OK) == 0,
	   "in several files, of which the oldest are gone");
	ab_log_fini(&log);
	ab_run_fini(&run);
	ab_state_fini(&state);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
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
	check_reserved();
	check_live();
	check_locked();
	result = done();
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return result;
}
