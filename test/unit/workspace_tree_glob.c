#include "workspace/tree/glob.h"

#include "workspace_help.h"

static struct ab_guard *v;
static size_t n;
static struct ab_strv missing;
static struct ab_error err;

/* Entries relative to the fresh folder; "!" in front is kept. */
static int expand(const char *entry, ...)
{
	struct ab_strv p = { 0 };
	va_list ap;
	int rc;

	ab_guards_free(v, n);
	v = NULL;
	n = 0;
	va_start(ap, entry);
	for (; entry; entry = va_arg(ap, const char *)) {
		bool back = entry[0] == '!';

		ab_strv_addf(&p, "%s%s/%s", back ? "!" : "", top, entry + back);
	}
	va_end(ap);
	ab_strv_fini(&missing);
	rc = ab_expand_deny_missing(&p, &v, &n, &missing, &err);
	ab_strv_fini(&p);
	return rc;
}

static bool hidden(const char *rel, enum ab_node kind)
{
	ab_autofree char *path = at(rel);

	for (size_t i = 0; i < n; i++)
		if (v[i].kind == kind && strcmp(v[i].path, path) == 0)
			return true;
	return false;
}

static void matches(void)
{
	sh("mkdir -p $T/.ssh $T/.gnupg/private $T/.config/gh $T/store;"
	   "cd $T/.ssh; touch id_rsa id_rsa.pub id_ed known_hosts config .old;"
	   "touch $T/store/netrc; ln -s store/netrc $T/.netrc;"
	   "ln -s .gnupg $T/gpg; ln -s nowhere $T/.dangling;"
	   "ln -s loop $T/loop; echo x > $T/plain");
	ok(expand(".aws", ".kube/config", "plain/below", ".dangling", "loop", "loop/x", NULL) ==
			   0 &&
		   n == 0,
	   "what does not exist needs no mask");
	ok(expand(".ssh/id_*", NULL) == 0 && n == 3, "a pattern");
	ok(expand(".ssh/id_*", "!.ssh/*.pub", NULL) == 0 && n == 2 &&
		   hidden(".ssh/id_rsa", AB_NODE_FILE) && !hidden(".ssh/id_rsa.pub", AB_NODE_FILE),
	   "an exception takes back");
	ok(expand("!.ssh/*.pub", ".ssh/id_*", NULL) == 0 && n == 3, "only what stands before it");
	ok(expand(".ssh/*", NULL) == 0 && hidden(".ssh/.old", AB_NODE_FILE) && n == 6,
	   "a star matches a leading dot");
	ok(expand(".gnupg/**", NULL) == 0 && n == 1 && hidden(".gnupg", AB_NODE_DIR),
	   "two stars at the end are the folder");
	ok(expand(".gnupg", ".gnupg/private", NULL) == 0 && n == 1, "a folder hides what is in it");
	ok(expand(".netrc", "gpg/private", NULL) == 0 && n == 2 &&
		   hidden("store/netrc", AB_NODE_FILE) && hidden(".gnupg/private", AB_NODE_DIR),
	   "links are followed to the object");
	ok(expand(".con*/g?", NULL) == 0 && hidden(".config/gh", AB_NODE_DIR),
	   "patterns in several components");
	ok(expand(".ssh/*", "!.ssh", NULL) == 0 && n == 0,
	   "a folder's exception covers what is below");
	ok(expand(".ssh/id_[re]*", NULL) == 0 && n == 3, "a class");
}

static bool has_missing(const char *rel)
{
	ab_autofree char *path = at(rel);

	return ab_strv_has(&missing, path);
}

