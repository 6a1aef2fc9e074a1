/*
 * git: commands that publish, discard work, make a program run later, or only read.
 */
#include "base/data/mem.h"
#include "shell/command/grammar.h"
#include "shell/tools/tool.h"

#define REWRITE AB_RULE_HISTORY_REWRITE
#define PUBLISH AB_RULE_GIT_PUBLISH
#define DISCARD AB_RULE_GIT_DISCARD

#define UNCOMMITTED "Discards uncommitted changes."

/* Options that make a reading command write a file or run a program. */
#define RUNS "--output --ext-diff --textconv --show-signature"
#define BRANCH_CHANGES                                                   \
	"-d -D -m -M -c -C -f -u -t --delete --move --copy --force "     \
	"--set-upstream-to --unset-upstream --edit-description --track " \
	"--create-reflog"
#define TAG_CHANGES                                                          \
	"-a -s -u -f -d -m -F -e -v --annotate --sign --local-user --force " \
	"--delete --message --file --edit --verify"

/* Sorted by name. */
static const struct ab_deed deeds[] = {
	{ "git", "push", "", "-n --dry-run", PUBLISH, .reason = "Publishes commits." },
	{ "git", "push", "-f --force --force-with-lease --mirror --delete -d --prune +* :*",
	  "-n --dry-run", REWRITE },
	{ "git", "send-pack|http-push", "", "-n --dry-run", PUBLISH },
	{ "git", "svn dcommit", "", "-n --dry-run", PUBLISH },
	{ "git", "svn|p4|lfs submit|set-tree|push", "", "-n --dry-run", PUBLISH },
	{ "git", "send-email|imap-send", "", "--dry-run", PUBLISH },
	{ "git", "filter-branch|filter-repo|replace", "", "-l --list --analyze", REWRITE },
	{ "git", "reflog expire|delete", "", "-n --dry-run", REWRITE },
	{ "git", "gc", "--prune=now --prune=all", "", REWRITE },
	{ "git", "prune", "", "-n --dry-run", REWRITE },
	{ "git", "reset", "--hard --merge", "", DISCARD, .reason = UNCOMMITTED },
	{ "git", "clean", "-f --force", "-n --dry-run", DISCARD,
	  .reason = "Deletes untracked files." },
	{ "git", "checkout", "-f --force", "", DISCARD, .reason = UNCOMMITTED },
	{ "git", "checkout-index", "-f --force", "", DISCARD, .reason = UNCOMMITTED },
	{ "git", "restore", "-W --worktree", "", DISCARD, .reason = UNCOMMITTED },
	{ "git", "restore *", "", "-S --staged", DISCARD, .reason = UNCOMMITTED },
	{ "git", "switch", "-f --force --discard-changes", "", DISCARD, .reason = UNCOMMITTED },
	{ "git", "stash drop|clear", .rule = DISCARD, .reason = "Deletes stashed changes." },
	{ "git", "branch", "-D", "", DISCARD,
	  .reason = "Deletes a branch even if it is not merged." },
	{ "git", "worktree remove", "-f --force", "", DISCARD, .reason = UNCOMMITTED },
	{ "git", "rm", "-f --force", "--cached -n --dry-run", DISCARD, .reason = UNCOMMITTED },
	{ "git", "update-ref", "-d --delete", "", DISCARD,
	  .reason = "Deletes a branch even if it is not merged." },
	{ "git", "submodule deinit", "-f --force", "", DISCARD, .reason = UNCOMMITTED },
	{ "git", "read-tree", "--reset", "", DISCARD, .reason = UNCOMMITTED },
	{ "read",
	  "status|log|diff|show|rev-parse|ls-files|ls-tree|blame|annotate|"
	  "describe|shortlog|rev-list|name-rev|merge-base|cherry|"
	  "count-objects|whatchanged|var|version|for-each-ref",
	  "", RUNS, AB_RULE_GIT_READ },
	{ "read",
	  "show-ref|diff-tree|diff-index|diff-files|check-ignore|check-attr|"
	  "check-mailmap|check-ref-format|range-diff|show-branch|verify-pack|"
	  "patch-id|stripspace",
	  "", RUNS, AB_RULE_GIT_READ },
	{ "read", "grep", "", "-O --open-files-in-pager --textconv --ext-grep", AB_RULE_GIT_READ },
	{ "read", "cat-file", "", "--textconv --filters", AB_RULE_GIT_READ },
	{ "read", "branch", "", BRANCH_CHANGES, AB_RULE_GIT_READ, .bare = true },
	{ "read", "branch", "-l --list --contains --no-contains --merged --no-merged --points-at",
	  BRANCH_CHANGES, AB_RULE_GIT_READ },
	{ "read", "tag", "", TAG_CHANGES, AB_RULE_GIT_READ, .bare = true },
	{ "read", "tag",
	  "-l --list -n --contains --no-contains --merged --no-merged "
	  "--points-at",
	  TAG_CHANGES, AB_RULE_GIT_READ },
	{ "read", "remote", .rule = AB_RULE_GIT_READ, .bare = true },
	{ "read", "remote get-url", .rule = AB_RULE_GIT_READ },
	{ "read", "reflog", "", RUNS, AB_RULE_GIT_READ, .bare = true },
	{ "read", "reflog show|exists|list", "", RUNS, AB_RULE_GIT_READ },
	{ "read", "stash list|show", "", RUNS, AB_RULE_GIT_READ },
	{ "read", "config", "--get --get-all --get-regexp --get-urlmatch -l --list",
	  "-e --edit --unset --add --replace-all", AB_RULE_GIT_READ },
	{ "read", "config get|list", .rule = AB_RULE_GIT_READ },
	{ "read", "config *", "", "-e --edit --unset* --add --replace-all --remove-* --rename-*",
	  AB_RULE_GIT_READ, .bare = true },
	{ "read", "worktree list", .rule = AB_RULE_GIT_READ },
	{ "read", "submodule status|summary", .rule = AB_RULE_GIT_READ },
	{ "read", "submodule", .rule = AB_RULE_GIT_READ, .bare = true },
	{ "read", "notes show|list", .rule = AB_RULE_GIT_READ },
	{ "read", "bisect log|view", .rule = AB_RULE_GIT_READ },
	{ "read", "lfs ls-files|status|env|version", .rule = AB_RULE_GIT_READ },
	{ "read", "symbolic-ref *", "", "-d --delete -m", AB_RULE_GIT_READ, .bare = true },
	{ "read", "sparse-checkout list", .rule = AB_RULE_GIT_READ },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ "git", "git", AB_HELP_LETTER },
};

