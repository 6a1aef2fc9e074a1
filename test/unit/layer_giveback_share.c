/* Which folders are shared and who created them; which files go back to the host, and by which name
 * the rule of each is found. */
#include "layer/giveback/share.h"

#include <fcntl.h>

#include "base/data/error.h"
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

static bool check(const struct ab_shares *shares)
{
	return ab_share_check(shares, &(struct ab_error){ 0 }) == 0;
}

static void test_shares(void)
{
	struct ab_policy policy = { .home = top };
	struct ab_shares shares = { 0 };
	struct ab_error err = { 0 };

	sh("mkdir -p $T/.a/old");
	ab_strv_add(&policy.fs.share, at(".a/old"));
	ab_strv_add(&policy.fs.share, at(".b/c"));
	ab_strv_add(&policy.fs.share, at(".b/c"));
	ab_share_create(&policy, &shares, &notes);
	ok(shares.len == 3 && notes.len == 0, "each folder is listed once");
	if (shares.len == 3) {
		is_str(shares.v[0].path, at(".a/old"), "the first is older");
		ok(!shares.v[0].created, "and was not created");
		is_str(shares.v[1].path, at(".b"), "a folder comes before what is in it");
		ok(shares.v[1].created && shares.v[2].created, "both are new");
		ok(ab_share_is(&shares.v[1], AT_FDCWD, at(".b")), "it is known again");
		sh("ln -s .b $T/link");
		ok(!ab_share_is(&shares.v[1], AT_FDCWD, at("link")), "but not behind a link");
	}
	ok(check(&shares), "all are there");
	/* The number may be used again at once: the time of birth is another one. */
	sh("rmdir $T/.b/c; sleep 0.02; mkdir $T/.b/c");
	ok(ab_share_check(&shares, &err) < 0, "one has been replaced");
	is_str(err.step, "workspace", "with the step");
	ab_share_create(&policy, &shares, &notes);
	ok(shares.len == 3 && !shares.v[2].created && check(&shares),
	   "planned again, it is somebody else's");
	sh("rmdir $T/.b/c");
	ok(!check(&shares), "one is gone");
	ab_share_create(&policy, &shares, &notes);
	ok(shares.len == 3 && shares.v[2].created && check(&shares), "and created again");
	ab_shares_fini(&shares);
	ab_strv_fini(&policy.fs.share);
}

int main(void)
{
	start();
	test_shares();
	test_links();
	test_rules();
	ab_strv_fini(&paths);
	ab_strv_fini(&entries);
	ab_strv_fini(&notes);
	finish();
	return done();
}
