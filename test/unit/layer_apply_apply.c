/*
 * Apply, discard and undo on sets that are made by hand: what ends on the host and in
 * the layer, what is refused, what a host that changes meanwhile does to it, and a
 * SIGKILL before every system call that changes something.
 */
#include "layer/apply/apply.h"

#include "layer_help.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "base/data/strv.h"
#include "base/system/fd.h"
#include "layer/journal/host_guard.h"
#include "layer/store/store.h"

static struct ab_layer_store store = { .root = -1 };
static struct ab_error error;
static char state[96]; /* the state folder, $S */

/* ---- the guard ---- */

/* Who else writes there is decided elsewhere (state/claim.c). */
static struct {
	struct ab_host_guard guard;
	bool closed; /* refuse */
	int inside, entered;
} guard;

static int enter_guard(struct ab_host_guard *g, const char *root, const struct ab_strv *paths,
		       struct ab_error *err)
{
	(void)g;
	(void)paths;
	if (guard.closed)
		return ab_fail(err, AB_EREFUSED, 0, "%s is closed", root);
	guard.inside++;
	guard.entered++;
	return 0;
}

static void leave_guard(struct ab_host_guard *g)
{
	(void)g;
	guard.inside--;
}

/* ---- sets ---- */

static int64_t to_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_set(struct ab_layer_set *set)
{
	error = (struct ab_error){ 0 };
	if (ab_layers_open(&store, "dev", AB_LAYERS_LOCK | AB_LAYERS_TRY, set, &error) < 0) {
		printf("# %s\n", error.text);
		abort();
	}
}

/* The upper folder becomes the set's; a link is in its place. */
static void move_upper(bool copy)
{
	ab_autofree char *from = ab_printf("%s/upper", top);
	ab_autofree char *made = ab_printf("%s/layers/dev/project/upper", state);
	ab_autofree char *to =
		ab_printf("%s/layers/dev/project/%s", state, copy ? "copy" : "upper");

	if (rmdir(made) < 0 || (copy && sh("rm -r \"$S/layers/dev/project/work\"") != 0))
		abort();
	/* Its name may be on another mount. */
	if (rename(from, to) < 0 && sh("mv '%s' '%s'", from, to) != 0)
		abort();
	if (symlink(to, from) < 0)
		abort();
}

/* The layer of make_layer() as the set "dev"; $T/upper is a link to it. */
static void make_set_as(const char *lower, const char *upper, bool copy)
{
	ab_autofree char *up = NULL, *work = NULL, *real = NULL, *parent = NULL;
	struct ab_layer_set set;

	make_layer(lower, upper);
	if (store.root >= 0)
		close(store.root);
	if (!state[0])
		snprintf(state, sizeof(state), "%s/state", top);
	setenv("S", state, 1);
	parent = ab_path_parent(state);
	make_empty(parent, "state", 0700);
	store.path = state;
	store.root = open(store.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	real = ab_printf("%s/lower", top);
	error = (struct ab_error){ 0 };
	if (ab_layers_open(&store, "dev", AB_LAYERS_CREATE | AB_LAYERS_LOCK, &set, &error) < 0 ||
	    ab_layer_set_make(&set, "project", view.lower, &up, &work, &error) < 0) {
		printf("# %s\n", error.text);
		abort();
	}
	free(set.meta.workspace);
	set.meta.workspace = ab_strdup(real);
	set.meta.form = copy ? AB_LAYER_FORM_COPY : AB_LAYER_FORM_OVERLAY;
	set.meta.created_ns = set.meta.first_ns = set.meta.project_ns = to_ns(view.since);
	set.meta.last_ns = to_ns(view.since);
	if (ab_layer_set_save(&set, &error) < 0) {
		printf("# %s\n", error.text);
		abort();
	}
	ab_layer_set_fini(&set);
	move_upper(copy);
	view.copy = copy;
}

static void make_set(const char *lower, const char *upper)
{
	make_set_as(lower, upper, false);
}

/* What is in a folder: types, modes, times, sizes, contents. */
static char *snapshot(const char *folder)
{
	ab_autofree char *path = ab_printf("%s/snapshot", top);
	char *data = NULL;
	size_t len;
	int fd;

	sh("cd %s; { find . -mindepth 1 ! -type d -printf '%%p %%y %%m %%s %%T@ %%l\\n';"
	   "find . -mindepth 1 -type d -printf '%%p %%y %%m\\n';"
	   "find . -type f -size -1000k -exec cksum {} +; } | sort >../snapshot",
	   folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ab_read_all(fd, 1 << 20, &data, &len) < 0)
		abort();
	close(fd);
	return data;
}

/* ---- commands ---- */

static const char *const all[] = { "", NULL };

/* Apply these paths; the number of changes that were left, or -1. */
static int apply_paths(const char *const *paths, enum ab_apply_conflict conflict)
{
	ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_layer_set set;
	int left = -1;

	open_set(&set);
	if (ab_apply_open(&set, false, &guard.guard, &apply, &notes, &error) == 0) {
		for (; *paths; paths++)
			ab_apply_pick_path(&apply, *paths);
		if (ab_apply_commit(&apply, conflict, NULL, &error) == 0) {
			left = 0;
			for (size_t i = 0; i < apply.changes.len; i++) {
				left += apply.picks[i].left && !apply.picks[i].dropped;
				if (apply.picks[i].left)
					printf("# left %s: %s\n", apply.changes.v[i].path,
					       apply.picks[i].left);
			}
		}
	}
	ab_layer_set_fini(&set);
	return left;
}

static int apply_one(const char *path)
{
	return apply_paths((const char *const[]){ path, NULL }, AB_APPLY_LEAVE);
}

static int undo(enum ab_apply_conflict conflict)
{
	ab_autostrv struct ab_strv paths = { 0 }, changed = { 0 }, held = { 0 }, notes = { 0 };
	struct ab_undone undone = {
		.paths = &paths, .changed = &changed, .held = &held, .notes = &notes
	};
	struct ab_layer_set set;
	int rc;

	open_set(&set);
	rc = ab_layer_recover(&set, &guard.guard, &notes, &error);
	if (rc == 0)
		rc = ab_apply_undo(&set, conflict, &guard.guard, NULL, &undone, &error);
	ab_layer_set_fini(&set);
	return rc;
}

static int discard(const char *path)
{
	ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_layer_set set;
	int rc = -1;

	open_set(&set);
	if (ab_apply_open(&set, false, &guard.guard, &apply, &notes, &error) == 0 &&
	    ab_apply_pick_path(&apply, path))
		rc = ab_apply_discard(&apply, false, &error);
	ab_layer_set_fini(&set);
	return rc;
}

/* The changes as the set has them now. */
static char *rest(void)
{
	ab_autoview struct ab_layer_view now = AB_LAYER_VIEW_NONE;
	struct ab_layer_view before = view;
	struct ab_layer_set set;
	char *text;

	open_set(&set);
	if (ab_layer_open_view(&set, false, &now, &error) < 0)
		abort();
	view = now;
	text = changes_text(NULL);
	view = before;
	ab_layer_set_fini(&set);
	return text;
}

static void rest_is_at(const char *file, int line, const char *want, const char *name)
{
	ab_autofree char *got = rest();

	is_str_at(file, line, got, want, name);
}
#define rest_is(want, name) rest_is_at(__FILE__, __LINE__, (want), (name))

static void host_is_at(const char *file, int line, const char *want, const char *name)
{
	ab_autofree char *got = snapshot("lower");

	is_str_at(file, line, got, want, name);
}
#define host_is(want, name) host_is_at(__FILE__, __LINE__, (want), (name))

static bool is_clean(void)
{
	return sh("[ -z \"$(find \"$T/lower\" -name '.agentbox-*')\" ] || exit 1;"
		  "for n in \"$S\"/layers/dev/undo/*; do case ${n##*/} in"
		  " '*' | last | before-* | known*) ;; *) exit 1 ;; esac; done") == 0;
}

/* ---- tests ---- */

static const char lower[] =
	"umask 022; echo 1 >a; echo 1 >gone; mkdir d d/e; echo 1 >d/x; echo 1 >d/y; echo 1 >d/e/z;"
	"ln -s a link; echo 1 >script; mkdir old; echo 1 >old/f; echo 1 >kind; chmod 664 kind";
static const char upper[] =
	"umask 022; echo 22 >a; touch -d @1000 a; w gone old; mkdir d; chmod 750 d; echo n >d/n;"
	"w d/x; mkdir new new/m; echo 2 >new/f; echo 3 >new/m/g; ln -s f new/l; ln -s b link;"
	"echo 1 >script; chmod 755 script; echo 22 >kind; chmod 664 kind; rm -rf gone; echo g >gone";

static void test_all(void)
{
	ab_autofree char *before = NULL, *changes = NULL, *after = NULL;

	make_set(lower, upper);
	before = snapshot("lower");
	changes = rest();
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "everything is applied: %s", error.text);
	ok(sh("cd lower; [ \"$(cat a)\" = 22 ]; [ $(stat -c %%Y a) = 1000 ]; [ \"$(cat gone)\" = g ];"
	      "[ ! -e old ]; [ ! -e d/x ]; [ $(cat d/y) = 1 ]; [ $(cat d/n) = n ];"
	      "[ $(stat -c %%a d) = 750 ]; [ $(cat new/m/g) = 3 ]; [ $(readlink new/l) = f ];"
	      "[ $(readlink link) = b ]; [ $(stat -c %%a script) = 755 ];"
	      "[ $(stat -c %%a kind) = 664 ]; [ $(stat -c %%a new) = 755 ]") == 0,
	   "the host has every change");
	ok(is_clean(), "and nothing else");
	rest_is("", "the layer has nothing left");
	after = snapshot("lower");

	ok(undo(AB_APPLY_LEAVE) == 0, "undone: %s", error.text);
	host_is(before, "the host is as it was");
	rest_is(changes, "and the layer has its changes again");
	ok(is_clean(), "nothing else is left");
	ok(undo(AB_APPLY_LEAVE) < 0 && strstr(error.text, "no apply to take back"), "once: %s",
	   error.text);

	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied again: %s", error.text);
	host_is(after, "with the same result");
}

