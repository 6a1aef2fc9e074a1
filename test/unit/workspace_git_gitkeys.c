#include "workspace/git/gitkeys.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "tap.h"

enum { NEVER, MADE, ALWAYS };

static const char *const closed_repos[] = { "/srv/far.git" };
static const struct ab_strv closed = { .v = (char **)closed_repos, .len = 1 };

static const struct {
	const char *key, *value;
	int allowed; /* MADE: only in a repository that the run made */
} keys[] = {
	{ "user.name", "x", ALWAYS },
	{ "core.filemode", NULL, ALWAYS },
	{ "core.bare", "true", MADE },
	{ "core.bare", NULL, MADE },
	{ "core.repositoryformatversion", "1", MADE },
	{ "extensions.objectformat", "sha256", MADE },
	{ "extensions.refstorage", "reftable", MADE },
	{ "extensions.refstorage", "files:///srv/x", NEVER },
	{ "extensions.worktreeconfig", "true", MADE },
	{ "extensions.partialclone", "origin", MADE },
	{ "extensions.partialclone", "./x", NEVER },
	{ "remote.origin.promisor", "true", MADE },
	{ "remote.origin.partialclonefilter", "blob:none", MADE },
	{ "commit.gpgsign", "false", MADE },
	{ "http.postbuffer", "1048576", MADE },
	{ "core.untrackedcache", "true", MADE },
	{ "credential.https://x.org.usehttppath", "true", MADE },
	{ "credential.https://x.org.helper", "store", NEVER },
	{ "core.editor", "vim", NEVER },
	{ "alias.st", "status", MADE },
	{ "alias.st", "-c core.pager=x log", NEVER },
	{ "alias.st", "!sh", NEVER },
	{ "alias.st.command", "!sh", NEVER },
	{ "core.hookspath", "/x", NEVER },
	{ "core.worktree", "../x", NEVER },
	{ "core.fsmonitor", "/x/run", NEVER },
	{ "core.fsmonitor", "run", NEVER },
	{ "core.fsmonitor", "true", ALWAYS },
	{ "core.fsmonitor", NULL, ALWAYS },
	{ "core.fsmonitor", "\ffalse", NEVER },
	{ "core.sshcommand", "ssh", NEVER },
	{ "pager.log", "less", NEVER },
	{ "pager.log", "False", ALWAYS },
	{ "color.ui", "auto", ALWAYS },
	{ "color.diff.new", "bold #a0b0c0", ALWAYS },
	{ "color.tool", "/x", NEVER },
	{ "filter.LFS.clean", "x", NEVER },
	{ "filter.a.required", "true", NEVER },
	{ "diff.x.textconv", "x", NEVER },
	{ "diff.algorithm", "patience", ALWAYS },
	{ "merge.x.driver", "x", NEVER },
	{ "credential.helper", "store", NEVER },
	{ "include.path", "../x", NEVER },
	{ "url.ssh://a/.insteadof", "b", NEVER },
	{ "protocol.ext.allow", "always", NEVER },
	{ "submodule.a.update", "checkout", ALWAYS },
	{ "submodule.a.update", "!x", NEVER },
	{ "branch.main.merge", "refs/heads/main", ALWAYS },
	{ "branch.main.merge", "--upload-pack=x", NEVER },
	/* No list of bad names has these, or what comes after them. */
	{ "gc.recentobjectshook", "x", NEVER },
	{ "delta.pager", "x", NEVER },
	{ "sendemail.me.smtpserver", "/x", NEVER },
	{ "svn.authorsprog", "x", NEVER },
	{ "gitflow.path.hooks", "x", NEVER },
	{ "of.tomorrow", "true", NEVER },
	{ "of.tomorrow", NULL, NEVER },
	/* Addresses. */
	{ "remote.origin.url", "https://x/y", ALWAYS },
	{ "remote.origin.url", "git@x:y", ALWAYS },
	{ "remote.origin.url", "/srv/far.git", ALWAYS },
	{ "remote.origin.url", "/srv/other.git", NEVER },
	{ "remote.origin.url", "file:///srv/far.git", NEVER },
	{ "remote.origin.url", "ext::sh -c x", NEVER },
	{ "remote.origin.url", "", NEVER },
	{ "remote.origin.url", NULL, NEVER },
	{ "remote.origin.pushurl", "out", NEVER },
	{ "remote.origin.vcs", "x", NEVER },
	{ "remote.origin.receivepack", "x", NEVER },
	{ "remote.origin.fetch", "+refs/*:refs/*", ALWAYS },
	/* Names of remotes: the caller looks for the remote. */
	{ "remote.pushdefault", "out", ALWAYS },
	{ "remote.pushdefault", "../out", NEVER },
	{ "remote.pushdefault", "", NEVER },
	{ "remote.pushdefault", NULL, NEVER },
	{ "branch.a.remote", ".", ALWAYS },
	{ "branch.a.remote", "..", NEVER },
	{ "branch.a.remote", "https://x/y", ALWAYS },
	{ "branch.a.remote", "file:///srv/far.git", NEVER },
	{ "branch.a.remote", "git@x:y/z.git", ALWAYS },
	{ "branch.a.pushremote", "x:y", ALWAYS },
	{ "branch.a.remote", "../x:y", NEVER },
	{ "branch.a.remote", "x::y", NEVER },
	{ "branch.a.remote", "-x:y", NEVER },
	{ "branch.a.pushremote", "-x", NEVER },
	{ "checkout.defaultremote", "a/b", NEVER },
	{ "remotes.default", "out", NEVER },
};