const struct ab_toolbox ab_tools_git = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds) };

/* git with the group of reading commands. */
static const struct ab_tool read_tool = { "git", "read", AB_HELP_LONG };

/* Configuration keys that name a program, or a file that names one. */
static const char programs[][26] = {
	"alias.*",
	"core.hookspath",
	"core.fsmonitor",
	"core.sshcommand",
	"core.pager",
	"core.editor",
	"core.askpass",
	"core.gitproxy",
	"core.attributesfile",
	"core.alternaterefscommand",
	"credential.*helper",
	"filter.*",
	"diff.*command",
	"diff.*textconv",
	"diff.external",
	"merge.*driver",
	"mergetool.*",
	"difftool.*",
	"include.path",
	"includeif.*",
	"init.templatedir",
	"sequence.editor",
	"gpg.*program",
	"protocol.*allow",
	"url.*",
	"pager.*",
	"browser.*",
	"man.*",
	"web.browser",
	"uploadpack.*",
	"receive.*hook",
	"remote.*.vcs",
	"remote.*uploadpack",
	"remote.*receivepack",
	"sendemail.*",
	"gc.recentobjectshook",
	"trailer.*",
	"interactive.difffilter",
	"submodule.*update",
	"fsmonitor.*",
	"tar.*",
};

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* The pattern has at most one star; ignores the case of the key. */
static bool is_key(struct ab_text key, const char *pattern)
{
	size_t before = strcspn(pattern, "*");
	const char *rest = pattern + before + (pattern[before] == '*');
	size_t after = strlen(rest);

	if (pattern[before] ? key.len < before + after : key.len != before)
		return false;
	for (size_t i = 0; i < before; i++)
		if (to_lower(key.s[i]) != pattern[i])
			return false;
	for (size_t i = 0; i < after; i++)
		if (to_lower(key.s[key.len - after + i]) != rest[i])
			return false;
	return true;
}

static bool names_program(struct ab_text key)
{
	for (size_t i = 0; i < AB_COUNT(programs); i++)
		if (is_key(key, programs[i]))
			return true;
	return false;
}

/* An alias for a git command, which is judged when it is used. */
static bool is_own_alias(const struct ab_field *value)
{
	return value->text.len && value->text.s[0] != AB_UNKNOWN && value->text.s[0] != '!' &&
	       !memmem(value->text.s, value->text.len, "-c", 2);
}

/* `git config KEY VALUE`, `git config set KEY VALUE`. Other keys do no harm. */
static bool sets_program(const struct ab_opts *git, const struct ab_simple *command,
			 const struct ab_operands *words)
{
	size_t at = 1;

	if (words->len < 3 || !ab_field_is(words->v[0], "config") ||
	    ab_tool_given(git, command, 1, "--get --get-* -l --list --unset --unset-all"))
		return false;
	if (ab_field_is(words->v[1], "set"))
		at = 2;
	return words->len > at + 1 && names_program(words->v[at]->text) &&
	       !(is_key(words->v[at]->text, "alias.*") && is_own_alias(words->v[at + 1]));
}

