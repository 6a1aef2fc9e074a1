#include "workspace/tree/names.h"

#include "base/data/mem.h"
#include "tap.h"
#include "workspace/tree/guard.h"

static void sorts(void)
{
	static const char *const entries[] = {
		".git/hooks", ".git/config", ".vscode", ".vscode",
		"./a//b/",    "/etc/x",	     "*.sh",	"..",
	};
	struct ab_strv deny = { 0 };
	struct ab_names n;
	const char *rest;

	for (size_t i = 0; i < AB_COUNT(entries); i++)
		ab_strv_add(&deny, entries[i]);
	ab_names_init(&n, &deny);
	ok(n.top.len == 3, "each relative name once");
	ok(ab_strv_has(&n.top, "a/b"), "a sloppy spelling is made clean");
	ok(ab_strv_has(&n.absolute, "/etc/x"), "absolute ones apart");
	ok(ab_strv_has(&n.git, "hooks") && ab_strv_has(&n.git, "config"),
	   "names in a git directory apart");
	ok(ab_strv_has(&n.git, "config.worktree") && ab_strv_has(&n.git, "commondir"),
	   "with config comes what replaces it");
	ok(ab_names_touch(&n, ".vscode") && ab_names_touch(&n, "a") && ab_names_touch(&n, "x.sh") &&
		   ab_names_touch(&n, ".sh"),
	   "an entry that begins a name is recognized");
	ok(!ab_names_touch(&n, ".vscod") && !ab_names_touch(&n, "a/b") &&
		   !ab_names_touch(&n, "b") && !ab_names_touch(&n, "sh") && !ab_names_touch(&n, ""),
	   "and no other");
	ab_names_fini(&n);

	ok(ab_name_starts(".config/fish", ".config", &rest) && strcmp(rest, "fish") == 0,
	   "the first component, and what follows");
	ok(ab_name_starts(".vscode", ".vscode", &rest) && !rest[0], "a single one ends there");
	ok(!ab_name_starts(".vscode", ".vscod", &rest), "no prefix match");
	ok(ab_name_starts("*rc", ".bashrc", &rest), "a pattern matches a leading dot");
	ok(!ab_name_starts("*rc", ".bash", &rest), "and nothing else");
	ab_strv_fini(&deny);
}

/* How file systems see names that do not tell some spellings apart. */
static void folds(void)
{
	static const struct {
		const char *name, *folded;
	} cases[] = {
		{ ".git", ".git" },
		{ ".GIT", ".git" },
		{ "CLAUDE.md", "claude.md" },
		{ ".hu\xc5\xbf\xe2\x84\xaay", ".husky" }, /* the long s, the Kelvin sign */
		{ "con\xef\xac\x81g", "config" },	  /* one letter for fi */
		{ "settin\xe2\x80\x8cgs", "settings" },	  /* not shown */
		{ ".git. .", ".git" },
		{ "GIT~1", ".git" },
		{ "git~12", "git~12" },
		{ ".", "." },
		{ "a b", "a b" },
		{ "*.", "*." },
		{ "\xc3\x84", "\xc3\x84" }, /* no letter of ASCII */
		{ "\xff.GIT", "\xff.git" },
		{ ".Config/Fish", ".config" },
		{ "", "" },
	};
	char name[NAME_MAX + 1], longest[2 * NAME_MAX];
	struct ab_strv deny = { 0 };
	struct ab_names n;
	const char *rest = NULL;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_name_fold(cases[i].name, name);
		is_str(name, cases[i].folded, cases[i].name);
		if (!strchr(cases[i].name, '/'))
			is_str(ab_name_folded(cases[i].name, name), cases[i].folded, "the same");
	}
	memset(longest, 'A', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ab_name_fold(longest, name);
	ok(strlen(name) == NAME_MAX && name[NAME_MAX - 1] == 'a', "no more than a name may have");

	ok(ab_name_may_be(".GIT", ".git") && ab_name_may_be("\xe2\x80\x8c.git", ".git") &&
		   ab_name_may_be("head", "HEAD"),
	   "a spelling of the name");
	ok(!ab_name_may_be(".gi", ".git") && !ab_name_may_be(".gitx", ".git") &&
		   !ab_name_may_be("x", ".git"),
	   "and another name");

	ab_strv_add(&deny, ".vscode");
	ab_strv_add(&deny, "CLAUDE.md");
	ab_strv_add(&deny, "*.Workspace");
	ab_names_init(&n, &deny);
	ok(ab_names_touch(&n, ".VSCode") && ab_names_touch(&n, "claude.md") &&
		   ab_names_touch(&n, "CLAUDE.md") && ab_names_touch(&n, "x.WORKSPACE"),
	   "an entry that is spelled otherwise is recognized");
	ok(!ab_names_touch(&n, ".vscod") && !ab_names_touch(&n, "x.workspac"), "and no other");
	ab_names_fini(&n);
	ab_strv_fini(&deny);

	ok(ab_name_starts_folded("Claude/Skills", "claude", &rest) && strcmp(rest, "Skills") == 0,
	   "the first component, folded");
	ok(ab_name_starts_folded("*.Work", "x.work", &rest) && !rest[0], "a pattern");
	ok(!ab_name_starts_folded("*.Work", "x.wor", &rest), "and nothing else");
	ok(!ab_name_starts("Claude", "claude", &rest), "as it is spelled, it is another name");
}