static void test_some(void)
{
	make_set(lower, upper);
	ok(apply_one("new/m/g") == 0, "a file in a new folder");
	ok(sh("cd lower; [ $(cat new/m/g) = 3 ]; [ ! -e new/f ]; [ $(cat a) = 1 ]") == 0,
	   "comes with its folders, and nothing else");
	rest_is("M f>f a\nP d>d d\nA ->f d/n\nD f>- d/x\nM f>f gone\nM f>f kind\nM l>l link\n"
		"A ->f new/f\nA ->l new/l\nD d>- old (1)\nP f>f script\n",
		"the rest is still there");
	ok(apply_one("d/n") == 0, "a second apply");
	ok(undo(AB_APPLY_LEAVE) == 0, "undo takes the last one back: %s", error.text);
	ok(sh("cd lower; [ -e new/m/g ] && [ ! -e d/n ]") == 0, "and only that");

	ok(discard("new") == 0 && discard("a") == 0 && discard("old") == 0 && discard("d") == 0,
	   "discarded: %s", error.text);
	rest_is("M f>f gone\nM f>f kind\nM l>l link\nP f>f script\n",
		"what was discarded is gone, the rest is not");
	ok(sh("cd lower; [ $(cat a) = 1 ] && [ -e old/f ] && [ -e new/m/g ]") == 0,
	   "the host is untouched");
}

/* In a copy, a name that is missing is a deletion: what was applied must stay. */
static void test_discard(void)
{
	ab_autofree char *before = NULL;

	make_set(
		"mkdir d; echo 1 >d/x; echo 1 >d-e; echo 1 >d.f; echo 1 >gone",
		"mkdir d; echo 22 >d/x; echo 22 >d-e; echo 22 >d.f; w gone; mkdir -p n/m/o;"
		"echo 1 >n/f; echo 1 >n/m/g; echo 1 >n/m/o/h; mkfifo n/m/p; ln -s x n/m/l; echo 1 >n0");
	before = snapshot("lower");
	ok(discard("d") == 0, "what is in a folder: %s", error.text);
	rest_is("M f>f d-e\nM f>f d.f\nD f>- gone\nA ->d n\nA ->f n/f\nA ->d n/m\nA ->f n/m/g\n"
		"A ->l n/m/l\nA ->d n/m/o\nA ->f n/m/o/h\nA ->o n/m/p [it is a FIFO]\n"
		"A ->f n0\n",
		"not what has a similar name");
	ok(discard("n/m") == 0 && discard("gone") == 0, "a new folder and a deletion: %s",
	   error.text);
	rest_is("M f>f d-e\nM f>f d.f\nA ->d n\nA ->f n/f\nA ->f n0\n", "with all that was in it");
	ok(discard("n") == 0 && discard("nothing") < 0, "the whole of it: %s", error.text);
	rest_is("M f>f d-e\nM f>f d.f\nA ->f n0\n", "and nothing else");
	host_is(before, "the host is as it was");
	ok(is_clean(), "nothing is left in the undo folder");
}

