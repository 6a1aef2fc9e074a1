/* Which paths belong to a repository, and to which one. */
#include "layer/walk/index.h"

#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

static void test_state(void)
{
	static const struct {
		const char *path, *repo; /* repo NULL: not a part of a repository's state */
	} cases[] = {
		{ ".git/index", ".git" },
		{ ".git/HEAD", ".git" },
		{ ".git/refs/heads/main", ".git" },
		{ ".git/logs/HEAD", ".git" },
		{ ".git/packed-refs", ".git" },
		{ ".git/sharedindex.0123", ".git" },
		{ ".git/rebase-merge/done", ".git" },
		{ "a/b/.git/MERGE_HEAD", "a/b/.git" },
		/* A submodule or a worktree changes together with its repository. */
		{ ".git/modules/lib/HEAD", ".git" },
		{ ".git/modules/deep/name/index", ".git" },
		{ "x/.git/worktrees/w/HEAD", "x/.git" },
		/* A checkout within a checkout is one of its own. */
		{ "sub/.git/index", "sub/.git" },
		{ "", NULL },
		{ ".git", NULL },
		{ ".git/", NULL },
		{ ".git/config", NULL },
		{ ".git/hooks/index", NULL },
		{ ".git/objects/ab/HEAD", NULL },
		{ ".git/HEADS", NULL },
		{ ".git/HEA", NULL },
		{ ".git/indexes", NULL },
		{ ".git/sharedindex", NULL },
		{ ".git/modules/lib/config", NULL },
		{ "a.git/HEAD", NULL },
		{ ".gitx/HEAD", NULL },
		{ "HEAD", NULL },
		{ "src/index", NULL },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const char *path = cases[i].path, *repo = cases[i].repo;
		size_t len = ab_index_state(path);

		ok(repo ? len == strlen(repo) && strncmp(path, repo, len) == 0 : len == 0,
		   "\"%s\" is %s%s", path, repo ? "a part of the state of " : "not a part of any",
		   repo ? repo : "");
	}
}

static void test_repo(void)
{
	ok(ab_index_repo(".git/index") == 4 && ab_index_repo("a/.git/index") == 6, "an index");
	ok(ab_index_repo("a.git/index") == 0 && ab_index_repo(".git/index/x") == 0 &&
		   ab_index_repo("index") == 0,
	   "other names are not");
}

static void test_object(void)
{
	ok(ab_index_object(".git/objects/ab/cd") && ab_index_object("x/.git/objects/pack/p.idx") &&
		   ab_index_object(".git/objects/ab"),
	   "objects and packs");
	ok(!ab_index_object(".git/objects/info/alternates") && !ab_index_object(".git/objects") &&
		   !ab_index_object(".git/objects/abc") && !ab_index_object("objects/ab/cd"),
	   "settings and other files are not");
}

int main(void)
{
	test_state();
	test_repo();
	test_object();
	return done();
}