static bool is_letter(char c)
{
	return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

/* "src/main.c", but not "v1.2" or "release-1.x", which are versions. */
static bool has_extension(struct ab_text name)
{
	uint32_t dot = name.len;

	while (dot > 0 && name.len - dot < 6 && name.s[dot - 1] != '.')
		dot--;
	return dot > 1 && dot < name.len && name.s[dot - 1] == '.' && is_letter(name.s[dot]) &&
	       is_letter(name.s[dot - 2]) && !memchr(name.s + dot, '/', name.len - dot);
}

static bool is_path(const struct ab_field *f)
{
	return ab_field_is(f, ".") || ab_field_is(f, ":/") || f->pattern ||
	       ab_text_starts(f->text, "./") || ab_text_starts(f->text, "../") ||
	       has_extension(f->text);
}

/*
 * checkout takes a branch or files. It takes files after "--", with two or more
 * words, or if the only word looks like a path.
 */
static bool checks_out_files(const struct ab_opts *git, const struct ab_simple *command,
			     const struct ab_operands *operands)
{
	if (operands->len < 2 || !ab_field_is(operands->v[0], "checkout") ||
	    ab_tool_given(git, command, 1, "-b -B --orphan -t --track -d --detach --help -h"))
		return false;
	for (size_t i = 2; i + 1 < command->argc; i++)
		if (ab_field_is(&command->argv[i], "--"))
			return true;
	return operands->len > 2 || is_path(operands->v[1]);
}

static bool is_branch_forced(const struct ab_opts *git, const struct ab_simple *command,
			     const struct ab_operands *operands)
{
	return operands->len > 1 && ab_field_is(operands->v[0], "branch") &&
	       ab_tool_given(git, command, 1, "-d --delete") &&
	       ab_tool_given(git, command, 1, "-f --force");
}

/* `git -c KEY=VALUE`: keys that only change the output. */
static const char looks[][23] = {
	"color.*",
	"core.quotepath",
	"advice.*",
	"log.*",
	"core.abbrev",
	"column.*",
	"diff.renames",
	"diff.context",
	"diff.color*",
	"safe.directory",
	"core.precomposeunicode",
	"status.*",
	"i18n.*",
	"diff.mnemonicprefix",
	"diff.noprefix",
	"diff.algorithm",
	"core.optionallocks",
};

static bool is_look(struct ab_text setting)
{
	const char *equals = memchr(setting.s, '=', setting.len);

	if (ab_text_is(setting, "core.pager=cat") || ab_text_is(setting, "core.pager="))
		return true;
	if (equals)
		setting.len = (uint32_t)(equals - setting.s);
	for (size_t i = 0; i < AB_COUNT(looks); i++)
		if (is_key(setting, looks[i]))
			return true;
	return false;
}

static void match_subcommand(const struct ab_simple *command, size_t at, bool plain,
			     struct ab_hits *hits)
{
	const struct ab_opts git = ab_grammar_sub("git", command->argv[at].text);
	struct ab_simple rest = *command;
	struct ab_operands operands;

	rest.argv += at - 1;
	rest.argc -= at - 1;
	ab_tool_match(&ab_tools_git, &tools[0], &git, &rest, hits);
	ab_tool_operands(&git, &rest, &operands);
	if (checks_out_files(&git, &rest, &operands) || is_branch_forced(&git, &rest, &operands))
		ab_hit_because(hits, DISCARD, command->range, UNCOMMITTED);
	if (sets_program(&git, &rest, &operands))
		ab_hit_because(hits, AB_RULE_PERSISTENCE, command->range,
			       "Makes later git commands run a program.");
	if (plain && ab_tool_plain(command))
		ab_tool_match(&ab_tools_git, &read_tool, &git, &rest, hits);
}

/* A reading command is not plain if an option before it configures or replaces a
 * program, or is unknown. */
void ab_match_git(const struct ab_scene *scene, const struct ab_simple *command,
		  struct ab_hits *hits)
{
	struct ab_opt_walk w;
	struct ab_opts git;
	enum ab_opt what;
	bool plain = true;

	(void)scene;
	if (!ab_text_is(command->name, "git"))
		return;
	git = ab_grammar_as(command, "git");
	ab_opt_begin(&w, &git, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END && what != AB_OPT_OPERAND)
		if ((ab_opt_is(&w, what, 'c', NULL) && w.value.text.s && !is_look(w.value.text)) ||
		    ab_opt_is(&w, what, 0, "config-env") || ab_opt_is(&w, what, 0, "git-dir") ||
		    (ab_opt_is(&w, what, 0, "exec-path") && w.value.text.s) || w.unsure)
			plain = false;
	if (what == AB_OPT_END)
		return;
	match_subcommand(command, w.index, plain, hits);
	if (w.maybe_value && w.index + 1 < command->argc)
		match_subcommand(command, w.index + 1, false, hits);
}