static void misses(void)
{
	ok(expand(".aws", ".kube/config", ".config/gh/hosts.yml", ".config/op/x", NULL) == 0 &&
		   missing.len == 4 && has_missing(".aws") && has_missing(".kube") &&
		   has_missing(".config/gh/hosts.yml") && has_missing(".config/op"),
	   "the first name that is missing");
	ok(expand("gpg/new", ".dangling", NULL) == 0 && missing.len == 2 &&
		   has_missing(".gnupg/new") && has_missing(".dangling"),
	   "behind a link its real place; a dangling link itself");
	ok(expand(".ssh/id_x*", "plain/below", ".ssh/id_rsa", "loop", NULL) == 0 &&
		   missing.len == 0,
	   "not a pattern in a folder that exists, not below a file");
	ok(expand(".kube/*", NULL) == 0 && missing.len == 1 && has_missing(".kube"),
	   "but the folder of a pattern");
	ok(expand(".aws", "!.aws", NULL) == 0 && missing.len == 0, "not what is taken back");
	ok(expand(".k/a", ".k/b", "!.k/a", NULL) == 0 && missing.len == 1 && has_missing(".k"),
	   "unless something else leads there");
	ok(expand("!.aws", ".aws", NULL) == 0 && has_missing(".aws"), "only by a later exception");
}

/* Among so many others that do not exist. */
static bool hides_among(size_t others, const char *longest)
{
	const char *const names[] = { "d/a", "d.x/a", longest, "d/c" };
	ab_autostrv struct ab_strv rules = { 0 };
	bool all;

	for (size_t i = others; i > 0; i--) {
		ab_strv_addf(&rules, "%s/lots/none%zu", top, i);
		if (i <= AB_COUNT(names))
			ab_strv_addf(&rules, "%s/lots/%s", top, names[i - 1]);
	}
	ab_guards_free(v, n);
	v = NULL;
	n = 0;
	ab_strv_fini(&missing);
	all = ab_expand_deny_missing(&rules, &v, &n, &missing, &err) == 0 && n == AB_COUNT(names) &&
	      missing.len == others;
	for (size_t i = 0; i < AB_COUNT(names); i++) {
		ab_autofree char *name = ab_printf("lots/%s", names[i]);

		all = all && hidden(name, AB_NODE_FILE);
	}
	return all;
}

static void many(void)
{
	char name[201];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	setenv("NAME", name, 1);
	sh("mkdir -p $T/lots/d $T/lots/d.x; cd $T/lots;"
	   "touch d/a d/b d/c d.x/a $NAME ${NAME}2");
	ok(hides_among(20, name), "in any order, and with a long name");
	ok(hides_among(1300, name), "so many that they are sorted");
}

static void searches(void)
{
	sh("mkdir -p $T/tree/a/b/.c $T/tree/node_modules/x $T/tree/k.pem $T/tree/out; cd $T/tree;"
	   "touch 1.pem a/2.pem a/b/.c/.3.pem node_modules/x/4.pem a/pem k.pem/in out/5.pem;"
	   "ln -s ../../plain a/6.pem; ln -s $T/tree/out a/b/linked; ln -s nowhere a/7.pem;"
	   "mkdir -p $T/tree2/conf; touch $T/tree2/conf/key $T/tree2/key");
	ok(expand("tree/**/*.pem", NULL) == 0 && n == 7 && hidden("tree/1.pem", AB_NODE_FILE) &&
		   hidden("tree/a/2.pem", AB_NODE_FILE) &&
		   hidden("tree/a/b/.c/.3.pem", AB_NODE_FILE) &&
		   hidden("tree/node_modules/x/4.pem", AB_NODE_FILE) &&
		   hidden("tree/out/5.pem", AB_NODE_FILE) && hidden("plain", AB_NODE_FILE) &&
		   hidden("tree/k.pem", AB_NODE_DIR),
	   "a name in every folder below one, and what a link of that name leads to");
	ok(expand("tree/**/*.pem", "!tree/a/*.pem", "!tree/k.pem", NULL) == 0 && n == 4 &&
		   !hidden("tree/a/2.pem", AB_NODE_FILE),
	   "exceptions take back");
	ok(expand("tree2/**/conf/key", NULL) == 0 && n == 1 &&
		   hidden("tree2/conf/key", AB_NODE_FILE),
	   "more than a name");
	ok(expand("tree*/**/key", "tree/**/pem", NULL) == 0 && n == 3, "several, below a pattern");
	ok(expand("nowhere/**/key", NULL) == 0 && n == 0, "below nothing there is nothing");
	if (getuid() != 0) {
		sh("chmod 0 $T/tree/a/b");
		ok(expand("tree/**/*.pem", NULL) == 0 && hidden("tree/a/b", AB_NODE_DIR) &&
			   hidden("tree/a/2.pem", AB_NODE_FILE),
		   "a folder of ours that cannot be searched is hidden as a whole");
		sh("chmod 700 $T/tree/a/b");
	}
}

