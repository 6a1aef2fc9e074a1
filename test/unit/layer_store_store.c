/*
 * Sets of layers on a real file system: creating, locking, finding and removing
 * them, and what a hostile set can and cannot do.
 */
#include "layer/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "state/state.h"
#include "tap.h"
#include "workspace/tree/remove_tree.h"

static struct ab_state state;
static struct ab_error error;
static char top[] = "/tmp/layers-XXXXXX";

static int open_set(const char *key, unsigned how, struct ab_layer_set *ret)
{
	error = (struct ab_error){ 0 };
	return ab_layers_open(AB_LAYER_STORE(&state), key, how, ret, &error);
}

static void save(struct ab_layer_set *set, const char *workspace, int64_t used, const char *run)
{
	free(set->meta.workspace);
	set->meta.workspace = ab_strdup(workspace);
	set->meta.last_ns = used;
	if (run)
		ab_layer_meta_add_run(&set->meta, run);
	ok(ab_layer_set_save(set, &error) == 0, "save %s: %s", set->key, error.text);
}

static bool exists(const char *path)
{
	return faccessat(state.root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void put(const char *path, const char *text, mode_t mode)
{
	ab_autoclose int fd = openat(state.root, path, O_WRONLY | O_CREAT | O_TRUNC, mode);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	fchmod(fd, mode);
}

static void check_keys(void)
{
	static const char *const bad[] = {
		"",    ".",	    "..",   "a/b",
		"-a",  ".gone-0-a", "@",    "a@b",
		"a b", "a\nb",	    "\xff", "0123456789012345678901234567890123456789012345678"
	};
	static const char *const good[] = { "dev", "a.b_c-d", "@claude-code", "7kq2x" };
	ab_autofree char *dir = ab_layer_key_workspace("/w"), *other = ab_layer_key_workspace("/x");
	ab_autofree char *odd = ab_layer_key_profile("/home/u/my profile.json");
	ab_autofree char *false_dir = ab_layer_key_profile(dir + 1);

	for (size_t i = 0; i < AB_COUNT(bad); i++)
		ok(!ab_layer_key_valid(bad[i]), "invalid key %zu", i);
	for (size_t i = 0; i < AB_COUNT(good); i++)
		ok(ab_layer_key_valid(good[i]), "valid key %s", good[i]);
	ok(ab_layer_key_valid(dir) && strcmp(dir, other) != 0, "a key for a workspace: %s", dir);
	ok(ab_layer_key_valid(odd), "a key for a profile with any name: %s", odd);
	ok(strcmp(false_dir, dir) != 0, "a profile cannot take the key of a workspace");
}

static void check_life(void)
{
	struct ab_layer_set set, again;
	ab_autofree char *upper = NULL, *work = NULL;
	ab_autoclose int real = open(top, O_PATH);
	struct stat st;

	ok(open_set("dev", 0, &set) < 0 && error.errnum == ENOENT, "missing: %s", error.text);
	ok(!exists("layers"), "looking creates nothing");
	ok(open_set("dev", AB_LAYERS_CREATE | AB_LAYERS_LOCK, &set) == 0 && set.fresh, "created %s",
	   error.text);
	chmod(top, 0750);
	ok(ab_layer_set_make(&set, "home", real, &upper, &work, &error) == 0, "made: %s",
	   error.text);
	ok(stat(upper, &st) == 0 && (st.st_mode & 07777) == 0750, "upper has the real mode");
	ok(stat(work, &st) == 0 && (st.st_mode & 07777) == 0700, "work is private");
	save(&set, "/w", 5, "abcde");
	ok(open_set("dev", AB_LAYERS_LOCK | AB_LAYERS_TRY, &again) < 0 &&
		   error.errnum == EWOULDBLOCK && strstr(error.text, "abcde") &&
		   strstr(error.hint, "abcde"),
	   "in use: %s (%s)", error.text, error.hint);
	ok(open_set("dev", 0, &again) == 0 && ab_layer_set_busy(&again) && !again.fresh,
	   "can be read meanwhile");
	is_str(again.meta.workspace, "/w", "as it was saved");
	ab_layer_set_fini(&set);
	ok(!ab_layer_set_busy(&again), "closing releases the lock");
	ab_layer_set_fini(&again);
}

/* A lock that a process inherited lasts as long as the last of them. */
static void check_killed(void)
{
	struct ab_layer_set set, again;
	int ready[2], status;
	char c;
	pid_t pid;

	if (pipe(ready) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		if (open_set("dev", AB_LAYERS_LOCK, &set) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ok(read(ready[0], &c, 1) == 1, "another process has the lock");
	ok(open_set("dev", AB_LAYERS_LOCK | AB_LAYERS_TRY, &again) < 0, "it is in use");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ok(open_set("dev", AB_LAYERS_LOCK | AB_LAYERS_TRY, &again) == 0,
	   "it is free after SIGKILL: %s", error.text);
	is_str(again.meta.workspace, "/w", "and whole");
	ab_layer_set_fini(&again);
	close(ready[0]);
	close(ready[1]);
}

static int find(const char *which, const char *cwd, struct ab_layer_set *ret)
{
	error = (struct ab_error){ 0 };
	return ab_layers_find(AB_LAYER_STORE(&state), which, cwd, 0, ret, &error);
}

static void check_find(void)
{
	struct ab_layer_set set, found = AB_LAYER_SET_NONE;
	ab_autofree char *upper = NULL, *work = NULL;
	ab_autoclose int real = open(top, O_PATH);

	ok(open_set("7kq2x", AB_LAYERS_CREATE | AB_LAYERS_LOCK, &set) == 0, "a set of a run");
	ab_layer_set_make(&set, "project", real, &upper, &work, &error);
	save(&set, "/w", 7, "7kq2x");
	save(&set, "/w", 8, "second");
	ok(!ab_layer_set_waiting(&set), "no changes yet");
	ok(find(NULL, "/w", &found) < 0 && error.errnum == ENOENT, "none: %s", error.text);
	put("layers/7kq2x/project/upper/file", "x", 0600);
	ok(ab_layer_set_waiting(&set), "a file in the upper is a change");
	ok(find(NULL, "/w/deep", &found) == 0, "found by its folder: %s", error.text);
	is_str(found.key, "7kq2x", "the one with changes");
	ab_layer_set_fini(&found);
	ok(find(NULL, "/ww", &found) < 0, "another folder");
	ok(find("second", "/", &found) == 0, "found by a run that used it");
	is_str(found.key, "7kq2x", "its key");
	ab_layer_set_fini(&found);
	ok(find("dev", "/", &found) == 0, "found by its name");
	ab_layer_set_fini(&found);
	ok(find("nope", "/", &found) < 0 && strstr(error.text, "nope"), "unknown: %s", error.text);
	set.meta.waiting = 0;
	ok(!ab_layer_set_waiting(&set), "applied");
	ok(ab_layer_set_drop(&set, "project", &error) == 0 && !exists("layers/7kq2x/project"),
	   "a part is dropped");
	ok(ab_layer_set_drop(&set, "../dev", &error) < 0 && exists("layers/dev"),
	   "only of this set");
	ab_layer_set_fini(&set);
}

/* Files that are not as we leave them. */
static void check_hostile(void)
{
	static const struct {
		const char *name, *text;
		mode_t mode;
	} bad[] = {
		{ "empty", "", 0600 },
		{ "not JSON", "{", 0600 },
		{ "others can write it", "", 0622 },
	};
	ab_autostrv struct ab_strv keys = { 0 };
	struct ab_layer_set set;

	ok(open_set("bad", AB_LAYERS_CREATE | AB_LAYERS_LOCK, &set) == 0, "a set");
	ab_layer_set_fini(&set);
	for (size_t i = 0; i < AB_COUNT(bad); i++) {
		put("layers/bad/meta.json", bad[i].text, bad[i].mode);
		ok(open_set("bad", 0, &set) < 0 && strstr(error.text, "damaged") &&
			   strstr(error.hint, "layers rm bad"),
		   "%s: %s", bad[i].name, error.text);
	}
	unlinkat(state.root, "layers/bad/meta.json", 0);
	ok(symlinkat("../dev/meta.json", state.root, "layers/bad/meta.json") == 0 &&
		   open_set("bad", 0, &set) < 0,
	   "a link: %s", error.text);
	unlinkat(state.root, "layers/bad/meta.json", 0);
	ok(mkfifoat(state.root, "layers/bad/meta.json", 0600) == 0 && open_set("bad", 0, &set) < 0,
	   "a FIFO does not block: %s", error.text);
	unlinkat(state.root, "layers/bad/meta.json", 0);
	ok(linkat(state.root, "layers/dev/meta.json", state.root, "layers/bad/meta.json", 0) == 0 &&
		   open_set("bad", 0, &set) < 0,
	   "that of another set: %s", error.text);
	unlinkat(state.root, "layers/bad/lock", 0);
	ok(symlinkat("/dev/null", state.root, "layers/bad/lock") == 0 &&
		   open_set("bad", AB_LAYERS_LOCK | AB_LAYERS_TRY, &set) < 0,
	   "a lock that is a link: %s", error.text);
	unlinkat(state.root, "layers/bad/lock", 0);
	fchmodat(state.root, "layers/bad", 0755, 0);
	ok(open_set("bad", 0, &set) < 0 && strstr(error.hint, "chmod 700"), "mode: %s", error.text);
	fchmodat(state.root, "layers/bad", 0700, 0);
	ok(symlinkat("dev", state.root, "layers/link") == 0 && open_set("link", 0, &set) < 0,
	   "a set that is a link: %s", error.text);
	ok(ab_layers_list(AB_LAYER_STORE(&state), &keys, &error) == 0 && keys.len == 3,
	   "the list has the damaged one and not the link");
	ok(ab_layers_open(AB_LAYER_STORE(&state), "bad",
			  AB_LAYERS_LOCK | AB_LAYERS_TRY | AB_LAYERS_UNREAD, &set, &error) == 0 &&
		   ab_layers_remove(AB_LAYER_STORE(&state), &set, &error) == 0 &&
		   !exists("layers/bad"),
	   "it can be removed: %s", error.text);
	ab_layer_set_fini(&set);
	ok(exists("layers/dev/meta.json"), "without the file that it was linked to");
	unlinkat(state.root, "layers/link", 0);
}

/* 600 folders in each other, more than the descriptors of the walk. */
static void nest(int dir, int depth)
{
	int at = dup(dir);

	for (int i = 0; i < depth; i++) {
		int next;

		mkdirat(at, "deep", 0700);
		next = openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	close(at);
}

/* Another process removes a folder that was hidden: both at once would find it neither full nor empty. */
static void check_remove_beside(void)
{
	int other;

	mkdirat(state.root, "layers/.gone-0-y", 0700);
	mkdirat(state.root, "layers/.gone-0-y/a", 0700);
	mkdirat(state.root, "layers/.gone-0-z", 0700);
	other = openat(state.root, "layers/.gone-0-y", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok(other >= 0 && flock(other, LOCK_EX | LOCK_NB) == 0, "another one removes it");
	ok(!ab_layers_sweep(AB_LAYER_STORE(&state), 100) && exists("layers/.gone-0-y/a"),
	   "so it is left to that one");
	ok(!exists("layers/.gone-0-z"), "and the others are swept");
	close(other);
	ok(!ab_layers_sweep(AB_LAYER_STORE(&state), 100) && !exists("layers/.gone-0-y"),
	   "after a kill it is swept, too");
}

/* What a box can leave behind; nothing outside changes. */
static void check_remove(void)
{
	struct ab_layer_set set;
	ab_autofree char *upper = NULL, *work = NULL;
	ab_autoclose int real = open(top, O_PATH), dir = -1;
	struct ab_layer_size open_size, size;
	struct stat st;

	mkdirat(state.root, "outside", 0700);
	put("outside/file", "mine", 0600);
	open_set("box", AB_LAYERS_CREATE | AB_LAYERS_LOCK, &set);
	ab_layer_set_make(&set, "home", real, &upper, &work, &error);
	save(&set, "/w", 9, NULL);
	dir = open(upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	symlinkat("/", dir, ".cargo");
	symlinkat("../../../../outside", dir, ".config");
	mkfifoat(dir, "fifo", 0600);
	mkdirat(dir, "new\nline\x1b[2J", 0700);
	nest(dir, 600);
	mkdirat(dir, "closed", 0700);
	mkdirat(dir, "closed/in", 0700);
	put("layers/box/home/upper/closed/in/data", "0123456789", 0000);
	mkdirat(state.root, "layers/box/home/work/work", 0000);
	ab_layer_set_size(&set, AB_LAYER_ENTRIES_MAX, &open_size);
	fchmodat(dir, "closed/in", 0000, 0);
	fchmodat(dir, "closed", 0000, 0);
	ab_layer_set_size(&set, AB_LAYER_ENTRIES_MAX, &size);
	ok(size.entries == open_size.entries && size.bytes == open_size.bytes,
	   "closed folders count: %llu", (unsigned long long)size.entries);
	ok(fstatat(dir, "closed", &st, 0) == 0 && (st.st_mode & 07777) == 0,
	   "and stay closed afterwards");
	ok(size.cut && size.entries > 200 && size.entries < 250, "a deep tree is cut");
	ab_layer_set_size(&set, 10, &size);
	ok(size.cut && size.entries == 10, "and a large one");
	ok(ab_layers_remove(AB_LAYER_STORE(&state), &set, &error) == 0, "removed: %s", error.text);
	ok(!exists("layers/box"), "all of it");
	ab_layer_set_fini(&set);
	ok(exists("outside/file"), "and nothing outside");
	mkdirat(state.root, "layers/.gone-0-x", 0700);
	mkdirat(state.root, "layers/.gone-0-x/a", 0700);
	mkdirat(state.root, "layers/.gone-0-x/b", 0700);
	ok(ab_layers_sweep(AB_LAYER_STORE(&state), 1) && exists("layers/.gone-0-x"),
	   "a small budget leaves a part");
	ok(!ab_layers_sweep(AB_LAYER_STORE(&state), 100), "a larger one does not");
	ok(!exists("layers/.gone-0-x"), "what a killed removal left is swept");
	check_remove_beside();
}

/* The copy of one run: nobody finds it, and it goes with its lock. */
static void check_private(void)
{
	ab_autostrv struct ab_strv before = { 0 }, keys = { 0 };
	ab_autofree char *path = NULL;
	struct ab_layer_set set;

	ab_layers_list(AB_LAYER_STORE(&state), &before, &error);
	ok(ab_layers_open_private(AB_LAYER_STORE(&state), &set, &error) == 0 && set.fresh,
	   "a private set: %s", error.text);
	path = ab_strdup(set.path);
	ok(!ab_layer_key_valid(set.key) &&
		   ab_layers_list(AB_LAYER_STORE(&state), &keys, &error) == 0 &&
		   keys.len == before.len,
	   "is in no list");
	ab_layers_sweep(AB_LAYER_STORE(&state), 100);
	ok(access(path, F_OK) == 0, "stays while it is locked");
	ab_layer_set_fini(&set);
	ab_layers_sweep(AB_LAYER_STORE(&state), 100);
	ok(access(path, F_OK) < 0, "and is swept afterwards");
}

/* Other runs sweep at any moment, also while the set is being made. */
static void check_private_beside_sweeps(void)
{
	pid_t sweeper = fork();
	int made = 0;

	if (sweeper == 0)
		for (;;)
			ab_layers_sweep(AB_LAYER_STORE(&state), 100);
	for (int i = 0; i < 300; i++) {
		struct ab_layer_set set;

		if (ab_layers_open_private(AB_LAYER_STORE(&state), &set, &error) < 0)
			break;
		made += faccessat(set.dir, "lock", F_OK, 0) == 0;
		ab_layer_set_fini(&set);
	}
	ok(made == 300, "a private set stays while others sweep: %d, %s", made, error.text);
	kill(sweeper, SIGKILL);
	waitpid(sweeper, NULL, 0);
	while (ab_layers_sweep(AB_LAYER_STORE(&state), 1000))
		;
}

/* A cleanup, or a list of all sets, in another process; for a moment. */
static pid_t look(const char *key)
{
	struct ab_layer_set set = AB_LAYER_SET_NONE;
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		if (open_set(key, AB_LAYERS_LOCK | AB_LAYERS_LOOK, &set) < 0 ||
		    write(ready[1], "", 1) != 1)
			abort();
		poll(NULL, 0, 200);
		_exit(0);
	}
	close(ready[1]);
	ok(read(ready[0], &byte, 1) == 1, "another one looks");
	close(ready[0]);
	return pid;
}

static void check_beside_looks(void)
{
	struct ab_layer_set set = AB_LAYER_SET_NONE, used = AB_LAYER_SET_NONE;
	pid_t pid;

	ok(open_set("seen", AB_LAYERS_CREATE | AB_LAYERS_LOCK, &used) == 0, "make a set");
	ok(open_set("seen", 0, &set) == 0 && ab_layer_set_busy(&set), "it is in use");
	ab_layer_set_fini(&set);
	ok(open_set("seen", AB_LAYERS_LOCK | AB_LAYERS_LOOK, &set) < 0 &&
		   error.errnum == EWOULDBLOCK,
	   "a look does not get it");
	ok(open_set("seen", AB_LAYERS_LOCK | AB_LAYERS_TRY, &set) < 0 &&
		   error.errnum == EWOULDBLOCK,
	   "nor does another run");
	ab_layer_set_fini(&used);

	pid = look("seen");
	ok(open_set("seen", 0, &set) == 0 && !ab_layer_set_busy(&set), "a look is no use");
	ab_layer_set_fini(&set);
	waitpid(pid, NULL, 0);
	pid = look("seen");
	ok(open_set("seen", AB_LAYERS_LOCK | AB_LAYERS_LOOK, &set) == 0,
	   "others can look, after it");
	ab_layer_set_fini(&set);
	waitpid(pid, NULL, 0);
	pid = look("seen");
	ok(open_set("seen", AB_LAYERS_LOCK | AB_LAYERS_TRY, &set) == 0, "a run waits for it");
	waitpid(pid, NULL, 0);

	ab_layer_set_unlock(&set);
	pid = look("seen");
	ok(ab_layer_set_lock_again(AB_LAYER_STORE(&state), &set), "so does one who takes it again");
	waitpid(pid, NULL, 0);
	ab_layer_set_unlock(&set);
	ok(open_set("seen", AB_LAYERS_LOCK, &used) == 0, "it is free meanwhile");
	ok(!ab_layer_set_lock_again(AB_LAYER_STORE(&state), &set), "not if it is used");
	ok(ab_layers_remove(AB_LAYER_STORE(&state), &used, &error) == 0, "removed");
	ok(!ab_layer_set_lock_again(AB_LAYER_STORE(&state), &set), "nor if it is gone");
	ab_layer_set_fini(&used);
	ab_layer_set_fini(&set);
}

/* The broker watches a box, and does not wait. Our own look, so that it cannot end too early. */
static void check_look_now(void)
{
	struct ab_layer_set set = AB_LAYER_SET_NONE, looks = AB_LAYER_SET_NONE;

	ok(open_set("seen", AB_LAYERS_CREATE | AB_LAYERS_LOCK | AB_LAYERS_LOOK, &looks) == 0,
	   "look");
	ok(open_set("seen", AB_LAYERS_LOCK | AB_LAYERS_LOOK | AB_LAYERS_TRY, &set) < 0 &&
		   error.errnum == EWOULDBLOCK,
	   "another look cannot wait");
	ab_layer_set_fini(&looks);
	ok(open_set("seen", AB_LAYERS_LOCK | AB_LAYERS_LOOK | AB_LAYERS_TRY, &set) == 0,
	   "and need not");
	ab_layer_set_fini(&set);
}

static void remove_top(void)
{
	ab_autoclose int tmp = open("/tmp", O_PATH | O_CLOEXEC);

	ok(ab_remove_tree(tmp, top + strlen("/tmp/")) == 0 && access(top, F_OK) < 0,
	   "nothing is left");
}

int main(void)
{
	if (!mkdtemp(top) || ab_state_open(top, &state, &error) < 0)
		abort();
	check_keys();
	check_life();
	check_killed();
	check_find();
	check_hostile();
	check_remove();
	check_private();
	check_private_beside_sweeps();
	check_beside_looks();
	check_look_now();
	ab_state_fini(&state);
	remove_top();
	return done();
}
