/* Which words a tool accepts: patterns, and flags that are denied whatever the patterns say. */
#include <string.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "hosttools/tool_flags.h"
#include "hosttools/tool_words.h"
#include "policy/model/host_tools.h"
#include "tap.h"

static struct ab_strv split_words(const char *text)
{
	struct ab_strv words = { 0 };

	while (*text) {
		size_t n = strcspn(text, " ");

		ab_strv_give(&words, ab_strndup(text, n));
		text += n + (text[n] == ' ');
	}
	return words;
}

static void test_patterns(void)
{
	static const struct {
		const char *pattern, *words;
		bool match;
	} cases[] = {
		{ "pr view *", "pr view", true },
		{ "pr view *", "pr view 5 --json title", true },
		{ "pr view *", "pr", false },
		{ "pr view *", "pr viewer", false },
		{ "pr view *", "x pr view", false },
		{ "pr view", "pr view", true },
		{ "pr view", "pr view 5", false },
		{ "pr * 5", "pr view 5", true },
		{ "pr * 5", "pr view x 5", false },
		{ "pr * 5", "pr 5", false },
		{ "issue-*", "issue-5", true },
		{ "issue-*", "issue", false },
		{ "--json=*x*", "--json=axb", true },
		{ "a*b*c", "a1b2c", true },
		{ "a*b*c", "a1b2", false },
		{ "*", "", true },
		{ "*", "a b c", true },
		{ "* *", "a", true },
		{ "* *", "", false },
		{ "a", "", false },
		{ "a", "A", false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autostrv struct ab_strv words = split_words(cases[i].words);

		ok(ab_tool_pattern_matches(cases[i].pattern, (const char *const *)words.v,
					   words.len) == cases[i].match,
		   "\"%s\" %s \"%s\"", cases[i].pattern,
		   cases[i].match ? "matches" : "does not match", cases[i].words);
	}
	ok(ab_tool_pattern_matches("a *", (const char *const[]){ "a", "b c", "" }, 3),
	   "a word may have blanks or be empty");
	ok(!ab_tool_pattern_matches("a b", (const char *const[]){ "a b" }, 1),
	   "one word with a blank is not two words");
}

static void test_covers(void)
{
	static const struct {
		const char *pattern, *words;
		bool covers;
	} cases[] = {
		{ "pr merge *", "pr merge 5", true },
		{ "pr merge *", "pr --repo a/b merge 5", true },
		{ "pr merge *", "-R a/b pr --x=y -q merge", true },
		{ "pr merge *", "pr --json=merge 5", true },
		{ "pr merge *", "pr view merge", false },
		{ "pr merge *", "pr view --json merge", false },
		{ "pr merge *", "pr", false },
		{ "pr merge *", "", false },
		{ "push", "push -f origin", true },
		{ "push", "-q push", true },
		{ "push", "push origin main", false },
		{ "push * main", "push -f origin -x main", true },
		{ "push * main", "push origin other", false },
		{ "*", "", true },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autostrv struct ab_strv words = split_words(cases[i].words);

		ok(ab_tool_pattern_covers(cases[i].pattern, (const char *const *)words.v,
					  words.len) == cases[i].covers,
		   "\"%s\" %s \"%s\"", cases[i].pattern,
		   cases[i].covers ? "covers" : "does not cover", cases[i].words);
	}
}

static void test_flags(void)
{
	static const struct {
		const char *program, *words, *word;
	} cases[] = {
		{ "git", "-c core.pager=x status", "-c" },
		{ "git", "-C /x status", "-C" },
		{ "git", "--exec-path=/x status", "--exec-path=/x" },
		{ "git", "--exec-pa=/x status", "--exec-pa=/x" },
		{ "git", "--git-dir x status", "--git-dir" },
		{ "git", "config -l", "config" },
		{ "git", "--bare config -l", "config" },
		{ "git", "--no-pager x config -l", "config" },
		{ "git", "bisect run make", "run" },
		{ "git", "bisect good", NULL },
		{ "git", "fetch --upload-pack=x origin", "--upload-pack=x" },
		{ "git", "fetch --upl x origin", "--upl" },
		{ "git", "push --exec x", "--exec" },
		{ "git", "push -u origin main", NULL },
		{ "git", "clone -u x url", "-u" },
		{ "git", "clone -qc a.b=c url", "-qc" },
		{ "git", "fetch ext::sh", "ext::sh" },
		{ "git", "diff --text", NULL },
		{ "git", "diff --textconv", "--textconv" },
		{ "git", "diff --ext-diff", "--ext-diff" },
		{ "git", "log --oneline -5", NULL },
		{ "git", "commit -m config", NULL },
		{ "git", "switch -c new", NULL },
		{ "git", "grep -O x", "-O" },
		{ "git", "rebase -x make", "-x" },
		{ "git", "rebase main", NULL },
		{ "gh", "pr view 5", NULL },
		{ "gh", "pr view --web", "--web" },
		{ "gh", "alias set x y", "alias" },
		{ "gh", "-R a/b alias set x y", "alias" },
		{ "gh", "--repo=a/b pr list", NULL },
		{ "gh", "extension install x/y", "extension" },
		{ "gh", "issue create --title config", NULL },
		{ "gh", "repo clone a/b -- -c x=y", "--" },
		{ "gh", "auth token", "auth" },
		{ "npm", "view x", NULL },
		{ "npm", "exec x", "exec" },
		{ "npm", "install --script-shell=/x", "--script-shell=/x" },
		{ "npm", "install --script-sh /x", "--script-sh" },
		{ "npm", "install --global x", NULL },
		{ "npm", "install --globalc x", "--globalc" },
		{ "npm", "install --ca x", "--ca" },
		{ "npm", "install -script-shell=/x", "-script-shell=/x" },
		{ "npm", "install ---prefi /x", "---prefi" },
		{ "npm", "-s install -g y", NULL },
		{ "npm", "exe x", "exe" },
		{ "npm", "conf set a b", "conf" },
		{ "npm", "--json=exe x", "--json=exe" },
		{ "npm", "--tag=y token list", "token" },
		{ "npm", "--json=true view x", NULL },
		{ "npm", "create x", "create" },
		{ "npm", "add x", NULL },
		{ "npm", "i --tag=exec x", NULL },
		{ "npm", "t", NULL },
		{ "npm", "search exec", NULL },
		{ "docker", "compose up", "compose" },
		{ "docker", "run --use-api-socket x", "--use-api-socket" },
		{ "docker", "ps", NULL },
		{ "docker", "run --user 5 x", NULL },
		{ "docker", "run -itv /:/h x", "-itv" },
		{ "docker", "run --privileged x", "--privileged" },
		{ "docker", "-H tcp://x ps", "-H" },
		{ "docker", "--context x ps", "--context" },
		{ "jq", "-c alias config", NULL },
		{ "git", "", NULL },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autostrv struct ab_strv words = split_words(cases[i].words);
		const char *word = NULL;
		const struct ab_tool_flag *f = ab_tool_flag_find(
			cases[i].program, (const char *const *)words.v, words.len, &word);

		if (cases[i].word)
			ok(f && strcmp(word, cases[i].word) == 0, "%s %s is denied for %s",
			   cases[i].program, cases[i].words, cases[i].word);
		else
			ok(!f, "%s %s has no such flag", cases[i].program, cases[i].words);
	}
}

/* Each command with each word is found, whichever row says so first. */
static void check_row(const struct ab_tool_flag *f)
{
	ab_autofree char *commands = ab_strdup(f->command);
	char *at = commands, *command, *word, *next;

	ok(*ab_tool_flag_why(f) && (*f->command || *f->word), "row of %s is complete", f->program);
	while ((command = strsep(&at, " ")) != NULL) {
		ab_autofree char *all = ab_strdup(f->word);

		for (next = all; (word = strsep(&next, " ")) != NULL;) {
			const char *words[3], *found = NULL;
			size_t n = 0;

			if (*command)
				words[n++] = strcmp(command, "*") == 0 ? "status" : command;
			if (*word)
				words[n++] = word;
			ok(ab_tool_flag_find(f->program, words, n, &found) && found,
			   "%s %s %s is found", f->program, command, word);
		}
	}
}

static void test_judgement(void)
{
	char *allow[] = { (char *)"*" }, *ask[] = { (char *)"push *" };
	struct ab_host_tool tool = {
		.name = "vcs", .program = "/usr/bin/git", .allow = { allow, 1 }, .ask = { ask, 1 }
	};
	struct ab_tool_judgement j;

	ab_tool_judge(&tool, (const char *const[]){ "status" }, 1, &j);
	ok(j.ruling == AB_TOOL_ALLOWED && strcmp(j.pattern, "*") == 0, "a pattern allows");
	ab_tool_judge(&tool, (const char *const[]){ "push", "origin" }, 2, &j);
	ok(j.ruling == AB_TOOL_ASKED, "a question overrides a permission");
	ab_tool_judge(&tool, (const char *const[]){ "--no-pager", "push" }, 2, &j);
	ok(j.ruling == AB_TOOL_ASKED, "an option before the command does not avoid the question");
	ab_tool_judge(&tool, (const char *const[]){ "log", "push" }, 2, &j);
	ok(j.ruling == AB_TOOL_ALLOWED, "other words are not asked about");
	ab_tool_judge(&tool, (const char *const[]){ "-c", "a.b=c", "status" }, 3, &j);
	ok(j.ruling == AB_TOOL_DENIED && strcmp(j.rule, "tools.flags") == 0,
	   "a flag is denied by the program's name, whatever the tool is called");
	tool.allow.len = 0;
	ab_tool_judge(&tool, (const char *const[]){ "--no-pager", "push" }, 2, &j);
	ok(j.ruling == AB_TOOL_DENIED, "only what is allowed is asked about behind options");
	tool.ask.len = 0;
	ab_tool_judge(&tool, (const char *const[]){ "status" }, 1, &j);
	ok(j.ruling == AB_TOOL_DENIED && strcmp(j.rule, "tools.allow") == 0,
	   "without a pattern everything is denied");
}

int main(void)
{
	for (size_t i = 0; i < ab_tool_flag_count; i++)
		check_row(&ab_tool_flags[i]);
	test_patterns();
	test_covers();
	test_flags();
	test_judgement();
	return done();
}
