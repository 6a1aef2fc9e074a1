#include "workspace/git/gitchange.h"

#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"
#include "base/data/strv.h"
#include "workspace/git/gitconfig.h"

#define CORE "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
#define ORIGIN "[remote \"origin\"]\n\turl = https://example.org/a.git\n"
#define FETCH "\tfetch = +refs/heads/*:refs/remotes/origin/*\n"

static const char *const closed_repos[] = { "/srv/far.git" };
static const struct ab_strv closed = { .v = (char **)closed_repos, .len = 1 };
static const struct ab_gitkeys_terms plain = { .repos = &closed },
				     pinned = { .worktree_pinned = true };

/* Changes that git and its companions make every day. */
static const struct {
	const char *name, *before, *after;
} harmless[] = {
	{ "nothing", CORE, CORE },
	{ "a remote is added", CORE, CORE ORIGIN FETCH },
	{ "a remote is removed", CORE ORIGIN FETCH, CORE },
	{ "a remote is renamed", CORE ORIGIN,
	  CORE "[remote \"other\"]\n\turl = https://example.org/a.git\n" },
	{ "another address", CORE ORIGIN, CORE "[remote \"origin\"]\n\turl = git@x.org:a/b.git\n" },
	{ "an address with a port", CORE, CORE "[remote \"o\"]\n\turl = ssh://a@x.org:22/b\n" },
	{ "a repository whose hooks are closed", CORE,
	  CORE "[remote \"o\"]\n\turl = /srv/far.git/\n" },
	{ "a path of the user's that stays", "[remote \"o\"]\n\turl = ../far\n",
	  "[remote \"o\"]\n\turl = ../far\n" ORIGIN },
	{ "a branch follows one", CORE ORIGIN,
	  CORE ORIGIN "[branch \"a\"]\n\tremote = origin\n\tmerge = refs/heads/a\n" },
	{ "a branch follows a local one", CORE,
	  CORE "[branch \"a\"]\n\tremote = .\n\tmerge = refs/heads/master\n" },
	{ "a branch with odd letters", CORE ORIGIN,
	  CORE ORIGIN "[branch \"fix/#1]\"]\n\tremote = origin\n" },
	{ "a branch follows a pull request", CORE,
	  CORE "[branch \"a\"]\n\tremote = https://example.org/a.git\n" },
	{ "a branch and its remote go together", CORE ORIGIN "[branch \"a\"]\n\tremote = origin\n",
	  CORE },
	{ "a name that was there before, of no remote", "[remote]\n\tpushDefault = gone\n",
	  "[remote]\n\tpushDefault = gone\n" ORIGIN },
	{ "a remote whose path the user wrote", "[remote \"o\"]\n\turl = ../far\n",
	  "[remote \"o\"]\n\turl = ../far\n[branch \"a\"]\n\tremote = o\n" },
	{ "a remote for ambiguous branches", CORE ORIGIN,
	  CORE ORIGIN "[checkout]\n\tdefaultRemote = origin\n" },
	{ "a submodule", CORE, CORE "[submodule \"s\"]\n\turl = ../s\n\tactive = true\n" },
	{ "how a submodule is updated", CORE, CORE "[submodule \"s\"]\n\tupdate = rebase\n" },
	{ "a name in quotes", CORE, CORE "[user]\n\tname = \"A; B\"\n" },
	{ "a comment", CORE, "# mine\n" CORE "; yours\n" },
	{ "an empty section goes", CORE "[user]\n", CORE },
	{ "upper case", CORE, CORE "[User]\n\tEMail = a@b\n" },
	{ "no line end at the end", CORE, CORE "[user]\n\temail = a@b" },
	{ "gh", CORE ORIGIN, CORE ORIGIN "\tgh-resolved = base\n" },
	{ "VS Code", CORE, CORE "[branch \"a\"]\n\tvscode-merge-base = origin/main\n" },
	{ "its pull requests", CORE,
	  CORE "[branch \"a\"]\n\tgithub-pr-owner-number = \"a#b#1\"\n" },
	{ "git-flow", CORE,
	  CORE
	  "[gitflow \"branch\"]\n\tmaster = main\n[gitflow \"prefix\"]\n\tfeature = feature/\n" },
	{ "git-lfs", CORE, CORE "[lfs \"https://x/y.git/info/lfs\"]\n\taccess = basic\n" },
	{ "git maintenance", CORE,
	  CORE "[maintenance]\n\tauto = false\n\tstrategy = incremental\n" },
	{ "a program that stays", CORE "[core]\n\tpager = less\n",
	  CORE "[core]\n\tpager = less\n" ORIGIN },
	{ "a program with quotes that stays", "[alias]\n\tx = \"!f() { a \\\"b\\\"; }; f\" # c\n",
	  "[alias]\n\tx = \"!f() { a \\\"b\\\"; }; f\" # c\n" ORIGIN },
	{ "a flag that stays", "[core]\n\tbare\n", "[core]\n\tbare\n" ORIGIN },
};

