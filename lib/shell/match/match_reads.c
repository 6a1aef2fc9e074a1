/*
 * Commands that only read and print: those listed here, without the options that
 * write or run something.
 */
#include "shell/command/grammar.h"
#include "shell/command/secret_files.h"
#include "shell/syntax/name_table.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

#define READ AB_RULE_SAFE_READ

static const struct ab_deed deeds[] = {
	AB_PROGRAMS(
		": [ [[ arch b2sum base32 base64 basename bc break bzcat bzgrep cal cat cd chdir "
		"cksum clear cmp colrm column comm continue cut df diff dir dircolors dirname dirs "
		"du echo egrep exa exit expand expr eza factor false fgrep findmnt fmt fold free "
		"getconf getent getopts grep groups head hexdump hexyl id iostat join jq last "
		"locale locate logname look ls lsattr lsb_release lsblk lscpu lsd lsmem lsmod lsns "
		"lspci lsusb md5sum modinfo more mountpoint namei netstat nl nproc numfmt od paste "
		"pathchk pgrep pidof plocate popd pr ps pstree pushd pwd readelf readlink realpath "
		"return rev seq set sha1sum sha224sum sha256sum sha384sum sha512sum shift shopt "
		"sleep stat strings sum tac tail test times tokei tr true tsort tty type uname "
		"unexpand uptime users vdir vmstat wait wc whereis which who whoami xzcat zcat "
		"zgrep zless",
		AB_HELP_ALONE, "", .rule = READ),
	AB_PROGRAMS("bat batcat", AB_HELP_ALONE, "", "",
		    "--pager --config-file --generate-config-file cache", READ),
	/* A word without + sets the time. */
	AB_PROGRAMS("date", AB_HELP_ALONE, "", "", "-s --set", READ, .bare = true),
	{ AB_ALSO, "+*", "", "-s --set", READ, .bare = true },
	AB_PROGRAMS("declare export typeset", AB_HELP_ALONE, "", "-p", "", READ),
	{ AB_ALSO, "", .rule = READ, .bare = true },
	/* Another program compares. */
	AB_PROGRAMS("diff3 sdiff", AB_HELP_ALONE, "", "", "-o --output --diff-program", READ),
	AB_PROGRAMS("dmesg", AB_HELP_ALONE, "", "",
		    "-c -C -n -D -E --clear --read-clear --console-*", READ),
	AB_PROGRAMS("fd fdfind", AB_HELP_ALONE, "", "", "-x -X --exec --exec-batch", READ),
	AB_PROGRAMS("file", AB_HELP_ALONE, "", "", "-C --compile", READ),
	AB_PROGRAMS("find", AB_HELP_ALONE, "", "",
		    "-exec -execdir -ok -okdir -delete -fprint* -fls", READ),
	AB_PROGRAMS("history", AB_HELP_ALONE, "", "", "-c -d -a -n -r -w -p -s", READ),
	AB_PROGRAMS("ip", AB_HELP_ALONE, "*", "", "-b -batch -force", READ, .bare = true),
	{ AB_ALSO, "* show|list|ls|lst|get", "", "-b -batch -force", READ },
	AB_PROGRAMS("journalctl", AB_HELP_ALONE, "", "",
		    "--vacuum-* --rotate --flush --sync --relinquish-var --smart-* "
		    "--update-catalog --setup-keys",
		    READ),
	AB_PROGRAMS("less", AB_HELP_ALONE, "", "", "-o -O -k --log-file --LOG-FILE --lesskey-* +*",
		    READ),
	AB_PROGRAMS("command", AB_HELP_ALONE, "", "-v -V", "", READ),
	AB_PROGRAMS("lsof", AB_HELP_ALONE, "", "", "-D", READ),
	AB_PROGRAMS("man", AB_HELP_ALONE, "", "", "-P --pager -H --html -C --config-file", READ),
	AB_PROGRAMS("alias env hash hostname jobs ulimit umask w", AB_HELP_ALONE, "", .rule = READ,
		    .bare = true),
	/* A second name is written to. */
	AB_PROGRAMS("ifconfig uniq", AB_HELP_ALONE, "", .rule = READ, .bare = true),
	{ AB_ALSO, "*", .rule = READ, .bare = true },
	AB_PROGRAMS("shuf", AB_HELP_ALONE, "", "", "-o --output", READ),
	/* With -v it sets a variable, possibly PATH. */
	AB_PROGRAMS("printf", AB_HELP_ALONE, "", "", "-v", READ),
	AB_PROGRAMS("rg", AB_HELP_ALONE, "", "", "--pre --hostname-bin", READ),
	AB_PROGRAMS("sort", AB_HELP_ALONE, "", "", "-o --output --compress-program --files0-from",
		    READ),
	AB_PROGRAMS("ss", AB_HELP_ALONE, "", "", "-K --kill -D", READ),
	AB_PROGRAMS("systemctl", AB_HELP_ALONE,
		    "status|list-*|show|show-environment|is-*|cat|get-default|"
		    "list-dependencies",
		    "", "-H --host -M --machine", READ),
	{ AB_ALSO, "", "", "-H --host -M --machine", READ, .bare = true },
	AB_PROGRAMS("top", AB_HELP_ALONE, "", "-b --batch", "", READ),
	AB_PROGRAMS("tree", AB_HELP_ALONE, "", "", "-o -R --output", READ),
	AB_PROGRAMS("unzip", AB_HELP_ALONE, "", "-l -v -Z -t", "", READ),
	AB_PROGRAMS("xxd", AB_HELP_ALONE, "", "", "-r --revert -revert", READ, .bare = true),
	{ AB_ALSO, "*", "", "-r --revert -revert", READ, .bare = true },
	AB_PROGRAMS("yq", AB_HELP_ALONE, "", "", "-i --inplace --in-place -s --split-exp", READ),
	/* It can also remove and write files. */
	AB_PROGRAMS("zstdcat", AB_HELP_ALONE, "", "",
		    "--rm -o --output-dir-flat --output-dir-mirror --train* --patch-from --trace",
		    READ),
};

