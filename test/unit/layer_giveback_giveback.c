/* A folder "home", and a folder "upper" that a box may have filled with anything. */
#include "layer/giveback/giveback.h"

#include <sys/resource.h>

#include "base/system/fd.h"
#include "layer/giveback/credentials.h"
#include "layer/store/meta.h"
#include "workspace_help.h"

#define PATH "a/token.json"

static int home = -1, upper = -1;
static struct ab_layer_meta meta;

static int open_top(const char *name)
{
	ab_autofree char *path = at(name);

	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Both sides are empty but for what the script makes: $T/home, $T/upper, and $T/out beside them. */
static void prepare(const char *script)
{
	int rc = sh("chmod -R u+rwx $T/home $T/upper 2>/dev/null || :; rm -rf $T/home $T/upper "
		    "$T/out; mkdir -p $T/home/a $T/upper/a $T/out; cd $T; %s",
		    script);

	ok(rc == 0, "prepared: %s", script);
	ab_closep(&home);
	ab_closep(&upper);
	home = open_top("home");
	upper = open_top("upper");
}

/* The host's file is now as both sides know it. */
static void record_host(void)
{
	ab_autofree char *path = at("home/" PATH);
	struct stat st;

	ab_layer_meta_set_return(&meta, PATH, lstat(path, &st) == 0 ? &st : NULL);
}

static const char *text_of(const char *rel)
{
	static char *data;
	ab_autofree char *path = at(rel);
	ab_autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	size_t len;

	free(data);
	data = NULL;
	if (fd < 0 || ab_read_all(fd, 1 << 21, &data, &len) < 0)
		return NULL;
	return data;
}

static enum ab_giveback give(const char **ret_why)
{
	struct stat st;

	*ret_why = NULL;
	return ab_giveback_file(upper, home, PATH, PATH, ab_layer_meta_return(&meta, PATH), NULL,
				&st, ret_why);
}

/* What the box left, and the reason for which it stays there. */
static const struct {
	const char *script, *why;
} attacks[] = {
	{ "ln -s $T/out/secret upper/" PATH "; echo '{}' >out/secret",
	  "the box's copy is not a regular file" },
	{ "rmdir upper/a; ln -s $T/out upper/a; echo '{}' >out/token.json",
	  "the box's copy is not below plain folders" },
	{ "rmdir upper/a; ln -s ../out upper/a; echo '{}' >out/token.json",
	  "the box's copy is not below plain folders" },
	{ "rmdir upper/a; echo '{}' >upper/a", "the box's copy is not below plain folders" },
	{ "mkfifo upper/" PATH, "the box's copy is not a regular file" },
	{ "mkdir upper/" PATH, "the box's copy is not a regular file" },
	{ "echo '{}' >upper/" PATH "; ln upper/" PATH " upper/b",
	  "the box's copy has more than one name" },
	{ "truncate -s 4T upper/" PATH " 2>/dev/null || truncate -s 2M upper/" PATH,
	  "the box's copy is too large" },
	{ "head -c 1048577 /dev/zero >upper/" PATH, "the box's copy is too large" },
	{ "echo 'not json' >upper/" PATH, "the box's copy is not a JSON object" },
	{ "printf '{\"a\":1' >upper/" PATH, "the box's copy is not a JSON object" },
	{ "head -c 100 /dev/zero >upper/" PATH, "the box's copy is not a JSON object" },
	{ "rmdir home/a; ln -s ../out home/a; echo '{}' >upper/" PATH,
	  "the host's is not a plain file of yours" },
	{ "ln -s ../../out/x home/" PATH "; echo '{}' >upper/" PATH,
	  "the host's is not a plain file of yours" },
	{ "mkfifo home/" PATH "; echo '{}' >upper/" PATH,
	  "the host's is not a plain file of yours" },
	{ "mkdir home/" PATH "; echo '{}' >upper/" PATH,
	  "the host's is not a plain file of yours" },
};

static void test_attacks(void)
{
	for (size_t i = 0; i < AB_COUNT(attacks); i++) {
		const char *why;
		enum ab_giveback result;

		prepare(attacks[i].script);
		record_host();
		result = give(&why);
		ok(result == AB_GIVEBACK_REFUSED, "refused: %s", attacks[i].script);
		is_str(why, attacks[i].why, "and why");
		ok(sh("test ! -e $T/out/x; test -z \"$(find $T -name '.agentbox-*')\"") == 0,
		   "nothing was written");
	}
}

static void test_device(void)
{
	const char *why;

	prepare("mknod upper/" PATH " c 1 3 2>/dev/null || :");
	if (sh("test -c $T/upper/" PATH) != 0)
		return; /* only root can make one, and so can no box */
	record_host();
	ok(give(&why) == AB_GIVEBACK_REFUSED, "a device is refused");
}

static void test_unreadable(void)
{
	const char *why;

	prepare("echo '{}' >upper/" PATH "; chmod 0 upper/" PATH);
	record_host();
	if (geteuid() == 0)
		ok(give(&why) == AB_GIVEBACK_DONE, "root reads a closed file");
	else
		ok(give(&why) == AB_GIVEBACK_REFUSED, "a closed file is refused");
}

static void test_return(void)
{
	const char *why;

	prepare("echo '{\"a\":1}' >home/" PATH "; chmod 640 home/" PATH
		"; echo '{\"a\":2}' >upper/" PATH "; chmod 777 upper/" PATH);
	record_host();
	ok(give(&why) == AB_GIVEBACK_DONE, "a renewed file is returned");
	is_str(text_of("home/" PATH), "{\"a\":2}\n", "with its text");
	ok(sh("test \"$(stat -c %%a $T/home/" PATH ")\" = 640") == 0, "and the host's mode");
	ok(give(&why) == AB_GIVEBACK_SAME, "once");

	prepare("echo '{\"a\":1}' >home/" PATH);
	record_host();
	ok(give(&why) == AB_GIVEBACK_SAME, "without a copy in the layer nothing is returned");

	prepare("echo '{\"a\":1}' >home/" PATH "; echo '{\"a\":2}' >upper/" PATH
		"; echo '{\"a\"' >home/a/.agentbox-return");
	record_host();
	ok(give(&why) == AB_GIVEBACK_DONE, "what a killed run left is not in the way");
	ok(sh("test \"$(ls -A $T/home/a)\" = token.json") == 0, "and is removed");

	prepare("mkdir home/a/.agentbox-return; echo '{\"a\":1}' >home/" PATH
		"; echo '{\"a\":2}' >upper/" PATH);
	record_host();
	ok(give(&why) == AB_GIVEBACK_DONE, "nor is a folder of that name");

	prepare("rmdir home/a; mkdir -p upper/a; echo '{\"a\":2}' >upper/" PATH);
	record_host();
	ok(give(&why) == AB_GIVEBACK_DONE, "a new file is returned");
	is_str(text_of("home/" PATH), "{\"a\":2}\n", "with its text");
	ok(sh("test \"$(stat -c %%a $T/home/" PATH ")\" = 600; test \"$(stat -c %%a $T/home/a)\" = "
	      "700") == 0,
	   "for the owner only");
}

/* The host's file changed during the run: the host wins. */
static void test_conflicts(void)
{
	static const char *const changes[] = {
		"echo '{\"a\":3}' >$T/home/" PATH,
		"rm $T/home/" PATH,
		"echo '{\"a\":1}' >$T/home/x; mv $T/home/x $T/home/" PATH,
		"chmod 600 $T/home/" PATH,
	};
	const char *why;

	for (size_t i = 0; i < AB_COUNT(changes); i++) {
		prepare("echo '{\"a\":1}' >home/" PATH "; chmod 644 home/" PATH
			"; echo '{\"a\":2}' >upper/" PATH);
		record_host();
		sh("%s", changes[i]);
		ok(give(&why) == AB_GIVEBACK_REFUSED, "kept: %s", changes[i]);
		is_str(why, "the host's file changed during the run and stays as it is", "and why");
		ok(sh("! grep -qs 2 $T/home/" PATH) == 0, "the box's text is not there");
	}
	prepare("echo '{\"a\":2}' >upper/" PATH);
	record_host();
	sh("echo '{\"a\":3}' >$T/home/" PATH);
	ok(give(&why) == AB_GIVEBACK_REFUSED, "so is a file that appeared on the host");
	is_str(text_of("home/" PATH), "{\"a\":3}\n", "with its text");
}

static void refresh(const char *name, int want)
{
	struct stat now;

	ok(ab_giveback_refresh(upper, home, PATH, ab_layer_meta_return(&meta, PATH), &now) == want,
	   "%s", name);
}

/* Before a run: an old copy in the layer does not hide what the host has now. */
static void test_refresh(void)
{
	struct rlimit limit;

	prepare("echo '{\"a\":1}' >home/" PATH "; echo '{\"a\":2}' >upper/" PATH);
	record_host();
	refresh("the host's file is as it was", 0);
	is_str(text_of("upper/" PATH), "{\"a\":2}\n", "so the layer's copy stays");
	sh("echo '{\"a\":3}' >$T/home/" PATH);
	refresh("the host's file is newer", 0);
	is_str(text_of("upper/" PATH), "{\"a\":3}\n", "and replaces the copy");

	prepare("echo '{\"a\":1}' >home/" PATH "; echo '{\"a\":2}' >upper/" PATH);
	record_host();
	sh("rm $T/home/" PATH);
	refresh("the host's file is gone", 0);
	ok(text_of("upper/" PATH) == NULL, "and so is the copy");

	prepare("echo '{\"a\":1}' >home/" PATH "; echo '{\"a\":2}' >upper/" PATH);
	record_host();
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, limit.rlim_max }) < 0)
		abort();
	refresh("it is not known whether the host's file is as it was", -1);
	setrlimit(RLIMIT_NOFILE, &limit);
	is_str(text_of("upper/" PATH), "{\"a\":2}\n", "so the layer's copy stays");

	prepare("echo '{\"a\":1}' >home/" PATH);
	record_host();
	sh("echo '{\"a\":3}' >$T/home/" PATH);
	refresh("the layer has no copy", 0);
	ok(text_of("upper/" PATH) == NULL, "and gets none");

	prepare("echo secret >out/x; echo '{\"a\":1}' >home/" PATH
		"; ln -s ../../out/x upper/" PATH);
	ab_layer_meta_set_return(&meta, PATH, NULL);
	refresh("the copy is a link", 0);
	ok(sh("test ! -L $T/upper/" PATH "; grep -q secret $T/out/x") == 0,
	   "which is removed, and its target is not touched");

	prepare("echo '{\"a\":1}' >home/" PATH "; rmdir upper/a; ln -s ../out upper/a; echo x "
		">out/token.json");
	ab_layer_meta_set_return(&meta, PATH, NULL);
	refresh("the copy's folder is a link", -1);
	is_str(text_of("out/token.json"), "x\n", "which is not followed");
}

int main(void)
{
	start();
	test_attacks();
	test_device();
	test_unreadable();
	test_return();
	test_conflicts();
	test_refresh();
	ab_layer_meta_fini(&meta);
	finish();
	return done();
}