static void test_copy(void)
{
	ab_autofree char *before = NULL, *changes = NULL;

	make_set_as(
		lower,
		"cp -a ../lower/. .; echo 22 >a; rm -r old; mkdir new; echo n >new/f; echo 2 >d/x",
		true);
	before = snapshot("lower");
	changes = rest();
	is_str(changes, "M f>f a\nM f>f d/x\nA ->d new\nA ->f new/f\nD d>- old (1)\n", "a copy");
	ok(apply_one("a") == 0, "one file");
	rest_is("M f>f d/x\nA ->d new\nA ->f new/f\nD d>- old (1)\n", "the rest");
	sh("echo 333 >upper/a");
	rest_is("M f>f a\nM f>f d/x\nA ->d new\nA ->f new/f\nD d>- old (1)\n",
		"a later change is not a conflict with what agentbox wrote");
	sh("echo 22 >upper/a");
	ok(undo(AB_APPLY_LEAVE) == 0, "undone: %s", error.text);
	rest_is(changes, "and everything is as it was");
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "all of it: %s", error.text);
	rest_is("", "nothing is left");
	ok(undo(AB_APPLY_LEAVE) == 0, "undone: %s", error.text);
	host_is(before, "the host is as it was");
	rest_is(changes, "and the copy shows its changes");
	ok(discard("old") == 0 && discard("a") == 0 && discard("new") == 0, "discarded: %s",
	   error.text);
	rest_is("M f>f d/x\n", "by taking the host's version");
}

static void test_part(void)
{
	ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_layer_set set;

	make_set("printf '1\\n2\\n3\\n' >a; chmod 640 a",
		 "printf '1x\\n2\\n3x\\n' >a; chmod 755 a");
	open_set(&set);
	ok(ab_apply_open(&set, false, &guard.guard, &apply, &notes, &error) == 0, "opened");
	ab_apply_pick_part(&apply, 0, ab_strdup("1x\n2\n3\n"), 7);
	ok(ab_apply_commit(&apply, AB_APPLY_LEAVE, NULL, &error) == 0, "a hunk: %s", error.text);
	ab_layer_set_fini(&set);
	ok(sh("cd lower; [ \"$(cat a)\" = \"$(printf '1x\\n2\\n3')\" ] && [ $(stat -c %%a a) = 640 ]") ==
		   0,
	   "is in the host's file, with its mode");
	rest_is("M f>f a\n", "the other one is left, without a conflict");
	ok(apply_one("a") == 0, "and applied later");
	rest_is("", "nothing is left");
}

static void test_conflicts(void)
{
	make_set(lower, upper);
	sh("cd lower; echo host >a; echo host >old/f");
	ok(apply_paths(all, AB_APPLY_LEAVE) == 2, "two are left");
	ok(sh("cd lower; [ $(cat a) = host ] && [ -e old/f ] && [ $(cat new/f) = 2 ]") == 0,
	   "the host's versions stay, the rest is applied");
	rest_is("M f>f a conflict\nD d>- old (1) conflict\n", "they wait");
	ok(apply_paths((const char *const[]){ "a", NULL }, AB_APPLY_THEIRS) == 0, "theirs");
	ok(sh("[ $(cat lower/a) = 22 ]") == 0, "takes the layer's");
	ok(apply_paths(all, AB_APPLY_OURS) == 0, "ours");
	ok(sh("[ $(cat lower/old/f) = host ]") == 0, "takes the host's");
	rest_is("", "and drops the layer's");

	make_set(lower, "mkdir d; echo 2 >d/x");
	sh("cd lower; mv d real; ln -s real d");
	ok(apply_paths(all, AB_APPLY_LEAVE) == 2, "a folder that became a link is a conflict");
	ok(sh("cd lower; [ -L d ] && [ $(cat real/x) = 1 ]") == 0,
	   "and nothing is written through it");
}

static void test_hard_links(void)
{
	make_set("echo 1 >a; ln a b", "echo 2 >a; mkdir new; echo 1 >new/x; ln new/x new/y");
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied: %s", error.text);
	ok(sh("cd lower; [ $(cat a) = 2 ] && [ $(cat b) = 1 ] && [ $(stat -c %%h new/x) = 1 ]") ==
		   0,
	   "a hard link of the host keeps its content, one of the layer becomes a copy");
	ok(undo(AB_APPLY_LEAVE) == 0 && sh("cd lower; [ a -ef b ]") == 0,
	   "undo brings the same file back");
}

static void test_modes(void)
{
	make_set("echo 1 >a", "echo 2 >a; chmod 4777 a; echo 1 >s; chmod 6755 s; echo 1 >w;"
			      "chmod 666 w; mkdir t; chmod 1777 t");
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied: %s", error.text);
	ok(sh("cd lower; [ \"$(stat -c %%a a s w t | tr '\\n' ' ')\" = '755 755 644 755 ' ]") == 0,
	   "no set-id or sticky bits, no bits of the umask");
}

static void test_sparse(void)
{
	make_set("echo 1 >a", "truncate -s 4T big; printf x | dd of=big bs=1 seek=3000000000000 "
			      "conv=notrunc status=none");
	if (apply_paths(all, AB_APPLY_LEAVE) != 0) {
		ok(error.errnum == EFBIG, "the reason: %s", error.text);
		lacks("a sparse file", "no files of 4 TB here");
		return;
	}
	ok(sh("cd lower; [ $(stat -c %%s big) = 4398046511104 ] && [ $(stat -c %%b big) -lt 100 ] &&"
	      "[ \"$(dd if=big bs=1 skip=3000000000000 count=1 status=none)\" = x ]") == 0,
	   "a file of 4 TB keeps its holes and its data");
}