static void refuses(void)
{
	ok(expand(".ssh", "!.ssh/known_hosts", NULL) < 0 && err.code == AB_ECONFIG &&
		   strstr(err.text, "known_hosts") && strstr(err.hint, ".ssh/*"),
	   "an exception inside a hidden folder: %s", err.text);
	ok(expand("a/**/b/**/c", NULL) < 0 && err.code == AB_ECONFIG && strstr(err.hint, "once"),
	   "two stars twice: %s", err.text);
	ok(expand("many", "!**/.env", NULL) < 0 && err.code == AB_ECONFIG,
	   "two stars in an exception: %s", err.text);
	sh("mkdir -p $T/deepest && cd $T/deepest && for i in $(seq 140); do mkdir d && cd d; done");
	ok(expand("deepest/**/x", NULL) < 0 && err.hint[0], "too deep: %s", err.text);
	sh("mkdir $T/many; cd $T/many; i=0; while [ $i -lt 4200 ]; do"
	   " : > f$i; i=$((i+1)); done");
	ok(expand("many/*", NULL) < 0 && err.hint[0], "too many matches: %s", err.text);
	ok(expand("many", NULL) == 0 && n == 1, "the folder itself is fine");
}

/* What its owner may open to us while the box runs. */
static void locked(void)
{
	sh("mkdir -p $T/own/sub; touch $T/own/sub/key $T/own/file; chmod 000 $T/own/sub $T/own/file");
	ok(expand("own/sub/key", "own/file", NULL) == 0 && hidden("own/file", AB_NODE_FILE) &&
		   (getuid() == 0 ? hidden("own/sub/key", AB_NODE_FILE)
				  : hidden("own/sub", AB_NODE_DIR)),
	   "our own folder without permissions is hidden as a whole");
	for (int i = 0; i < 2; i++) {
		const char *first = i ? "own/sub/z" : "own/sub/a",
			   *last = i ? "own/sub/a" : "own/sub/z";

		ok(expand(first, "!own/sub", last, NULL) == 0 &&
			   (getuid() == 0 ? missing.len == 1 : hidden("own/sub", AB_NODE_DIR)),
		   "an exception takes back only what stands before it");
	}
}

static void locked_by_others(void)
{
	int status;
	pid_t pid;

	if (getuid() != 0) {
		skip("objects of somebody else", "needs two users");
		return;
	}
	sh("mkdir -p $T/mine/dir $T/mine/open $T/theirs/dir; chmod 0755 $T;"
	   "touch $T/mine/dir/key $T/mine/open/key $T/mine/file $T/theirs/file $T/theirs/dir/key;"
	   "chmod 0700 $T/mine/dir $T/theirs/dir; chmod 0600 $T/mine/file $T/theirs/file;"
	   "chown 12345 $T/mine");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setresgid(12345, 12345, 12345) < 0 || setresuid(12345, 12345, 12345) < 0)
			_exit(2);
		_exit(!(expand("mine/dir/key", "mine/open/key", "mine/file", "theirs/dir/key",
			       "theirs/file", NULL) == 0 &&
			n == 3 && hidden("mine/dir", AB_NODE_DIR) &&
			hidden("mine/file", AB_NODE_FILE) &&
			hidden("mine/open/key", AB_NODE_FILE)));
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "what others keep in our folder is hidden, in their own it needs no mask");
}