static void allows_harmless(void)
{
	for (size_t i = 0; i < AB_COUNT(harmless); i++) {
		struct ab_gitchange c = { .why = "" };
		bool allowed = ab_gitchange_allowed(harmless[i].before, strlen(harmless[i].before),
						    harmless[i].after, strlen(harmless[i].after),
						    &plain, &c, NULL);

		ok(allowed, "allowed: %s (%s %s)", harmless[i].name, c.key, c.why);
	}
}

#define UNLISTED "is not among the settings that the box may change"
#define REMOVED "may not be removed"
#define VALUE "may not get this value"
#define ADDRESS                                                                              \
	"may only be an address on another host, or the full path of a repository that was " \
	"there at the start"
#define FORM "has a line in an unusual form"
#define HEADER "has a section line in an unusual form"
#define GONE "still names a remote that is gone"
#define NAME "may only name a remote that has an address here, and no file or folder"
#define BYTES "contains control characters"

static const struct {
	const char *name, *before, *after, *key, *why;
} refused[] = {
	{ "hooks", CORE, CORE "\thooksPath = /tmp/x\n", "core.hookspath", UNLISTED },
	{ "a monitor", CORE, CORE "\tfsmonitor = ./x\n", "core.fsmonitor", VALUE },
	{ "ssh", CORE, CORE "\tsshCommand = ./x\n", "core.sshcommand", UNLISTED },
	{ "an alias with a command", CORE, CORE "[alias]\n\tx = !y\n", "alias.x", UNLISTED },
	{ "an alias with an option", CORE, CORE "[alias]\n\tx = -c core.pager=y log\n", "alias.x",
	  UNLISTED },
	{ "ext::", CORE, CORE "[remote \"o\"]\n\turl = ext::sh -c x\n", "remote.o.url", ADDRESS },
	{ "another helper", CORE, CORE "[remote \"o\"]\n\turl = foo::x\n", "remote.o.url",
	  ADDRESS },
	{ "ext:: in quotes", CORE, CORE "[remote \"o\"]\n\turl = \"ext::sh -c x\"\n",
	  "remote.o.url", ADDRESS },
	{ "ext:: in pieces", CORE, CORE "[remote \"o\"]\n\turl = e\"xt\"::sh\n", "remote.o.url",
	  ADDRESS },
	{ "ext:: as a branch's remote", CORE, CORE "[branch \"a\"]\n\tremote = ext::sh -c x\n",
	  "branch.a.remote", NAME },
	{ "an option as an address", CORE, CORE "[remote \"o\"]\n\turl = -oProxyCommand=x\n",
	  "remote.o.url", ADDRESS },
	{ "an option as a host", CORE, CORE "[remote \"o\"]\n\turl = ssh://-oProxyCommand=x/y\n",
	  "remote.o.url", ADDRESS },
	{ "another folder", CORE, CORE "[remote \"o\"]\n\turl = /srv/far.git/x\n", "remote.o.url",
	  ADDRESS },
	{ "a folder in the workspace", CORE, CORE "[remote \"o\"]\n\tpushurl = ./a/b\n",
	  "remote.o.pushurl", ADDRESS },
	{ "a folder that looks like a host", CORE, CORE "[remote \"o\"]\n\turl = a/b:c\n",
	  "remote.o.url", ADDRESS },
	{ "a folder as a URL", CORE, CORE "[remote \"o\"]\n\turl = file:///srv/far.git\n",
	  "remote.o.url", ADDRESS },
	{ "a helper as a protocol", CORE, CORE "[remote \"o\"]\n\turl = foo://x/y\n",
	  "remote.o.url", ADDRESS },
	{ "a folder as a branch's remote", CORE, CORE "[branch \"a\"]\n\tremote = a/b\n",
	  "branch.a.remote", NAME },
	{ "a folder to push to", CORE, CORE "[remote]\n\tpushDefault = ../b\n",
	  "remote.pushdefault", NAME },
	{ "a remote that does not exist", CORE ORIGIN,
	  CORE ORIGIN "[remote]\n\tpushDefault = out\n", "remote.pushdefault", NAME },
	{ "the same for one branch", CORE ORIGIN,
	  CORE ORIGIN "[branch \"a\"]\n\tpushRemote = out\n", "branch.a.pushremote", NAME },
	{ "the same for ambiguous branches", CORE, CORE "[checkout]\n\tdefaultRemote = out\n",
	  "checkout.defaultremote", NAME },
	{ "a remote that has no address but to push", CORE,
	  CORE "[remote \"o\"]\n\tpushurl = git@x.org:y\n[remote]\n\tpushDefault = o\n",
	  "remote.pushdefault", NAME },
	{ "a remote with an empty address", CORE "[remote \"o\"]\n\turl =\n",
	  CORE "[remote \"o\"]\n\turl =\n[remote]\n\tpushDefault = o\n", "remote.pushdefault",
	  NAME },
	{ "a name that was there, for another branch", CORE "[branch \"a\"]\n\tremote = gone\n",
	  CORE "[branch \"b\"]\n\tremote = gone\n", "branch.b.remote", NAME },
	{ "a remote goes, and its name stays", CORE ORIGIN "[remote]\n\tpushDefault = origin\n",
	  CORE "[remote]\n\tpushDefault = origin\n", "", GONE },
	{ "the same with a comment", CORE ORIGIN "[remote]\n\tpushDefault = origin # mine\n",
	  CORE "[remote]\n\tpushDefault = origin # mine\n", "", GONE },
	{ "an include", CORE, CORE "[include]\n\tpath = x\n", "include.path", UNLISTED },
	{ "a conditional include", CORE, CORE "[includeIf \"gitdir:/\"]\n\tpath = x\n",
	  "includeif.gitdir:/.path", UNLISTED },
	{ "a submodule's command", CORE, CORE "[submodule \"s\"]\n\tupdate = !x\n",
	  "submodule.s.update", VALUE },
	{ "a filter", CORE, CORE "[filter \"lfs\"]\n\tclean = x\n", "filter.lfs.clean", UNLISTED },
	{ "a way to send packs", CORE, CORE "[remote \"o\"]\n\tuploadpack = x\n",
	  "remote.o.uploadpack", UNLISTED },
	{ "another work tree", CORE, CORE "\tworktree = /home\n", "core.worktree", UNLISTED },
	{ "git-flow's hooks", CORE, CORE "[gitflow \"path\"]\n\thooks = x\n", "gitflow.path.hooks",
	  UNLISTED },
	{ "a transfer agent", CORE, CORE "[lfs \"customtransfer.x\"]\n\tpath = y\n",
	  "lfs.customtransfer.x.path", UNLISTED },
	{ "an unknown key", CORE, CORE "[new]\n\tthing = x\n", "new.thing", UNLISTED },
	{ "config.worktree that is not closed", CORE,
	  CORE "[extensions]\n\tworktreeConfig = true\n", "extensions.worktreeconfig", VALUE },
	{ "a helper is removed", "[credential]\n\thelper =\n\thelper = store\n",
	  "[credential]\n\thelper =\n", "credential.helper", REMOVED },
	{ "helpers in another order", "[credential]\n\thelper = a\n\thelper = b\n",
	  "[credential]\n\thelper = b\n\thelper = a\n", "credential.helper", REMOVED },
	{ "a work tree is removed before another line",
	  "[core]\n\tworktree = /x\n[remote \"o\"]\n\turl = /y\n", "[remote \"o\"]\n\turl = /y\n",
	  "core.worktree", REMOVED },
	{ "a line is added before another one", "[credential]\n\thelper = a\n",
	  "[credential]\n\thelper = b\n\thelper = a\n", "credential.helper", UNLISTED },
	{ "a program under another section", "[a]\n\tcommand = x\n[diff \"y\"]\n",
	  "[a]\n[diff \"y\"]\n\tcommand = x\n", "diff.y.command", UNLISTED },
	{ "another spelling", CORE "\tpager = x\n", CORE "\tpager =  x\n", "core.pager", UNLISTED },
	{ "a line that continues", CORE, CORE "[user]\n\tname = a\\\n[core]\n\tpager = x\n", "",
	  FORM },
	{ "a comment that continues", CORE, CORE "[user]\n\tname = a # \\\n\tpager = x\n",
	  "user.name", VALUE },
	{ "an open quote", CORE, CORE "[user]\n\tname = \"a\n", "", FORM },
	{ "an unknown escape", CORE, CORE "[user]\n\tname = \\q\n", "", FORM },
	{ "a dotted section", CORE, CORE "[remote.o]\n\turl = x\n", "", HEADER },
	{ "a key behind a section", CORE, CORE "[user] name = x\n", "", HEADER },
	{ "an escape in a section", CORE, CORE "[remote \"a\\\"]\n\turl = x\n", "", HEADER },
	{ "an open section", CORE, CORE "[user\n\tname = x\n", "", HEADER },
	{ "a key before any section", "", "name = x\n", "", FORM },
	{ "a carriage return", CORE, CORE "[user]\r\n\tname = x\r\n", "", BYTES },
	{ "a vertical tab", CORE, CORE "[user]\n\tname = a\vb\n", "", BYTES },
	{ "a byte order mark", CORE, "\xef\xbb\xbf" CORE, "", FORM },
	{ "an old text that is not judged", CORE "[a.b]\n", CORE ORIGIN, "", HEADER },
};