static void test_undo_refusals(void)
{
	ab_autofree char *now = NULL;

	make_set(lower, upper);
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied: %s", error.text);
	wait_for_tick();
	sh("cd lower; echo mine >a; echo mine >new/mine; echo mine >old");
	now = snapshot("lower");
	ok(undo(AB_APPLY_LEAVE) < 0 && strstr(error.text, "3 changed"), "refused: %s", error.text);
	host_is(now, "and nothing was touched");
	ok(undo(AB_APPLY_OURS) == 0, "ours: %s", error.text);
	ok(sh("cd lower; [ $(cat a) = mine ] && [ $(cat new/mine) = mine ] && [ $(cat old) = mine ] &&"
	      "[ ! -e d/n ] && [ -e d/x ] && [ $(readlink link) = a ]") == 0,
	   "leaves what changed and takes back the rest");

	make_set(lower, upper);
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied: %s", error.text);
	wait_for_tick();
	sh("cd lower; echo mine >a.new; mv a.new a; echo mine >new/m/mine; echo mine >old");
	ok(undo(AB_APPLY_THEIRS) == 0, "theirs: %s", error.text);
	ok(sh("cd lower; [ $(cat a) = 1 ] && [ ! -e new ] && [ -e old/f ]") == 0,
	   "takes everything back");

	/* An original cannot return to a folder that is gone, a new file needs none. */
	make_set(lower, upper);
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied: %s", error.text);
	wait_for_tick();
	sh("cd lower; mv d away");
	free(now);
	now = snapshot("lower");
	ok(undo(AB_APPLY_THEIRS) < 0 && error.code == AB_EREFUSED && strstr(error.text, "d/x"),
	   "the folder of an original is gone: %s", error.text);
	host_is(now, "nothing was touched");
	sh("cd lower; ln -s away d");
	ok(undo(AB_APPLY_THEIRS) < 0 && strstr(error.text, "d/x"), "nor is it a link: %s",
	   error.text);
	sh("cd lower; rm d; mkdir d");
	ok(undo(AB_APPLY_THEIRS) == 0 && sh("[ -e lower/d/x ] && [ $(cat lower/a) = 1 ]") == 0,
	   "taken back when it is there again: %s", error.text);

	make_set(lower, upper);
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied: %s", error.text);
	wait_for_tick();
	sh("rm -r lower/d");
	ok(undo(AB_APPLY_OURS) == 0 && sh("[ ! -e lower/d ] && [ $(cat lower/a) = 1 ]") == 0,
	   "ours leaves it as it is: %s", error.text);

	make_set("mkdir d; echo 1 >a", "mkdir d; echo n >d/n; echo 22 >a");
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied: %s", error.text);
	wait_for_tick();
	sh("rm -r lower/d");
	ok(undo(AB_APPLY_THEIRS) == 0 && sh("[ $(cat lower/a) = 1 ]") == 0,
	   "a folder that had only a new file may be gone: %s", error.text);

	make_set(lower, upper);
	ok(apply_one("a") == 0, "applied: %s", error.text);
	sh("echo newer >upper/a");
	ok(undo(AB_APPLY_LEAVE) < 0, "the layer changed since: %s", error.text);
	ok(undo(AB_APPLY_THEIRS) == 0 &&
		   sh("[ $(cat lower/a) = 1 ] && [ $(cat upper/a) = newer ]") == 0,
	   "its newer version stays in the layer");

	make_set(lower, upper);
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0, "applied: %s", error.text);
	sh("echo newer >upper/a");
	ok(undo(AB_APPLY_OURS) == 0 &&
		   sh("[ $(cat lower/a) = 22 ] && [ $(cat upper/a) = newer ] && [ -e lower/d/x ]") ==
			   0,
	   "ours: what a later run built on stays on the host: %s", error.text);
}

static void test_conflict_again(void)
{
	ab_autofree char *before = NULL;

	make_set("echo 1 >a; mkdir d; echo 1 >d/f; echo 1 >n", "echo 2 >a; w d; echo 2 >n");
	wait_for_tick();
	sh("cd lower; echo mine >a; echo mine >d/f");
	before = rest();
	ok(apply_paths(all, AB_APPLY_THEIRS) == 0, "conflicts are applied: %s", error.text);
	ok(undo(AB_APPLY_LEAVE) == 0, "and taken back: %s", error.text);
	rest_is(before, "they are conflicts again");
	ok(apply_paths(all, AB_APPLY_LEAVE) == 2 &&
		   sh("[ $(cat lower/a) = mine ] && [ $(cat lower/n) = 2 ]") == 0,
	   "and stay in the layer");
}

/* A host that changes between the look and the rename: done in the middle of an apply, by
 * the callback that tells the progress. */
static void change_host(void *arg, size_t n, size_t of)
{
	(void)of;
	if (n == 1)
		sh("%s", (const char *)arg);
}

static void race(const char *change, const char *test, const char *name)
{
	ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_progress progress = { change_host, (void *)(uintptr_t)change };
	struct ab_layer_set set;

	make_set("echo 1 >a; mkdir z z/d; echo 1 >z/f; echo 1 >z/d/g; mkdir out",
		 "echo 2 >a; mkdir z z/d; echo 2 >z/f; echo 2 >z/d/g; echo 2 >z/n");
	open_set(&set);
	ok(ab_apply_open(&set, false, &guard.guard, &apply, &notes, &error) == 0, "opened");
	(void)ab_apply_pick_path(&apply, "");
	ok(ab_apply_commit(&apply, AB_APPLY_LEAVE, &progress, &error) < 0, "%s is noticed: %s",
	   name, error.text);
	ab_layer_set_fini(&set);
	ok(sh("cd lower; [ $(cat a) = 1 ] && %s", test) == 0, "and everything is taken back");
	ok(is_clean(), "without a trace");
}

static void test_races(void)
{
	race("cd lower/z; echo mine >f", "[ $(cat z/f) = mine ]", "a file that was written");
	race("cd lower/z; echo mine >x; mv x f", "[ $(cat z/f) = mine ]",
	     "a file that was replaced");
	race("cd lower/z; echo mine >n", "[ $(cat z/n) = mine ]", "a file that was created");
	race("cd lower/z; rm f; ln -s ../out/f f", "[ -L z/f ] && [ ! -e out/f ]", "a link");
}

/* The lock keeps boxes away. If something changes the layer nevertheless, between the look and
 * the copy, nothing is applied. */
static void change_layer(const char *change, const char *name)
{
	ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_layer_set set;

	make_set("echo 1 >a; mkdir d; echo 1 >d/f", "echo 2 >a; mkdir d; echo 2 >d/f; ln -s x l");
	open_set(&set);
	ok(ab_apply_open(&set, false, &guard.guard, &apply, &notes, &error) == 0, "opened");
	(void)ab_apply_pick_path(&apply, "");
	wait_for_tick();
	sh("cd upper/; %s", change);
	ok(ab_apply_commit(&apply, AB_APPLY_LEAVE, NULL, &error) < 0, "%s is noticed: %s", name,
	   error.text);
	ab_layer_set_fini(&set);
	ok(sh("cd lower; [ $(cat a d/f | tr -d '\\n') = 11 ]") == 0, "and nothing is applied");
	ok(is_clean(), "nothing is left");
}