static void knows_keys(void)
{
	static const struct ab_gitkeys_terms old = { .repos = &closed },
					     made = { .repos = &closed, .made = true };

	for (size_t i = 0; i < AB_COUNT(keys); i++) {
		const char *value = keys[i].value ? keys[i].value : "(flag)";

		ok(ab_gitkeys_allow(keys[i].key, keys[i].value, &old) ==
			   (keys[i].allowed == ALWAYS),
		   "%s = %s in a repository that was there", keys[i].key, value);
		ok(ab_gitkeys_allow(keys[i].key, keys[i].value, &made) ==
			   (keys[i].allowed != NEVER),
		   "%s = %s in one that the run made", keys[i].key, value);
	}
}

static bool is_in_srv(void *arg, const char *path)
{
	*(int *)arg += 1;
	return strncmp(path, "/srv/", 5) == 0;
}

static void asks_about_paths(void)
{
	int asked = 0;
	const struct ab_gitkeys_terms terms = { .made = true,
						.arg = &asked,
						.is_safe_address = is_in_srv,
						.is_safe_worktree = is_in_srv };

	ok(ab_gitkeys_allow("remote.o.url", "/srv/x", &terms), "an address that the caller knows");
	ok(!ab_gitkeys_allow("remote.o.pushurl", "/home/x", &terms), "and one that it does not");
	ok(ab_gitkeys_allow("core.worktree", "/srv/x", &terms), "a work tree that it knows");
	ok(!ab_gitkeys_allow("core.worktree", "/home/x", &terms), "and one that it does not");
	ok(asked == 4, "each was asked about: %d", asked);
	ok(ab_gitkeys_allow("remote.o.url", "https://x/y", &terms) && asked == 4,
	   "another machine is not asked about");
}

static void names_remotes(void)
{
	ab_autofree char *dots = ab_gitkeys_remote("remote.a.b.url", "x");

	is_str(dots, "a.b", "a remote may have dots in its name");
	ok(!ab_gitkeys_remote("remote.a.url", "") && !ab_gitkeys_remote("remote.a.url", NULL) &&
		   !ab_gitkeys_remote("remote.url", "x") &&
		   !ab_gitkeys_remote("remote.a.pushurl", "x"),
	   "nothing else is the address of one");
	ok(ab_gitkeys_names_remote("branch.x.y.pushremote", "o") &&
		   ab_gitkeys_names_remote("extensions.partialclone", "o"),
	   "settings that name a remote");
	ok(!ab_gitkeys_names_remote("branch.x.remote", ".") &&
		   !ab_gitkeys_names_remote("branch.x.remote", "https://x/y") &&
		   !ab_gitkeys_names_remote("branch.x.merge", "o"),
	   "and what is no name of one");
}

int main(void)
{
	knows_keys();
	asks_about_paths();
	names_remotes();
	return done();
}