static void refuses_programs(void)
{
	for (size_t i = 0; i < AB_COUNT(refused); i++) {
		struct ab_gitchange c = { .why = "" };
		bool allowed = ab_gitchange_allowed(refused[i].before, strlen(refused[i].before),
						    refused[i].after, strlen(refused[i].after),
						    &plain, &c, NULL);

		ok(!allowed, "refused: %s", refused[i].name);
		is_str(c.key, refused[i].key, "its key");
		is_str(c.why, refused[i].why, "its reason");
	}
}

static void knows_bounds(void)
{
	struct ab_gitchange c = { .why = "" };
	char *big = ab_alloc(AB_GITCONFIG_MAX + 1);
	const char *worktree = CORE "[extensions]\n\tworktreeConfig = true\n";

	ok(ab_gitchange_allowed(CORE, strlen(CORE), worktree, strlen(worktree), &pinned, &c, NULL),
	   "extensions.worktreeConfig is allowed when config.worktree is closed");
	ok(!ab_gitchange_allowed("", 0, "[user]\n\tname = a\0b\n", 19, &plain, &c, NULL),
	   "a NUL byte is refused");
	memset(big, '\n', AB_GITCONFIG_MAX + 1);
	ok(ab_gitchange_allowed(big, AB_GITCONFIG_MAX, big, AB_GITCONFIG_MAX, &plain, &c, NULL),
	   "the largest file is judged");
	ok(!ab_gitchange_allowed("", 0, big, AB_GITCONFIG_MAX + 1, &plain, &c, NULL),
	   "a larger one is refused");
	memset(big, 'a', AB_GITCONFIG_MAX);
	memcpy(big, "[a]\n", 4);
	ok(!ab_gitchange_allowed("", 0, big, AB_GITCONFIG_MAX, &plain, &c, NULL),
	   "a name without end is refused");
	free(big);
}