/* Another apply changes the host between the look and the apply: what wants a look together with that is
 * left, and what is in a new folder that is left. */
static void change_meanwhile(const char *change, size_t applied)
{
	ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_layer_set set;
	size_t done = 0;

	make_set("mkdir two; echo 1 >two/x",
		 "mkdir two two/objects two/refs; echo 'ref: refs/heads/main' >two/HEAD;"
		 " echo 2 >two/refs/y");
	open_set(&set);
	ok(ab_apply_open(&set, false, &guard.guard, &apply, &notes, &error) == 0, "opened");
	ab_apply_pick_safe(&apply);
	sh("cd lower/two; %s", change);
	ok(ab_apply_commit(&apply, AB_APPLY_LEAVE, NULL, &error) == 0, "applied after another one");
	for (size_t i = 0; i < apply.changes.len; i++)
		done += apply.picks[i].done;
	ok(done == applied && ab_apply_rest(&apply) == apply.changes.len - applied,
	   "%zu of %zu changes", done, apply.changes.len);
	ab_layer_set_fini(&set);
	ok((sh("[ -e lower/two/HEAD ]") == 0) == (applied > 0), "and no others");
	ok(is_clean(), "nothing is left");
}

static void test_changing_layer(void)
{
	change_layer("echo 3 >d/f", "a file that was written again");
	change_layer("rm d/f; ln -s /etc/passwd d/f", "a link");
	change_layer("rm d/f; mkfifo d/f", "a FIFO");
	change_layer("mv d e; ln -s e d", "a folder that became a link");
	change_layer("rm -r d", "a file that is gone");
}

static void test_devices(void)
{
	if (geteuid() != 0) {
		skip("devices", "only root makes them");
		return;
	}
	if (sh("mknod probe c 1 3") != 0) {
		lacks("devices", "they cannot be made here");
		return;
	}
	make_set("echo 1 >a", "mknod null c 1 3; mknod disk b 7 0; rm -f a; mknod a c 1 3");
	rest_is("R f>o a [it is a device]\nA ->o disk [it is a device]\nA ->o null [it is a device]\n",
		"devices are refused");
	ok(apply_paths(all, AB_APPLY_THEIRS) == 3, "all are left");
	ok(sh("cd lower; [ \"$(ls)\" = a ] && [ $(cat a) = 1 ]") == 0, "and the host is as it was");
}

/* ---- SIGKILL ---- */

/* What may change files. */
static const int changing[] = {
	SYS_openat,    SYS_renameat2, SYS_renameat, SYS_unlinkat,  SYS_mkdirat, SYS_symlinkat,
	SYS_utimensat, SYS_fchmod,    SYS_write,    SYS_ftruncate, SYS_syncfs,	SYS_fsync,
};

/* This process, and its threads to come, stop before these calls only: to stop before every call
 * would take most of the time. */
static void stop_at_changes(void)
{
	struct sock_filter code[2 + 2 * AB_COUNT(changing)];
	struct sock_fprog prog = { .len = AB_COUNT(code), .filter = code };
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < AB_COUNT(changing); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (uint32_t)changing[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		abort();
}

static int calls_seen; /* of the last kill_at() */

/* A thread of the child stopped. Is it before its n-th call? */
static bool is_due(pid_t tid, int status, int n)
{
	struct __ptrace_syscall_info info;

	return status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8) &&
	       ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) > 0 &&
	       (info.seccomp.nr != SYS_openat || info.seccomp.args[2] & O_CREAT) &&
	       ++calls_seen == n;
}

/* Run `work` in a child and kill it before its n-th call that may change files, in whatever
 * thread. False: it ended before. */
static bool kill_at(int n, void (*work)(void))
{
	bool killed = false;
	pid_t pid, tid;
	int status;

	calls_seen = 0;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		stop_at_changes();
		work();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       (void *)(PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE));
	tid = pid;
	while (tid != pid || WIFSTOPPED(status)) {
		if (WIFSTOPPED(status) && !killed && is_due(tid, status, n)) {
			kill(pid, SIGKILL);
			killed = true;
		} else if (WIFSTOPPED(status)) {
			ptrace(PTRACE_CONT, tid, NULL, NULL);
		}
		tid = waitpid(-1, &status, __WALL);
		if (tid < 0)
			abort();
	}
	return killed;
}

static void do_apply(void)
{
	if (apply_paths(all, AB_APPLY_LEAVE) != 0)
		_exit(1);
}

static void do_undo(void)
{
	if (undo(AB_APPLY_LEAVE) != 0)
		_exit(1);
}

static int recover(void)
{
	ab_autostrv struct ab_strv notes = { 0 };
	struct ab_layer_set set;
	int rc;

	open_set(&set);
	rc = ab_layer_recover(&set, &guard.guard, &notes, &error);
	ab_layer_set_fini(&set);
	return rc;
}

static void do_recover(void)
{
	if (recover() != 0)
		_exit(1);
}

static const char small_lower[] =
	"echo 1 >a; echo 1 >gone; mkdir d old; echo 1 >d/x; echo 1 >old/f";
static const char small_upper[] = "echo 22 >a; w old; mkdir d new; echo 3 >new/f; ln -s f new/l;"
				  "chmod 750 d; w d/x";

/* The calls of a range that are tried: each `part`-th one, or with AB_ALL all; under the sanitizers fewer. With
 * which one it begins differs each time, and is said. */
static int first_call(int part, int *ret_step)
{
	const char *every = getenv("AB_ALL");

	*ret_step = every && every[0] ? 1 : SANITIZED ? 5 * part : part;
	return 1 + getpid() % *ret_step;
}

