/*
 * git: commands that publish, discard work, make a program run later, or only read. Most are in
 * tables/git.txt and tables/git_reads.txt; here is what needs code.
 */
#include "shell/command/grammar.h"
#include "shell/tools/tool.h"

/* Configuration keys that name a program, or a file that names one. */
static const char programs[] =
	"alias.* core.hookspath core.fsmonitor core.sshcommand core.pager core.editor "
	"core.askpass core.gitproxy core.attributesfile core.alternaterefscommand "
	"credential.*helper filter.* diff.*command diff.*textconv diff.external merge.*driver "
	"mergetool.* difftool.* include.path includeif.* init.templatedir sequence.editor "
	"gpg.*program protocol.*allow url.* pager.* browser.* man.* web.browser uploadpack.* "
	"receive.*hook remote.*.vcs remote.*uploadpack remote.*receivepack sendemail.* "
	"gc.recentobjectshook trailer.* interactive.difffilter submodule.*update fsmonitor.* "
	"tar.*";

/* An alias for a git command, which is judged when it is used. */
static bool is_own_alias(const struct ab_field *value)
{
	return value->text.len && value->text.s[0] != AB_UNKNOWN && value->text.s[0] != '!' &&
	       !ab_text_contains(value->text, "-c");
}

/* `git config KEY VALUE`, `git config set KEY VALUE`. Other keys do no harm. */
static bool sets_program(const struct ab_grammar *git, const struct ab_simple *command,
			 const struct ab_operands *words)
{
	size_t at = 1;

	if (words->len < 3 || !ab_field_is(words->v[0], "config") ||
	    ab_tool_given(git, command, 1, "--get --get-* -l --list --unset --unset-all"))
		return false;
	if (ab_field_is(words->v[1], "set"))
		at = 2;
	return words->len > at + 1 && ab_matches_listed(programs, words->v[at]->text, true) &&
	       !(ab_matches_listed("alias.*", words->v[at]->text, true) &&
		 is_own_alias(words->v[at + 1]));
}

/* "src/main.c", but not "v1.2" or "release-1.x", which are versions. */
static bool has_extension(struct ab_text name)
{
	uint32_t dot = name.len;

	while (dot > 0 && name.len - dot < 6 && name.s[dot - 1] != '.')
		dot--;
	return dot > 1 && dot < name.len && name.s[dot - 1] == '.' && ab_is_letter(name.s[dot]) &&
	       ab_is_letter(name.s[dot - 2]) && !ab_text_has(ab_text_rest(name, dot), '/');
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
static bool checks_out_files(const struct ab_grammar *git, const struct ab_simple *command,
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

static bool is_branch_forced(const struct ab_grammar *git, const struct ab_simple *command,
			     const struct ab_operands *operands)
{
	return operands->len > 1 && ab_field_is(operands->v[0], "branch") &&
	       ab_tool_given(git, command, 1, "-d --delete") &&
	       ab_tool_given(git, command, 1, "-f --force");
}

/* `git -c KEY=VALUE`: keys that only change the output. */
static const char looks[] =
	"color.* core.quotepath advice.* log.* core.abbrev column.* diff.renames diff.context "
	"diff.color* safe.directory core.precomposeunicode status.* i18n.* "
	"diff.mnemonicprefix diff.noprefix diff.algorithm core.optionallocks";

static bool is_look(struct ab_text setting)
{
	if (ab_text_is(setting, "core.pager=cat") || ab_text_is(setting, "core.pager="))
		return true;
	return ab_matches_listed(looks, ab_text_cut(&setting, '='), true);
}

static void match_subcommand(const struct ab_simple *command, size_t at, bool plain,
			     struct ab_hits *hits)
{
	const struct ab_grammar *git = ab_grammar_sub("git", command->argv[at].text);
	struct ab_simple rest = *command;
	struct ab_operands operands;

	rest.argv += at - 1;
	rest.argc -= at - 1;
	ab_tool_match(&ab_tools_git, ab_tools_git.deeds, git, &rest, hits);
	ab_tool_operands(git, &rest, &operands);
	if (checks_out_files(git, &rest, &operands) || is_branch_forced(git, &rest, &operands))
		ab_hit_because(hits, AB_RULE_GIT_DISCARD, command->range,
			       "Discards uncommitted changes.");
	if (sets_program(git, &rest, &operands))
		ab_hit_because(hits, AB_RULE_PERSISTENCE, command->range,
			       "Makes later git commands run a program.");
	if (plain && ab_tool_plain(command))
		ab_tool_match(&ab_tools_git_reads, ab_tools_git_reads.deeds, git, &rest, hits);
}

/* A reading command is not plain if an option before it configures or replaces a
 * program, or is unknown. */
void ab_match_git(const struct ab_simple *command, struct ab_hits *hits)
{
	struct ab_opt_walk w;
	bool plain = true;

	if (!ab_text_is(command->name, "git"))
		return;
	w = ab_opt_begin_as(command, "git");
	while (ab_opt_next(&w) && w.what != AB_OPT_OPERAND)
		if ((ab_opt_is(&w, 'c', NULL) && w.value.text.s && !is_look(w.value.text)) ||
		    ab_opt_is(&w, 0, "config-env") || ab_opt_is(&w, 0, "git-dir") ||
		    (ab_opt_is(&w, 0, "exec-path") && w.value.text.s) || w.unsure)
			plain = false;
	if (w.what == AB_OPT_END)
		return;
	match_subcommand(command, w.index, plain, hits);
	if (w.maybe_value && w.index + 1 < command->argc)
		match_subcommand(command, w.index + 1, false, hits);
}