/* ---- would it be the same now? ---- */

static struct ab_strv rules;

/* Does it notice what the script does? The change time of a file cannot be set: `told` is not expected
 * of files that are new. */
static bool notices(const char *script)
{
	struct ab_hidden_names names;
	bool before, after;

	if (ab_hidden_names_find(&rules, &names, &err) < 0)
		return false;
	before = ab_hidden_names_stand(&names, &rules);
	sh("%s", script);
	after = ab_hidden_names_stand(&names, &rules);
	ab_hidden_names_fini(&names);
	return before && !after;
}

/* The same if nothing but what was looked at is looked at again. */
static bool notices_at_once(const char *script)
{
	struct ab_hidden_names names;
	bool after;

	if (ab_hidden_names_find(&rules, &names, &err) < 0)
		return false;
	names.told = true;
	sh("%s", script);
	after = ab_hidden_names_stand(&names, &rules);
	ab_hidden_names_fini(&names);
	return !after;
}

static void stands(void)
{
	static const char *const entries[] = { "stand/.ssh/id_*", "stand/.aws/key",
					       "stand/few/one",	  "stand/linked/key",
					       "stand/alias",	  "stand/many/a",
					       "stand/many/b",	  "stand/many/c" };
	static const struct {
		const char *what, *script;
	} changes[] = {
		{ "a link on the way of a link",
		  "mv $T/stand/a $T/stand/moved; ln -sfn moved $T/stand/way" },
		{ "a match of a pattern", "touch $T/stand/.ssh/id_new" },
		{ "a name that was missing", "mkdir $T/stand/.aws; touch $T/stand/.aws/key" },
		{ "one of few names", "touch $T/stand/few/one" },
		{ "one of many names", "touch $T/stand/many/b" },
		{ "a name that is gone", "rm $T/stand/many/b" },
		{ "another kind", "rm $T/stand/few/one; mkdir $T/stand/few/one" },
		{ "a link that leads elsewhere",
		  "ln -sfn b $T/stand/linked; touch $T/stand/b/key" },
		{ "a folder that was replaced",
		  "mv $T/stand/few $T/stand/old; mkdir $T/stand/few" },
	};
	struct ab_hidden_names names;

	sh("mkdir -p $T/stand/.ssh $T/stand/few $T/stand/many $T/stand/a $T/stand/b; cd $T/stand;"
	   "touch .ssh/id_a a/key target many/a; ln -s a way; ln -s way linked; ln -s target alias");
	for (size_t i = 0; i < AB_COUNT(entries); i++)
		ab_strv_addf(&rules, "%s/%s", top, entries[i]);
	ok(ab_hidden_names_find(&rules, &names, &err) == 0 && names.n == 4 &&
		   ab_hidden_names_stand(&names, &rules),
	   "the same as long as nothing changes");
	sh("touch $T/stand/other; echo x >$T/stand/target");
	ok(ab_hidden_names_stand(&names, &rules), "also beside changes of other files");
	ab_hidden_names_fini(&names);
	for (size_t i = 0; i < AB_COUNT(changes); i++)
		ok(notices(changes[i].script), "it notices %s", changes[i].what);
	ok(notices_at_once("touch $T/stand/.ssh/id_newer") &&
		   notices_at_once("rm $T/stand/.ssh/id_newer; touch $T/stand/many/b") &&
		   notices_at_once("ln -sfn a $T/stand/linked"),
	   "and looking at the same again is enough for that");
	sh("ln -s nowhere $T/stand/many/c");
	ok(ab_hidden_names_find(&rules, &names, &err) == 0 && !names.told,
	   "a link that leads nowhere is looked at each time");
	ab_hidden_names_fini(&names);
	ab_strv_fini(&rules);
}

int main(void)
{
	start();
	stands();
	matches();
	misses();
	many();
	searches();
	refuses();
	locked();
	locked_by_others();
	ab_guards_free(v, n);
	finish();
	return done();
}