static void test_kills(void)
{
	static const struct {
		void (*work)(void);
		const char *name;
	} works[] = { { do_apply, "apply" }, { do_undo, "undo" } };

	for (size_t w = 0; w < AB_COUNT(works); w++) {
		int old = 0, fresh = 0, bad = 0, tried = 0, step, from = first_call(4, &step);
		bool killed = true;

		/* The first call is before what decides, and a work that is not killed after that. */
		for (int n = 1; killed && n < 500; n = n < from ? from : n + step) {
			ab_autofree char *first = NULL, *second = NULL, *now = NULL, *left = NULL,
					 *changes = NULL;

			make_set(small_lower, small_upper);
			first = snapshot("lower");
			changes = rest();
			if (w == 1) {
				do_apply();
				second = snapshot("lower");
			}
			killed = kill_at(n, works[w].work);
			tried += killed;
			if (n % 3 == 0)
				kill_at(1 + n % 5, do_recover); /* recovery, too */
			if (recover() < 0) {
				printf("# %s\n", error.text);
				bad++;
			}
			now = snapshot("lower");
			left = rest();
			if (strcmp(now, first) == 0 && strcmp(left, changes) == 0)
				old++;
			else if ((!second || strcmp(now, second) == 0) && !left[0] &&
				 sh("cd lower; [ $(cat a) = 22 ] && [ ! -e old ] && [ ! -e d/x ] &&"
				    "[ $(cat new/f) = 3 ] && [ $(stat -c %%a d) = 750 ]") == 0)
				fresh++;
			else
				bad++;
			if (!is_clean()) {
				printf("# killed at %d: something is left\n", n);
				bad++;
			}
		}
		ok(!killed && bad == 0 && old > 0 && fresh > 0,
		   "%s, killed at %d calls from %d on: %d times the old state, %d times the new one",
		   works[w].name, tried, from, old, fresh);
	}
}

/* A box that can write there: nothing on the host changes, whatever is asked for. */
static void test_guard(void)
{
	ab_autofree char *before = NULL, *staged = NULL, *applied = NULL, *after = NULL;
	int n;

	make_set(small_lower, small_upper);
	before = snapshot("lower");
	guard.closed = true;
	ok(apply_paths(all, AB_APPLY_LEAVE) < 0, "apply is refused: %s", error.text);
	is_str(after = snapshot("lower"), before, "nothing has changed");
	ok(recover() == 0, "nothing is left to recover");
	guard.closed = false;
	guard.entered = 0;
	ok(apply_paths(all, AB_APPLY_LEAVE) == 0 && guard.entered == 1 && guard.inside == 0,
	   "applied when there is none");
	applied = snapshot("lower");
	guard.closed = true;
	ok(undo(AB_APPLY_LEAVE) < 0, "undo is refused: %s", error.text);
	free(after);
	is_str(after = snapshot("lower"), applied, "nothing has changed");
	guard.closed = false;
	ok(undo(AB_APPLY_LEAVE) == 0 && guard.inside == 0, "taken back when there is none");

	/* Killed when something is staged. */
	for (n = 1; n < 500; n++) {
		make_set(small_lower, small_upper);
		if (!kill_at(n, do_apply) || sh("ls -A lower | grep -q agentbox") == 0)
			break;
	}
	staged = snapshot("lower");
	ok(strcmp(staged, before) != 0, "half an apply, after %d calls", n);
	guard.closed = true;
	ok(recover() < 0, "it is not completed: %s", error.text);
	free(after);
	is_str(after = snapshot("lower"), staged, "nothing has changed");
	guard.closed = false;
	ok(recover() == 0 && guard.inside == 0 && is_clean(), "completed or taken back later");
}

/* A file of the host that took the place of the applied one at the last moment, when the undo was
 * killed before it had noticed: the undo folder has it. */
static void test_killed_race(const char *host, const char *back)
{
	int n = 0;

	do {
		make_set(host, "echo 22 >a");
		do_apply();
	} while (kill_at(++n, do_undo) && n < 50 && sh("grep -qsx 22 lower/a") == 0);
	ok(sh("%s; [ $(cat \"$S/layers/dev/undo/last/old/0\") = 22 ]", back) == 0,
	   "killed before call %d: the names have changed places", n);
	sh("echo mine >x; mv x \"$S/layers/dev/undo/last/old/0\"");
	ok(recover() == 0 && sh("[ $(cat lower/a) = mine ]") == 0, "the host's file comes back: %s",
	   error.text);
	ok(strcmp(host, "echo 1 >a") != 0 ||
		   sh("cd lower; [ $(cat .agentbox-*-kept) = 1 ] && rm .agentbox-*-kept") == 0,
	   "what was there before the apply is beside it");
	ok(is_clean(), "without another trace");
}

/* The user edits a file after an undo was killed, and takes another one's folder away: the next command puts
 * the edit beside its place, and fails. It says where the edit is, and so does the one that succeeds. */
static void test_failed_recovery(void)
{
	int n = 0;

	do {
		make_set("mkdir d; echo 1 >d/x; echo 1 >z", "mkdir d; echo 22 >d/x; echo 22 >z");
		do_apply();
	} while (kill_at(++n, do_undo) && n < 50 &&
		 sh("[ -e \"$S/layers/dev/undo/last/undo\" ]") != 0);
	ok(sh("[ $(cat lower/z) = 22 ] && echo mine >>lower/z && mv lower/d lower/e") == 0,
	   "killed before call %d: the undo has begun", n);
	ok(recover() < 0, "it cannot be completed: %s", error.text);
	ok(strstr(error.hint, "half done") && strstr(error.hint, "-kept is another version") &&
		   sh("cd lower; grep -qx mine .agentbox-*-kept") == 0,
	   "where the edit is, is told: %s", error.hint);
	ok(sh("mv lower/e lower/d") == 0 && recover() == 0, "completed later: %s", error.text);
	ok(sh("cd lower; [ $(cat z d/x | tr -d '\\n') = 11 ] && rm .agentbox-*-kept") == 0 &&
		   is_clean(),
	   "everything is taken back");
}

/* So it does if there are so many that their names have no room in what it says. */
static void test_many_edits(void)
{
	int n = 0;

	do {
		make_set("mkdir d; echo 1 >d/x; for i in $(seq 40); do echo 1 >z$i; done",
			 "mkdir d; echo 22 >d/x; for i in $(seq 40); do echo 22 >z$i; done");
		do_apply();
	} while (kill_at(++n, do_undo) && n < 50 &&
		 sh("[ -e \"$S/layers/dev/undo/last/undo\" ]") != 0);
	ok(sh("for i in $(seq 40); do echo mine >>lower/z$i; done; mv lower/d lower/e") == 0,
	   "killed before call %d: the undo has begun", n);
	ok(recover() < 0 && strstr(error.hint, "half done") &&
		   strstr(error.hint, "-kept is another version"),
	   "it cannot be completed: %s", error.text);
	ok(strstr(error.hint, "meanwhile\nThere are more: find . -name '.agentbox-*-kept*'"),
	   "that there are more is told: %s", error.hint);
	ok(sh("cd lower; [ $(grep -lx mine .agentbox-*-kept* z* | wc -l) = 40 ]") == 0,
	   "they are all there");
	ok(sh("mv lower/e lower/d") == 0 && recover() == 0, "completed later: %s", error.text);
}

