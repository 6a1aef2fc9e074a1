/*
 * Commands that only read and print: those of tables/reads.txt, and what needs code.
 */
#include "shell/command/grammar.h"
#include "shell/command/secret_files.h"
#include "shell/syntax/name_table.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

static bool prints_harmless_variable(const struct ab_simple *command)
{
	return command->argc == 2 &&
	       !ab_contains_any_case("KEY TOKEN SECRET PASS CRED AUTH PRIVATE COOKIE",
				     command->argv[1].text);
}

/*
 * Programs that only print for `-v`, `-h`, `version` and `help`.
 */
static const char known[] =
	"bun cargo clang cmake curl deno docker gcc gh git go gradle helm hugo java javac "
	"kubectl meson minikube mvn nginx ninja node npm npx nvim openssl perl php pip pip3 "
	"pnpm podman poetry ruby rustc rustup terraform tofu tsc uv yarn";

static bool asks_version(const struct ab_simple *command)
{
	struct ab_text word;

	if (command->argc != 2 || command->name.len == 0)
		return false;
	word = command->argv[1].text;
	if (word.len == 0 || !strchr("-hv", word.s[0]))
		return false;
	return ab_text_is(word, "--version") || ab_text_is(word, "--help") ||
	       ab_text_is(word, "-V") ||
	       (ab_listed("-v -h version help -version", word) && ab_listed(known, command->name));
}

/*
 * sed and awk scripts that only print. Anything not understood counts as more than
 * printing.
 */
static bool is_in(char c, const char *set)
{
	return c && strchr(set, c);
}

static char take_byte(struct ab_text *t)
{
	*t = ab_text_rest(*t, 1);
	return t->s[-1];
}

/* Skip past the next unescaped delimiter. */
static bool skip_section(struct ab_text *t, char delimiter)
{
	while (t->len) {
		char c = take_byte(t);

		if (c == '\\' && t->len)
			take_byte(t);
		else if (c == delimiter)
			return true;
	}
	return false;
}

static bool skip_address(struct ab_text *t)
{
	for (;;) {
		ab_text_skip_set(t, " \t;\n0123456789$,!~+");
		if (!ab_text_skip(t, "/"))
			return true;
		if (!skip_section(t, '/'))
			return false;
		ab_text_skip_set(t, "IM");
	}
}

/* Commands without an operand; flags of s that neither run nor write. */
#define SED_COMMANDS "pdqQ=nNhHgGxDPl{}zF"
#define SED_FLAGS "gpiIm0123456789"

static bool sed_prints(struct ab_text script)
{
	while (skip_address(&script) && script.len) {
		char what = take_byte(&script);

		if (is_in(what, SED_COMMANDS))
			continue;
		if ((what != 's' && what != 'y') || !script.len)
			return false;
		what = take_byte(&script);
		if (is_in(what, "\\\n") || !skip_section(&script, what) ||
		    !skip_section(&script, what))
			return false;
		ab_text_skip_set(&script, SED_FLAGS);
		ab_text_skip_set(&script, " \t");
		if (script.len && !is_in(script.s[0], ";\n}"))
			return false;
	}
	return script.len == 0;
}

static bool sed_only_prints(const struct ab_simple *command)
{
	static const char harmless[] = "expression line-length null-data posix quiet "
				       "regexp-extended sandbox separate silent unbuffered";
	struct ab_opt_walk first;
	bool seen = false;

	for (struct ab_opt_walk w = ab_opt_begin_as(command, "sed"); ab_opt_next(&w);) {
		if (ab_opt_is(&w, 'e', "expression")) {
			seen = true;
			if (!w.value.text.s || !sed_prints(w.value.text))
				return false;
		} else if (w.what == AB_OPT_LETTER) {
			if (!is_in(w.letter, "nErsuzl"))
				return false;
		} else if (w.what == AB_OPT_LONG) {
			if (!ab_listed(harmless, w.name))
				return false;
		}
	}
	if (seen)
		return true;
	/* Without -e the first operand is the script. */
	first = ab_opt_begin_as(command, "sed");
	return ab_opt_next_operand(&first) && sed_prints(first.value.text);
}

/* A comparison with > counts as a redirection, which at worst loses the allow. */
static bool awk_prints(struct ab_text code)
{
	return !ab_contains_listed("system getline > | @ close( fflush", code);
}

static bool awk_only_prints(const struct ab_simple *command)
{
	for (struct ab_opt_walk w = ab_opt_begin_as(command, "awk"); ab_opt_next(&w);) {
		if (w.what == AB_OPT_OPERAND)
			return awk_prints(w.value.text);
		if (w.what != AB_OPT_LETTER || !is_in(w.letter, "Fv"))
			return false;
	}
	return false;
}

static bool is_awk(const struct ab_simple *command)
{
	return ab_command_in(command, AB_TABLE_LANGUAGES) &&
	       ab_listed("awk gawk mawk nawk", command->name);
}

/* Programs that list or describe files and do not print what is in them. */
static const char lists[] =
	"[ [[ basename cd df dir dirname du echo exa eza fd fdfind file find findmnt ls "
	"lsattr lsd namei printf pushd readlink realpath stat test tree vdir";

/* grep -r x /etc, cat of all in /etc: among the files are some with passwords. */
static bool prints_secret_tree(const struct ab_simple *command)
{
	if (!ab_command_shows(command, AB_SIGN_SLASH))
		return false;
	for (size_t i = 1; i < command->argc; i++) {
		struct ab_text word = command->argv[i].text;

		if (word.len == 0 || word.s[0] != '/')
			continue;
		while (word.len > 1 && strchr("*/.", word.s[word.len - 1]))
			word.len--;
		if (ab_secret_tree(word))
			return !ab_listed(lists, command->name);
	}
	return false;
}

void ab_match_reads(const struct ab_simple *command, struct ab_hits *hits)
{
	if (!ab_tool_plain(command) || prints_secret_tree(command))
		return;
	if (asks_version(command))
		ab_hit_add(hits, AB_RULE_VERSION_CHECK, command->range);
	else if (is_awk(command)		    ? awk_only_prints(command)
		 : ab_text_is(command->name, "sed") ? sed_only_prints(command)
						    : ab_text_is(command->name, "printenv") &&
							      prints_harmless_variable(command))
		ab_hit_add(hits, AB_RULE_SAFE_READ, command->range);
	else
		ab_toolbox_match(&ab_tools_reads, command, hits);
}
