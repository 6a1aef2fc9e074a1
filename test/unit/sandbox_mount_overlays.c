/* Overlays in a mount namespace of our own: what the box writes, what is hidden, what is kept. */
#include "sandbox/mount/overlays.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "sandbox/mount/tree.h"
#include "sandbox/plan/spec.h"
#include "workspace_help.h"

#define yes(...) (sh(__VA_ARGS__) == 0)

static int host, stage;
static bool mounted;

static void write_text(const char *path, const char *text)
{
	ab_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || ab_write_all(fd, text, strlen(text)) < 0)
		abort();
}

/* False: there are no user namespaces here. */
static bool enter_namespace(void)
{
	ab_autofree char *uid = ab_printf("%u %u 1", getuid(), getuid());
	ab_autofree char *gid = ab_printf("%u %u 1", getgid(), getgid());
	struct ab_error err = { 0 };

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", uid);
	write_text("/proc/self/gid_map", gid);
	host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ab_tree_setattr(host, 0, true, "/", &err) == 0;
}

static void make_stage(void)
{
	static const char *const options[] = { "mode", "0755", NULL };
	ab_autofree char *path = at("stage");
	ab_autoclose int target = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ab_error err = { 0 };

	stage = ab_tree_new("tmpfs", options, 0);
	if (stage < 0 || ab_tree_place(stage, target, "stage", &err) < 0)
		abort();
}

static void remove_stage(void)
{
	ab_autofree char *path = at("stage");

	close(stage);
	umount2(path, MNT_DETACH);
}

/* A specification with this layer; the caller adds to it, then finishes it. */
static struct ab_facts facts;

static struct ab_layer_mount *begin_layer(const char *rel)
{
	ab_autofree char *path = at(rel);

	return ab_layer_mounts_add(&facts.layers, path);
}

static void finish_spec(struct ab_spec *ret)
{
	*ret = (struct ab_spec){ 0 };
	ab_plan_make(&facts, &ret->plan);
	ab_plan_take_layers(&ret->plan, &facts, &ret->layers);
	ab_layer_mounts_fini(&facts.layers);
}

/* Make the layers, and mount the first one on its folder. */
static int make_layers(struct ab_spec *spec, struct ab_overlays *o, struct ab_error *err)
{
	ab_autoclose int tree = -1, target = -1;
	mode_t mask = umask(0);
	int r = ab_overlays_collect(spec, host, o, err);

	make_stage();
	if (r == 0)
		r = ab_overlays_make(o, spec, stage, err);
	umask(mask);
	if (r < 0)
		return -1;
	tree = ab_overlays_take(o, spec, spec->layers.v[0].path);
	target = ab_tree_lookup(host, spec->layers.v[0].path);
	mounted = tree >= 0;
	return mounted ? ab_tree_place(tree, target, "home", err) : 0;
}

static void leave_layers(struct ab_spec *spec, struct ab_overlays *o)
{
	if (mounted)
		umount2(spec->layers.v[0].path, MNT_DETACH);
	mounted = false;
	ab_overlays_fini(o);
	ab_spec_fini(spec);
	remove_stage();
}

static void check_temporary(void)
{
	struct ab_error err = { 0 };
	struct ab_overlays o;
	struct ab_spec spec;
	char name[AB_OVERLAY_NAME];
	struct stat st;

	begin_layer("home");
	finish_spec(&spec);
	ok(make_layers(&spec, &o, &err) == 0 && spec.layers.v[0].errnum == 0, "made %s", err.text);
	ok(yes("test \"$(stat -c %%a $T/home)\" = 711"), "the folder has the mode of the real one");
	sh("echo new >$T/home/file; rm $T/home/gone; echo x >$T/home/.config/new");
	ok(yes("grep -q new $T/home/file && test ! -e $T/home/gone"), "it can be written");
	ab_overlays_upper(0, name);
	ok(fstatat(stage, name, &st, 0) == 0 && S_ISDIR(st.st_mode), "the upper folder has a name");
	leave_layers(&spec, &o);
	ok(yes("grep -q old $T/home/file && test -e $T/home/gone && test ! -e $T/home/.config/new"),
	   "nothing of it was real");
}