/* has LINE FILE...: one of the files has it. In the shell, since to start a program so often takes most
 * of the time. */
#define HAS                                                                          \
	"has() { t=$1; shift; for f; do [ ! -f \"$f\" ] ||"                          \
	" while read -r l; do [ \"$l\" != \"$t\" ] || return 0; done <\"$f\"; done;" \
	" return 1; }; "

/* Each file is written to, or replaced as editors do; one that is not there is created. So is one in each
 * folder. $T/wrote has what was written. */
static void edit_files(bool replaces)
{
	sh("cd lower; for f in a b c gone new; do l=edit-$f t=$f; if [ -d $f ]; then echo $l >$f/mine;"
	   " elif [ %d = 1 ] && [ -e $f ]; then { cat $f; echo $l; } >../x; mv ../x $f;"
	   " else echo $l >>$f; fi; echo $f $l >>../wrote; done",
	   replaces);
}

/* Files that are not there are created. */
static void create_files(void)
{
	sh("cd lower; for f in a b c gone new; do [ -e $f ] ||"
	   " { echo own-$f >$f; echo $f own-$f >>../wrote; }; done");
}

static int count_lost_edits(void)
{
	return sh(HAS "while read -r f l; do has $l lower/$f lower/$f/mine lower/.agentbox-*-kept*"
		      " lower/.agentbox-*-kept*/mine || exit 1; done <wrote") != 0;
}

/* Of the files before the apply: the layer has the others. */
static int count_lost_originals(void)
{
	return sh(HAS "for n in a b c gone; do has 1-$n lower/$n lower/.agentbox-*-kept*"
		      " \"$S\"/layers/dev/undo/last/old/* || exit 1; done") != 0;
}

/* The user edits files after a process was killed at call `first`, before the next one recovers. That one is
 * killed, too, and the user creates the files that are missing then. What the user wrote and what was there
 * before the apply are in the place, or beside it. Returns what was killed: 0 to 2. */
struct edits {
	bool undoes, replaces, begun;
	int lost, stuck, kept;
};

static int try_edits(struct edits *e, int first, int second)
{
	int killed, lost;

	make_set(
		"for f in a b c gone; do echo 1-$f >$f; done",
		"echo 22 >a; echo 22 >b; mkdir c; setfattr -n user.overlay.opaque -v y c; echo 22 >c/f; w gone; echo 22 >new");
	sh("rm -f wrote");
	if (e->undoes)
		do_apply();
	killed = kill_at(first, e->undoes ? do_undo : do_apply);
	e->begun = sh("%s", e->undoes ? "[ -e \"$S/layers/dev/undo/last/undo\" ]"
				      : "[ $(cat lower/a) = 22 ]") == 0;
	/* What an undo has begun is not older than an edit at once. */
	if (!e->undoes || !e->begun)
		wait_for_tick();
	edit_files(e->replaces);
	killed += kill_at(second, do_recover);
	create_files();
	(void)recover(); /* it may say that a file changed meanwhile */
	if (recover() != 0) {
		printf("# killed at %d and %d: %s\n", first, second, error.text);
		e->stuck++;
	}
	lost = count_lost_edits() + 2 * count_lost_originals();
	if (lost) {
		printf("# killed at %d and %d: lost %d\n", first, second, lost);
		e->lost++;
	}
	e->kept += sh("for f in lower/.*-kept*; do [ ! -e \"$f\" ] || exit 0; done; exit 1") == 0;
	return killed;
}

static void test_killed_edit(const char *name, bool undoes, bool replaces)
{
	struct edits e = { .undoes = undoes, .replaces = replaces };
	/* Replaced files differ from written ones in a few steps. */
	int tried = 0, twice = 0, killed = 1, step, from = first_call(replaces ? 4 : 2, &step);

	/* Once with each second kill, else with one. */
	for (int n = from, every = 0; killed > 0 && n < 500; n += step) {
		int m = step == 1 ? 1 : 1 + n * 5 % 29;

		tried++;
		do {
			killed = try_edits(&e, n, m);
			m += step;
			twice += killed == 2;
			if (e.begun && !every) {
				every = n;
				m = 1;
			}
		} while (killed == 2 && (step == 1 || n == every));
	}
	/* Few tries, far apart, may meet no edit. */
	ok(killed == 0 && e.lost + e.stuck == 0 && (SANITIZED || (e.kept > 0 && twice > 0)),
	   "%s, killed at %d calls from %d on, recovery %d times: %d times an edit is lost, %d stuck, %d beside",
	   name, tried, from, twice, e.lost, e.stuck, e.kept);
}

/* What was applied is removed after an undo was killed: what was there before the apply is still in its place,
 * or in the journal. */
static void test_killed_removal(const char *name)
{
	int lost = 0, bad = 0, tried = 0, step, from = first_call(2, &step);
	bool killed = true;

	for (int n = from; killed && n < 500; n += step, tried++) {
		make_set("echo 1 >a; echo 1 >b", "echo 22 >a; echo 22 >b");
		do_apply();
		killed = kill_at(n, do_undo);
		sh(HAS "cd lower; for n in a b; do ! has 22 $n || rm $n; done");
		bad += recover() != 0;
		lost += sh(HAS "for n in a b; do has 1 lower/$n"
			       " \"$S\"/layers/dev/undo/last/old/* || exit 1; done") != 0;
	}
	ok(!killed && lost + bad == 0, "%s, killed at %d calls from %d on: %d files lost, %d stuck",
	   name, tried, from, lost, bad);
}

/* Two threads share the steps of a large apply. */
static const char many_lower[] = "mkdir d; cd d; for i in $(seq 270); do echo 1 >f$i; done";
static const char many_upper[] = "mkdir d; cd d; for i in $(seq 540); do echo 22 >f$i; done";

