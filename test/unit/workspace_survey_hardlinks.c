/* Other names of files: each is counted once, and none is believed without having been seen. */
#include "workspace/survey/hardlinks.h"

#include "workspace/survey/hidden_links.h"
#include "workspace/survey/survey.h"
#include "workspace_help.h"

static struct ab_hardlinks found;
static struct ab_guard *v;
static size_t n;

/* Look for the other names of this file in `root`; 0: all were found, 1: not all, -1: it was cut. */
static int look_for(const char *rel, const char *root, size_t entries)
{
	ab_autofree char *path = at(rel);
	struct ab_strv roots = { 0 };
	struct stat st;
	bool whole;

	ab_hardlinks_fini(&found);
	ab_guards_free(v, n);
	v = NULL;
	n = 0;
	if (lstat(path, &st) < 0)
		abort();
	ab_hardlinks_meet(&found, path, &st);
	ab_strv_give(&roots, at(root));
	whole = ab_hardlinks_find(&found, &roots, &entries, &v, &n);
	ab_strv_fini(&roots);
	if (ab_hardlinks_met(&found, &st))
		return 0;
	return whole ? 1 : -1;
}

static bool named(const char *rel)
{
	ab_autofree char *path = at(rel);

	for (size_t i = 0; i < n; i++)
		if (v[i].kind == AB_NODE_FILE && strcmp(v[i].path, path) == 0)
			return true;
	return false;
}

static void names(void)
{
	sh("mkdir -p $T/a/b/c $T/a/.git $T/a/node_modules/x $T/other;"
	   "echo x >$T/one; echo x >$T/two; ln $T/two $T/a/b/c/two;"
	   "echo x >$T/three; ln $T/three $T/a/.git/three; ln $T/three $T/a/node_modules/x/three;"
	   "echo x >$T/four; ln $T/four $T/a/four; ln $T/four $T/other/four;"
	   "ln $T/a/b/c/two $T/a/two2; rm $T/a/two2; ln -s ../two $T/a/link");
	ok(look_for("one", "a", 1000) == 0 && found.n == 0 && n == 0,
	   "a file with one name is not looked for");
	ok(look_for("two", "a", 1000) == 0 && n == 1 && named("a/b/c/two"),
	   "its own name is known, the other one is found");
	ok(look_for("three", "a", 1000) == 0 && named("a/.git/three") &&
		   named("a/node_modules/x/three"),
	   "also among git's files and generated ones");
	ok(look_for("four", "a", 1000) == 1 && n == 1 && named("a/four"),
	   "what is elsewhere is missing, and the rest is found");
	ok(look_for("four", ".", 1000) == 0, "the own name counts once, wherever it is met");
	ok(look_for("a", ".", 1000) == 0 && found.n == 0, "a folder has no other names");
	ok(look_for("two", "a", 2) == -1, "a search that was cut says so");
	ok(look_for("two", "none", 1000) == -1, "and one of a folder that is not there");
}

/* How many names of home/secret are found besides this one, with a workspace of 64 folders in `ws`. */
static size_t count_hidden(const char *ws, size_t entries, bool *ret_all)
{
	ab_autofree char *home = at("home"), *secret = at("home/secret");
	struct ab_guard hidden = { secret, AB_NODE_FILE };
	struct ab_survey survey = { 0 };
	struct ab_hidden_links links;
	size_t others = 0;

	ab_strv_give(&survey.write, at(ws));
	ab_hidden_links_find(home, &survey, &hidden, 1, entries, &links);
	for (size_t i = 0; i < links.n; i++)
		others += strcmp(links.v[i].path, secret) != 0;
	*ret_all = links.unmet.len == 0;
	ab_hidden_links_fini(&links);
	ab_strv_fini(&survey.write);
	return others;
}

static void budgets(void)
{
	bool all;

	sh("for i in $(seq 64); do mkdir -p $T/ws/x/d$i $T/home/inner/x/d$i $T/home/b; done;"
	   "echo x >$T/home/secret; ln $T/home/secret $T/home/b/link");
	ok(count_hidden("ws", 40, &all) == 1 && all,
	   "a workspace that is too large leaves the home folder its share");
	ok(count_hidden("home/inner", 40, &all) == 1 && all,
	   "also one in the home folder, which is not searched twice");
	sh("ln $T/home/secret $T/ws/x/d64/third");
	ok(count_hidden("ws", 1000, &all) == 2 && all, "with enough for both, all are found");
	ok(count_hidden("ws", 40, &all) == 1 && !all, "what was not searched is not claimed");
	ok(count_hidden("ws", 2, &all) < 2 && !all, "nor with next to nothing");
}

int main(void)
{
	start();
	names();
	budgets();
	ab_hardlinks_fini(&found);
	ab_guards_free(v, n);
	finish();
	return done();
}
