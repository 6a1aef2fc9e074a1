/* Which files go back to the host, and by which name the rule of each is found. */
#include "layer/giveback/share.h"

#include "layer/giveback/credentials.h"
#include "workspace_help.h"

static struct ab_strv paths, entries, notes;

static void find_returns(const char *path, bool builtin)
{
	struct ab_policy policy = { .home = top, .fs.returns_builtin = builtin };

	ab_strv_fini(&paths);
	ab_strv_fini(&entries);
	ab_strv_fini(&notes);
	ab_strv_add(&policy.fs.returns, at(path));
	ab_share_returns(&policy, top, &paths, &entries, &notes);
	ab_strv_fini(&policy.fs.returns);
}

static void test_links(void)
{
	sh("mkdir -p $T/dot/qw; ln -s dot/qw $T/.qwen; echo '{}' >$T/dot/qw/oauth_creds.json");
	find_returns(".qwen/oauth_creds.json", true);
	is_str(paths.len ? paths.v[0] : NULL, at("dot/qw/oauth_creds.json"),
	       "the user's link is followed");
	is_str(entries.len ? entries.v[0] : NULL, at(".qwen/oauth_creds.json"),
	       "and the rule is that of the policy's name");

	sh("mkdir $T/.codex; echo '{}' >$T/.codex/auth.json; ln -s .codex/auth.json $T/mine");
	find_returns("mine", false);
	is_str(entries.len ? entries.v[0] : NULL, at(".codex/auth.json"),
	       "another name of a known file does not get around its rule");
}

static void test_rules(void)
{
	find_returns(".new-agent/auth.json", true);
	ok(paths.len == 0 && entries.len == 0 && notes.len == 1,
	   "a file of a built-in profile without a rule is not returned");
	find_returns(".new-agent/auth.json", false);
	ok(paths.len == 1 && entries.len == 1 && notes.len == 0, "one of the user's settings is");
	find_returns(".codex/auth.json", true);
	ok(paths.len == 1 && entries.len == 1 && notes.len == 0, "so is one that has a rule");
}

int main(void)
{
	start();
	test_links();
	test_rules();
	ab_strv_fini(&paths);
	ab_strv_fini(&entries);
	ab_strv_fini(&notes);
	finish();
	return done();
}