static void check_hidden(void)
{
	static const char *const names[] = { ".netrc", ".config/gh", ".config/deep/er", "folder" };
	struct ab_error err = { 0 };
	struct ab_layer_mount *l = begin_layer("home");
	ab_autoclose int hidden = -1;
	struct ab_overlays o;
	struct ab_spec spec;

	for (size_t i = 0; i < AB_COUNT(names); i++)
		ab_strv_add(&l->hidden, names[i]);
	finish_spec(&spec);
	ok(ab_overlays_hide_names(&spec), "there are names to hide");
	ok(make_layers(&spec, &o, &err) == 0 && spec.layers.v[0].errnum == 0, "made %s", err.text);
	hidden = ab_take_fd(&o.hidden);
	ok(hidden >= 0 && ab_overlays_hide(&spec, hidden) == 0, "they are hidden");
	ok(yes("test \"$(stat -c %%a $T/home/.config)\" = 750"),
	   "a folder on the way looks the same");
	ok(yes("test -e $T/home/.config/tool"), "with what is in it");
	/* Below the overlay. */
	sh("cd $T; echo s >real/.netrc; mkdir real/.config/gh real/.config/deep real/folder;"
	   "echo s >real/.config/gh/x; echo s >real/.config/deep/er; echo s >real/plain");
	ok(yes("test -e $T/home/plain"), "other names of the host appear");
	ok(yes("cd $T/home; test ! -e .netrc -a ! -e .config/gh -a ! -e .config/deep -a ! -e folder"),
	   "these do not");
	ok(yes("cd $T/home; touch .netrc && rm .netrc && mkdir folder .config/gh && rmdir folder .config/gh;"
	       "test ! -e .netrc -a ! -e .config/gh/x -a ! -e folder"),
	   "nor when they were created and removed");
	ok(yes("cd $T/home; echo mine >.netrc; grep -q mine .netrc"), "the box may have its own");
	leave_layers(&spec, &o);
	sh("cd $T/real; rm -r .netrc .config/gh .config/deep folder plain");
}

static void check_kept(void)
{
	struct ab_error err = { 0 };
	struct ab_layer_mount *l;
	struct ab_overlays o, second;
	struct ab_spec spec, other;

	for (int round = 0; round < 2; round++) {
		l = begin_layer("home");
		l->upper = at("kept/upper");
		l->work = at("kept/work");
		finish_spec(&spec);
		ok(make_layers(&spec, &o, &err) == 0 && spec.layers.v[0].errnum == 0, "made %s",
		   err.text);
		ok(round == 0 || yes("grep -q kept $T/home/mine"), "what it had is there again");
		sh("echo kept >$T/home/mine");
		if (round == 0)
			leave_layers(&spec, &o);
	}
	l = begin_layer("home");
	l->upper = at("kept/upper");
	l->work = at("kept/work");
	finish_spec(&other);
	ab_overlays_collect(&other, host, &second, &err);
	make_stage();
	ok(ab_overlays_make(&second, &other, stage, &err) < 0 && err.errnum == EBUSY && err.hint[0],
	   "a second box does not get it: %s", err.text);
	ab_overlays_fini(&second);
	ab_spec_fini(&other);
	remove_stage();
	leave_layers(&spec, &o);
}

static void check_fallbacks(void)
{
	struct ab_error err = { 0 };
	struct ab_layer_mount *l = begin_layer("home");
	struct ab_overlays o;
	struct ab_spec spec;

	l->upper = at("missing/upper");
	l->work = at("missing/work");
	finish_spec(&spec);
	ok(make_layers(&spec, &o, &err) < 0 && err.errnum == ENOENT, "a kept layer must be there");
	leave_layers(&spec, &o);

	l = begin_layer("home");
	l->optional = true;
	l->upper = at("kept/not-there");
	l->work = at("kept/work");
	l = begin_layer("home/.config");
	l->optional = true;
	l = begin_layer("nowhere");
	l->optional = true;
	finish_spec(&spec);
	ok(make_layers(&spec, &o, &err) == 0, "made %s", err.text);
	ok(spec.layers.v[0].errnum == AB_LAYER_TEMPORARY, "one that cannot be kept is temporary");
	ok(spec.layers.v[1].errnum == 0, "one inside it is made too");
	ok(spec.layers.v[2].errnum == ENOENT, "one without a folder is not made");
	leave_layers(&spec, &o);

	l = begin_layer("nowhere");
	l->optional = true;
	l = begin_layer("home/.config");
	l->optional = true;
	finish_spec(&spec);
	ok(make_layers(&spec, &o, &err) == 0 && spec.layers.v[1].errnum == 0,
	   "one is made if there is none around it");
	leave_layers(&spec, &o);
}