static bool is_docs(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "docs") == 0;
}

#define DOCS "[remote \"docs\"]\n\turl = git@x.org:y\n"
#define DOCS_USE "[branch \"a\"]\n\tremote = docs\n"

static void knows_folders(void)
{
	static const struct ab_gitkeys_terms terms = { .is_path = is_docs };
	static const char before[] = CORE ORIGIN DOCS, after[] = CORE ORIGIN DOCS DOCS_USE;
	static const char fine[] = CORE ORIGIN DOCS "[branch \"a\"]\n\tremote = origin\n";
	struct ab_gitchange c = { .why = "" };

	ok(!ab_gitchange_allowed(before, strlen(before), after, strlen(after), &terms, &c, NULL),
	   "a remote that is called like a folder");
	is_str(c.key, "branch.a.remote", "its key");
	ok(ab_gitchange_allowed(before, strlen(before), fine, strlen(fine), &terms, &c, NULL),
	   "another remote");
	ok(ab_gitchange_allowed(after, strlen(after), after, strlen(after), &terms, &c, NULL),
	   "a name that was there before");
}

/* What git remote rename and git remote remove write first, and what is written instead. */
static const struct {
	const char *name, *before, *after, *text;
} renamed[] = {
	{ "nothing to change", CORE, CORE ORIGIN, "" },
	{ "a remote is renamed", CORE ORIGIN "[branch \"a\"]\n\tremote = origin\n\tmerge = r\n",
	  CORE DOCS "[branch \"a\"]\n\tremote = origin\n\tmerge = r\n",
	  CORE DOCS "[branch \"a\"]\n\tremote = docs\n\tmerge = r\n" },
	{ "several names",
	  CORE ORIGIN "[remote]\n\tpushDefault=origin\n[branch \"a\"]\nremote=origin",
	  CORE DOCS "[remote]\n\tpushDefault=origin\n[branch \"a\"]\nremote=origin",
	  CORE DOCS "[remote]\n\tpushdefault = docs\n[branch \"a\"]\n\tremote = docs\n" },
	{ "a remote is removed", CORE ORIGIN DOCS "[remote]\n\tpushDefault = origin\n" DOCS_USE,
	  CORE DOCS "[remote]\n\tpushDefault = origin\n" DOCS_USE,
	  CORE DOCS "[remote]\n" DOCS_USE },
	{ "two new remotes", CORE ORIGIN "[remote]\n\tpushDefault = origin\n",
	  CORE DOCS "[remote \"z\"]\n\turl = a:b\n[remote]\n\tpushDefault = origin\n",
	  CORE DOCS "[remote \"z\"]\n\turl = a:b\n[remote]\n" },
	{ "a new name that needs quotes", CORE ORIGIN "[remote]\n\tpushDefault = origin\n",
	  CORE "[remote \"a;b\"]\n\turl = a:b\n[remote]\n\tpushDefault = origin\n",
	  CORE "[remote \"a;b\"]\n\turl = a:b\n[remote]\n" },
};