static void test_many_kills(void)
{
	static const struct {
		void (*work)(void);
		const char *name;
		int eighths[4];
	} works[] = { { do_apply, "a large apply", { 2, 6, 7 } },
		      { do_undo, "a large undo", { 1, 3, 6 } } };

	for (size_t w = 0; w < AB_COUNT(works); w++) {
		int good = 0, all_calls = 0;

		for (size_t k = 0; k < AB_COUNT(works[w].eighths); k++) {
			ab_autofree char *first = NULL, *now = NULL;
			bool killed, fine;

			make_set(many_lower, many_upper);
			first = snapshot("lower");
			if (w == 1)
				do_apply();
			/* The first time to count the calls. */
			killed = kill_at(k ? all_calls * works[w].eighths[k - 1] / 8 : 0,
					 works[w].work);
			if (!k)
				all_calls = calls_seen;
			fine = killed == (k > 0) && recover() == 0;
			if (!fine)
				printf("# %d of %d calls: %s\n", calls_seen, all_calls, error.text);
			now = snapshot("lower");
			if (strcmp(now, first) == 0)
				good += fine && is_clean() &&
					sh("[ $(ls upper/d | wc -l) = 540 ]") == 0;
			else
				good += fine && is_clean() &&
					sh("[ $(cat lower/d/* | sort | uniq -c | wc -l) = 1 ]"
					   "&& [ $(ls lower/d | wc -l) = 540 ]"
					   "&& [ ! -e upper/d ]") == 0;
		}
		ok(good == 4 && all_calls > 1000,
		   "%s, killed at 3 of %d calls: always the old or the new state", works[w].name,
		   all_calls);
	}
}

/* A step of a large apply fails, near either end of the list or at both: the threads stop, and what
 * both have done is taken back. */
static void fail_many(const char *change, const char *failed, int left)
{
	ab_autofree char *before = NULL;
	struct ab_layer_set set;

	make_set(many_lower, many_upper);
	{
		ab_autoapply struct ab_apply apply = AB_APPLY_NONE;
		ab_autostrv struct ab_strv notes = { 0 };

		open_set(&set);
		ok(ab_apply_open(&set, false, &guard.guard, &apply, &notes, &error) == 0, "opened");
		(void)ab_apply_pick_path(&apply, "");
		wait_for_tick();
		sh("%s", change);
		before = snapshot("lower");
		ok(ab_apply_commit(&apply, AB_APPLY_LEAVE, NULL, &error) < 0 &&
			   strstr(error.text, failed),
		   "after %s it fails: %s", change, error.text);
		ab_layer_set_fini(&set);
	}
	host_is(before, "everything is taken back, and the host's own change stays");
	ok(is_clean() && sh("[ $(ls upper/d | wc -l) = 540 ]") == 0, "the layer is as it was");
	ok(apply_paths(all, AB_APPLY_LEAVE) == left, "the same again leaves %d conflicts: %s", left,
	   error.text);
	ok(is_clean() && sh("[ $(cat lower/d/* | grep -c 22) = %d ]", 540 - left) == 0,
	   "and applies all the others");
}

static void test_many_failures(void)
{
	/* In the order of the list: f1, f10, f100, ..., f99. */
	fail_many("echo mine >lower/d/f1", "d/f1 changed", 1);
	fail_many("echo mine >lower/d/f99", "d/f99 changed", 1);
	fail_many("echo mine >lower/d/f300", "d/f300", 1);
	fail_many("cd lower/d; for i in 1 99 540; do echo mine >f$i; done", "d/f", 3);
	/* While the files are staged. */
	fail_many("echo 22 >upper/d/f1; echo 22 >upper/d/f99", "d/f", 0);
}

/* The project is on another file system than the state folder: originals are copied. */
static bool move_state(const char *folder)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/agentbox-test-XXXXXX", folder);
	if (!mkdtemp(name))
		return false;
	snprintf(state, sizeof(state), "%s/state", name);
	return true;
}

static void test_two_file_systems(void)
{
	struct stat a, b;

	if (!move_state("/dev/shm") || stat("/tmp", &a) < 0 || stat("/dev/shm", &b) < 0 ||
	    a.st_dev == b.st_dev) {
		lacks("two file systems", "/tmp and /dev/shm are one");
		return;
	}
	test_all();
	test_undo_refusals();
	sh("rm -rf \"${S%%/state}\"");
	state[0] = '\0';
}

/* Memory is faster than the disk, which everything has to reach before an apply goes on. */
static void test_kills_in_memory(void)
{
	end_layer();
	top[0] = state[0] = '\0';
	if (access("/dev/shm", W_OK) == 0)
		test_folder = "/dev/shm";
	test_kills();
	test_killed_race("echo 1 >a", "[ $(cat lower/a) = 1 ]");
	test_killed_race("echo 1 >b", "[ ! -e lower/a ]");
	test_failed_recovery();
	test_many_edits();
	test_killed_edit("an apply", false, false);
	test_killed_edit("an apply, and files are replaced", false, true);
	test_killed_edit("an undo", true, false);
	test_killed_edit("an undo, and files are replaced", true, true);
	test_killed_removal("an undo, and files are removed");
	test_many_kills();
	test_many_failures();
}

static bool write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* Mounts of our own, with our own ids. */
static bool enter_mounts(void)
{
	char uid[48], gid[48];

	snprintf(uid, sizeof(uid), "%u %u 1", geteuid(), geteuid());
	snprintf(gid, sizeof(gid), "%u %u 1", getegid(), getegid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       write_map("/proc/self/setgroups", "deny") && write_map("/proc/self/uid_map", uid) &&
	       write_map("/proc/self/gid_map", gid);
}

/* The same with the state folder on another mount in memory. The last test: it does not return to the
 * mounts of before. */
static void test_far_kills(void)
{
	char *end;

	if (!move_state(test_folder))
		abort();
	end = strrchr(state, '/');
	*end = '\0';
	if (!enter_mounts() || mount("none", state, "tmpfs", 0, "mode=700") < 0) {
		lacks("kills across mounts", "no mounts of our own");
		rmdir(state);
		return;
	}
	*end = '/';
	test_all();
	test_kills();
	test_killed_edit("an undo across mounts", true, false);
	test_killed_edit("an undo across mounts, and files are replaced", true, true);
	test_killed_removal("an undo across mounts, and files are removed");
	sh("rm -rf \"$S\"");
	/* Not with umount(8): a user's capabilities are gone after exec. */
	*end = '\0';
	ok(umount2(state, MNT_DETACH) == 0 && rmdir(state) == 0, "nothing is left of the mount");
	state[0] = '\0';
}

int main(void)
{
	guard.guard = (struct ab_host_guard){ .enter = enter_guard, .leave = leave_guard };
	test_all();
	test_some();
	test_discard();
	test_copy();
	test_part();
	test_conflicts();
	test_hard_links();
	test_modes();
	test_sparse();
	test_undo_refusals();
	test_conflict_again();
	test_races();
	test_changing_layer();
	change_meanwhile("printf '[core]\n\tbare = true\n' >config", 4);
	change_meanwhile("printf '[core]\n\tfsmonitor = x\n' >config", 0);
	test_guard();
	test_devices();
	test_two_file_systems();
	test_kills_in_memory();
	test_far_kills();
	end_layer();
	return done();
}