/* The layer of another box is above the copies of the host's files, and below the names that are hidden. */
static void check_pieces(void)
{
	struct ab_error err = { 0 };
	struct ab_layer_mount *l = begin_layer("home");
	ab_autoclose int hidden = -1;
	struct ab_overlays o;
	struct ab_spec spec;

	sh("mkdir -p $T/other/.config && echo other >$T/other/file && echo s >$T/other/.netrc &&"
	   "mknod $T/other/gone c 0 0 && chmod 755 $T/other");
	l->pieces = true;
	l->below = at("other");
	ab_strv_add(&l->hidden, ".netrc");
	finish_spec(&spec);
	ok(make_layers(&spec, &o, &err) == 0 && spec.layers.v[0].errnum == 0, "made %s", err.text);
	hidden = ab_take_fd(&o.hidden);
	ok(ab_overlays_hide(&spec, hidden) == 0 && yes("test ! -e $T/home/.netrc"),
	   "a name in the other box's layer is hidden");
	ok(yes("grep -q other $T/home/file"), "a file of the other box, not the host's");
	ok(yes("test ! -e $T/home/gone"), "what the other box has removed stays so");
	ok(yes("test -d $T/home/.config -a -e $T/home/plain2"), "the host's other files");
	sh("echo new >$T/home/file && rm $T/home/plain2");
	leave_layers(&spec, &o);
	ok(yes("grep -q other $T/other/file && grep -q old $T/real/file && test -e $T/real/plain2"),
	   "both are as they were");
}

/* A link in the layer of another box, which can put it there at any moment. */
static void check_replaced(void)
{
	struct ab_error err = { 0 };
	struct ab_layer_mount *l = begin_layer("home");
	struct ab_overlays o;
	struct ab_spec spec;

	sh("rm -rf $T/other && mkdir $T/other && ln -s / $T/other/way");
	l->optional = true;
	l->below = at("other/way/etc");
	finish_spec(&spec);
	ok(make_layers(&spec, &o, &err) == 0 && spec.layers.v[0].errnum == ELOOP,
	   "an optional layer is not made: %d", spec.layers.v[0].errnum);
	leave_layers(&spec, &o);
	l = begin_layer("home");
	l->below = at("other/way/etc");
	finish_spec(&spec);
	ok(make_layers(&spec, &o, &err) < 0 && err.errnum == ELOOP,
	   "without another the start fails");
	leave_layers(&spec, &o);
}

/* The layer that waits for a box which is ending is made before its pieces. */
static void check_order(void)
{
	struct ab_error err = { 0 };
	struct ab_overlays o;
	struct ab_spec spec;

	begin_layer("home/.config")->optional = true;
	begin_layer("home");
	finish_spec(&spec);
	/* The folder of a temporary layer is made with it. */
	ab_overlays_collect(&spec, host, &o, &err);
	make_stage();
	mkdirat(stage, "l1", 0700);
	ok(ab_overlays_make(&o, &spec, stage, &err) < 0 && faccessat(stage, "l0", F_OK, 0) < 0,
	   "nothing was made before it failed");
	leave_layers(&spec, &o);
}

static void check_bare(void)
{
	struct ab_error err = { 0 };
	struct ab_overlays o;
	struct ab_spec spec;

	begin_layer("home")->bare = true;
	finish_spec(&spec);
	ok(make_layers(&spec, &o, &err) == 0 && spec.layers.v[0].errnum == 0, "made %s", err.text);
	ok(yes("test -z \"$(ls -A $T/home)\" && echo x >$T/home/x"), "empty and writable");
	leave_layers(&spec, &o);
}

int main(void)
{
	ab_autofree char *real = NULL, *home = NULL;

	start();
	sh("mkdir -p $T/stage $T/kept/upper $T/kept/work $T/real/.config/tool; chmod 711 $T/real;"
	   "chmod 750 $T/real/.config; echo old >$T/real/file; echo old >$T/real/gone;"
	   "echo x >$T/real/plain2; mkdir $T/home");
	if (!enter_namespace()) {
		lacks("layers", "no user namespaces");
		finish();
		return done();
	}
	/* The host's name for it, which the overlay does not cover. */
	real = at("real");
	home = at("home");
	ok(mount(real, home, NULL, MS_BIND, NULL) == 0, "two names for the folder");
	check_temporary();
	check_hidden();
	check_kept();
	check_fallbacks();
	check_bare();
	check_pieces();
	check_replaced();
	check_order();
	umount2(home, MNT_DETACH);
	finish();
	return done();
}