static void finishes_renames(void)
{
	for (size_t i = 0; i < AB_COUNT(renamed); i++) {
		struct ab_buf text = { 0 }, none = { 0 };
		struct ab_gitchange c = { .why = "" };
		bool allowed = ab_gitchange_allowed(renamed[i].before, strlen(renamed[i].before),
						    renamed[i].after, strlen(renamed[i].after),
						    &plain, &c, &text);

		ok(allowed, "renamed: %s (%s %s)", renamed[i].name, c.key, c.why);
		is_str(text.len ? text.data : "", renamed[i].text, "what is written instead");
		ok(!text.len || (ab_gitchange_allowed(renamed[i].before, strlen(renamed[i].before),
						      text.data, text.len, &plain, &c, &none) &&
				 !none.len),
		   "and is a change of its own");
		ab_buf_fini(&text);
		ab_buf_fini(&none);
	}
}

/* Each text cut at every byte, its end against a page that faults. */
static void cut_everywhere(void)
{
	size_t runs = 0;

	for (size_t i = 0; i < AB_COUNT(refused); i++)
		for (size_t n = 0; n <= strlen(refused[i].after); n++, runs++) {
			struct ab_gitchange c;

			ab_gitchange_allowed(refused[i].before, strlen(refused[i].before),
					     guarded(refused[i].after, n), n, &plain, &c, NULL);
		}
	ok(runs > 1000, "cut at every byte: %zu runs stay in bounds", runs);
}

int main(void)
{
	allows_harmless();
	refuses_programs();
	knows_bounds();
	knows_folders();
	finishes_renames();
	cut_everywhere();
	return done();
}