const struct ab_toolbox ab_tools_reads = { deeds, AB_COUNT(deeds), AB_TABLE_READS };

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
struct cursor {
	const char *p, *end;
};

static bool is_in(char c, const char *set)
{
	return c && strchr(set, c);
}

static void skip_any_of(struct cursor *c, const char *set)
{
	while (c->p < c->end && is_in(*c->p, set))
		c->p++;
}

/* Skip past the next unescaped delimiter. */
static bool skip_section(struct cursor *c, char delimiter)
{
	for (; c->p < c->end; c->p++) {
		if (*c->p == '\\' && c->p + 1 < c->end)
			c->p++;
		else if (*c->p == delimiter) {
			c->p++;
			return true;
		}
	}
	return false;
}

static bool skip_address(struct cursor *c)
{
	for (;;) {
		skip_any_of(c, " \t;\n0123456789$,!~+");
		if (c->p == c->end || *c->p != '/')
			return true;
		c->p++;
		if (!skip_section(c, '/'))
			return false;
		skip_any_of(c, "IM");
	}
}

/* Commands without an operand; flags of s that neither run nor write. */
#define SED_COMMANDS "pdqQ=nNhHgGxDPl{}zF"
#define SED_FLAGS "gpiIm0123456789"

static bool sed_prints(struct ab_text script)
{
	struct cursor c = { script.s, script.s + script.len };

	while (skip_address(&c) && c.p < c.end) {
		char what = *c.p++;

		if (is_in(what, SED_COMMANDS))
			continue;
		if ((what != 's' && what != 'y') || c.p == c.end)
			return false;
		what = *c.p++;
		if (is_in(what, "\\\n") || !skip_section(&c, what) || !skip_section(&c, what))
			return false;
		skip_any_of(&c, SED_FLAGS);
		skip_any_of(&c, " \t");
		if (c.p < c.end && !is_in(*c.p, ";\n}"))
			return false;
	}
	return c.p == c.end;
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

void ab_match_reads(const struct ab_scene *scene, const struct ab_simple *command,
		    struct ab_hits *hits)
{
	(void)scene;
	if (!ab_tool_plain(command) || prints_secret_tree(command))
		return;
	if (asks_version(command))
		ab_hit_add(hits, AB_RULE_VERSION_CHECK, command->range);
	else if (is_awk(command)		    ? awk_only_prints(command)
		 : ab_text_is(command->name, "sed") ? sed_only_prints(command)
						    : ab_text_is(command->name, "printenv") &&
							      prints_harmless_variable(command))
		ab_hit_add(hits, READ, command->range);
	else
		ab_toolbox_match(&ab_tools_reads, command, hits);
}