static void opens(void)
{
	static const struct {
		const char *path, *name;
		bool holds;
	} cases[] = {
		{ "/w/.git", NULL, false },
		{ "/w/.git/hooks", ".git/hooks", false },
		{ "/w/.GIT/Hooks", ".git/hooks", false },
		{ "/w/A/b", "a/b/c/d", true },
		{ "/w/.git/hooks/x", ".git/hooks", false },
		{ "/a/b/w", NULL, false },
		{ "/w/a/b", "a/b/c/d", true },
		{ "/w/a/b/c/d/e", "a/b/c/d", false },
		{ "/w/a/a/b/c", "a/b/c/d", true },
		{ "/w/.git/objects", NULL, false },
		{ "/w/.github", NULL, false },
		{ "/w/hooks", NULL, false },
		{ "/w/x", NULL, false },
		{ "/etc", NULL, false },
		{ "/etc/x/y", "/etc/x", false },
		{ "/w/x/deep", "*/deep", false },
		{ "", NULL, false },
	};
	static const char *const entries[] = { ".git/hooks", "a/b/c/d", "/etc/x", "*/deep" };
	struct ab_strv deny = { 0 };

	for (size_t i = 0; i < AB_COUNT(entries); i++)
		ab_strv_add(&deny, entries[i]);
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		bool holds = false;
		const char *name = ab_names_opened(&deny, cases[i].path, &holds);

		is_str(name ? name : "", cases[i].name ? cases[i].name : "", cases[i].path);
		ok(holds == cases[i].holds, "and whether it is only in it");
	}
	ab_strv_fini(&deny);
}

static void settles(void)
{
	struct ab_guard *v = NULL;
	size_t n = 0;

	ab_guards_add(&v, &n, "/w/a-b", AB_NODE_FILE);
	ab_guards_add(&v, &n, "/w/a/x", AB_NODE_FILE);
	ab_guards_add(&v, &n, "/w/a", AB_NODE_DIR);
	ab_guards_add(&v, &n, "/w/a-b", AB_NODE_FILE);
	ab_guards_add(&v, &n, "/w/l", AB_NODE_LINK);
	ab_guards_settle(v, &n);
	ok(n == 3, "one mount for what a folder covers");
	is_str(v[0].path, "/w/a", "parents first");
	is_str(v[1].path, "/w/a-b", "a neighbour stays");
	ok(ab_guards_cover(v, n, "/w/a/x/y"), "what is below is covered");
	ok(!ab_guards_cover(v, n, "/w/l/y"), "but not behind a link");
	ab_guards_free(v, n);
}

int main(void)
{
	sorts();
	folds();
	opens();
	settles();
	return done();
}
