/*
 * Commands that only read and print: those listed here, without the options that
 * write or run something.
 */
#include <strings.h>

#include "base/data/mem.h"
#include "shell/command/grammar.h"
#include "shell/command/secret_files.h"
#include "shell/syntax/name_table.h"
#include "shell/command/name_index.h"
#include "shell/tools/tool.h"

#define READ AB_RULE_SAFE_READ

/* Sorted by name. */
static const struct ab_deed deeds[] = {
	{ "any", "", .rule = READ },
	{ "bat", "", "", "--pager --config-file --generate-config-file cache", READ },
	/* A word without + sets the time. */
	{ "date", "", "", "-s --set", READ, .bare = true },
	{ "date", "+*", "", "-s --set", READ, .bare = true },
	{ "declare", "", "-p", "", READ },
	{ "declare", "", .rule = READ, .bare = true },
	/* Another program compares. */
	{ "diffs", "", "", "-o --output --diff-program", READ },
	{ "dmesg", "", "", "-c -C -n -D -E --clear --read-clear --console-*", READ },
	{ "fd", "", "", "-x -X --exec --exec-batch", READ },
	{ "file", "", "", "-C --compile", READ },
	{ "find", "", "", "-exec -execdir -ok -okdir -delete -fprint* -fls", READ },
	{ "history", "", "", "-c -d -a -n -r -w -p -s", READ },
	{ "ip", "*", "", "-b -batch -force", READ, .bare = true },
	{ "ip", "* show|list|ls|lst|get", "", "-b -batch -force", READ },
	{ "journalctl", "", "",
	  "--vacuum-* --rotate --flush --sync --relinquish-var --smart-* "
	  "--update-catalog --setup-keys",
	  READ },
	{ "less", "", "", "-o -O -k --log-file --LOG-FILE --lesskey-* +*", READ },
	{ "lookup", "", "-v -V", "", READ },
	{ "lsof", "", "", "-D", READ },
	{ "man", "", "", "-P --pager -H --html -C --config-file", READ },
	{ "nothing", "", .rule = READ, .bare = true },
	/* A second name is written to. */
	{ "one", "", .rule = READ, .bare = true },
	{ "one", "*", .rule = READ, .bare = true },
	{ "output", "", "", "-o --output", READ },
	/* With -v it sets a variable, possibly PATH. */
	{ "printed", "", "", "-v", READ },
	{ "rg", "", "", "--pre --hostname-bin", READ },
	{ "sort", "", "", "-o --output --compress-program --files0-from", READ },
	{ "ss", "", "", "-K --kill -D", READ },
	{ "systemctl",
	  "status|list-*|show|show-environment|is-*|cat|get-default|"
	  "list-dependencies",
	  "", "-H --host -M --machine", READ },
	{ "systemctl", "", "", "-H --host -M --machine", READ, .bare = true },
	{ "top", "", "-b --batch", "", READ },
	{ "tree", "", "", "-o -R --output", READ },
	{ "unzip", "", "-l -v -Z -t", "", READ },
	{ "xxd", "", "", "-r --revert -revert", READ, .bare = true },
	{ "xxd", "*", "", "-r --revert -revert", READ, .bare = true },
	{ "yq", "", "", "-i --inplace --in-place -s --split-exp", READ },
	/* It can also remove and write files. */
	{ "zstd", "", "",
	  "--rm -o --output-dir-flat --output-dir-mirror --train* --patch-from --trace", READ },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ ":", "any" },
	{ "[", "any" },
	{ "[[", "any" },
	{ "alias", "nothing" },
	{ "arch", "any" },
	{ "b2sum", "any" },
	{ "base32", "any" },
	{ "base64", "any" },
	{ "basename", "any" },
	{ "bat", "bat" },
	{ "batcat", "bat" },
	{ "bc", "any" },
	{ "break", "any" },
	{ "bzcat", "any" },
	{ "bzgrep", "any" },
	{ "cal", "any" },
	{ "cat", "any" },
	{ "cd", "any" },
	{ "chdir", "any" },
	{ "cksum", "any" },
	{ "clear", "any" },
	{ "cmp", "any" },
	{ "colrm", "any" },
	{ "column", "any" },
	{ "comm", "any" },
	{ "command", "lookup" },
	{ "continue", "any" },
	{ "cut", "any" },
	{ "date", "date" },
	{ "declare", "declare" },
	{ "df", "any" },
	{ "diff", "any" },
	{ "diff3", "diffs" },
	{ "dir", "any" },
	{ "dircolors", "any" },
	{ "dirname", "any" },
	{ "dirs", "any" },
	{ "dmesg", "dmesg" },
	{ "du", "any" },
	{ "echo", "any" },
	{ "egrep", "any" },
	{ "env", "nothing" },
	{ "exa", "any" },
	{ "exit", "any" },
	{ "expand", "any" },
	{ "export", "declare" },
	{ "expr", "any" },
	{ "eza", "any" },
	{ "factor", "any" },
	{ "false", "any" },
	{ "fd", "fd" },
	{ "fdfind", "fd" },
	{ "fgrep", "any" },
	{ "file", "file" },
	{ "find", "find" },
	{ "findmnt", "any" },
	{ "fmt", "any" },
	{ "fold", "any" },
	{ "free", "any" },
	{ "getconf", "any" },
	{ "getent", "any" },
	{ "getopts", "any" },
	{ "grep", "any" },
	{ "groups", "any" },
	{ "hash", "nothing" },
	{ "head", "any" },
	{ "hexdump", "any" },
	{ "hexyl", "any" },
	{ "history", "history" },
	{ "hostname", "nothing" },
	{ "id", "any" },
	{ "ifconfig", "one" },
	{ "iostat", "any" },
	{ "ip", "ip" },
	{ "jobs", "nothing" },
	{ "join", "any" },
	{ "journalctl", "journalctl" },
	{ "jq", "any" },
	{ "last", "any" },
	{ "less", "less" },
	{ "locale", "any" },
	{ "locate", "any" },
	{ "logname", "any" },
	{ "look", "any" },
	{ "ls", "any" },
	{ "lsattr", "any" },
	{ "lsb_release", "any" },
	{ "lsblk", "any" },
	{ "lscpu", "any" },
	{ "lsd", "any" },
	{ "lsmem", "any" },
	{ "lsmod", "any" },
	{ "lsns", "any" },
	{ "lsof", "lsof" },
	{ "lspci", "any" },
	{ "lsusb", "any" },
	{ "man", "man" },
	{ "md5sum", "any" },
	{ "modinfo", "any" },
	{ "more", "any" },
	{ "mountpoint", "any" },
	{ "namei", "any" },
	{ "netstat", "any" },
	{ "nl", "any" },
	{ "nproc", "any" },
	{ "numfmt", "any" },
	{ "od", "any" },
	{ "paste", "any" },
	{ "pathchk", "any" },
	{ "pgrep", "any" },
	{ "pidof", "any" },
	{ "plocate", "any" },
	{ "popd", "any" },
	{ "pr", "any" },
	{ "printf", "printed" },
	{ "ps", "any" },
	{ "pstree", "any" },
	{ "pushd", "any" },
	{ "pwd", "any" },
	{ "readelf", "any" },
	{ "readlink", "any" },
	{ "realpath", "any" },
	{ "return", "any" },
	{ "rev", "any" },
	{ "rg", "rg" },
	{ "sdiff", "diffs" },
	{ "seq", "any" },
	{ "set", "any" },
	{ "sha1sum", "any" },
	{ "sha224sum", "any" },
	{ "sha256sum", "any" },
	{ "sha384sum", "any" },
	{ "sha512sum", "any" },
	{ "shift", "any" },
	{ "shopt", "any" },
	{ "shuf", "output" },
	{ "sleep", "any" },
	{ "sort", "sort" },
	{ "ss", "ss" },
	{ "stat", "any" },
	{ "strings", "any" },
	{ "sum", "any" },
	{ "systemctl", "systemctl" },
	{ "tac", "any" },
	{ "tail", "any" },
	{ "test", "any" },
	{ "times", "any" },
	{ "tokei", "any" },
	{ "top", "top" },
	{ "tr", "any" },
	{ "tree", "tree" },
	{ "true", "any" },
	{ "tsort", "any" },
	{ "tty", "any" },
	{ "type", "any" },
	{ "typeset", "declare" },
	{ "ulimit", "nothing" },
	{ "umask", "nothing" },
	{ "uname", "any" },
	{ "unexpand", "any" },
	{ "uniq", "one" },
	{ "unzip", "unzip" },
	{ "uptime", "any" },
	{ "users", "any" },
	{ "vdir", "any" },
	{ "vmstat", "any" },
	{ "w", "nothing" },
	{ "wait", "any" },
	{ "wc", "any" },
	{ "whereis", "any" },
	{ "which", "any" },
	{ "who", "any" },
	{ "whoami", "any" },
	{ "xxd", "xxd" },
	{ "xzcat", "any" },
	{ "yq", "yq" },
	{ "zcat", "any" },
	{ "zgrep", "any" },
	{ "zless", "any" },
	{ "zstdcat", "zstd" },
};

const struct ab_toolbox ab_tools_reads = { tools, AB_COUNT(tools), deeds, AB_COUNT(deeds),
					   AB_TABLE_READS };

/* Parts of variable names that mark a secret. */
static const char secrets[][8] = {
	"KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "PRIVATE", "COOKIE",
};

static bool contains_part(struct ab_text text, const char *part)
{
	size_t len = strlen(part);

	for (uint32_t i = 0; i + len <= text.len; i++)
		if (strncasecmp(text.s + i, part, len) == 0)
			return true;
	return false;
}

static bool prints_harmless_variable(const struct ab_simple *command)
{
	struct ab_text name;

	if (command->argc != 2)
		return false;
	name = command->argv[1].text;
	for (size_t i = 0; i < AB_COUNT(secrets); i++)
		if (contains_part(name, secrets[i]))
			return false;
	return true;
}

/*
 * Programs that only print for `-v`, `-h`, `version` and `help`. Sorted.
 */
/* clang-format off */
static const char known[][10] = {
	"bun",	    "cargo",	 "clang",   "cmake",  "curl",	 "deno",
	"docker",   "gcc",	 "gh",	    "git",    "go",	 "gradle",
	"helm",	    "hugo",	 "java",    "javac",  "kubectl", "meson",
	"minikube", "mvn",	 "nginx",   "ninja",  "node",	 "npm",
	"npx",	    "nvim",	 "openssl", "perl",   "php",	 "pip",
	"pip3",	    "pnpm",	 "podman",  "poetry", "ruby",	 "rustc",
	"rustup",   "terraform", "tofu",    "tsc",    "uv",	 "yarn",
};
/* clang-format on */

static bool asks_version(const struct ab_simple *command)
{
	static const char always[][10] = { "--version", "--help", "-V" };
	static const char where_known[][9] = { "-v", "-h", "version", "help", "-version" };

	if (command->argc != 2 || command->name.len == 0)
		return false;
	for (size_t i = 0; i < AB_COUNT(always); i++)
		if (ab_field_is(&command->argv[1], always[i]))
			return true;
	for (size_t i = 0; i < AB_COUNT(where_known); i++)
		if (ab_field_is(&command->argv[1], where_known[i]))
			return AB_LOOKUP_WORD(known, command->name);
	return false;
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
	const struct ab_opts opts = ab_grammar_as(command, "sed");
	struct ab_opt_walk w;
	enum ab_opt what;
	bool seen = false;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (ab_opt_is(&w, what, 'e', "expression")) {
			seen = true;
			if (!w.value.text.s || !sed_prints(w.value.text))
				return false;
		} else if (what == AB_OPT_LETTER) {
			if (!is_in(w.letter, "nErsuzl"))
				return false;
		} else if (what == AB_OPT_LONG) {
			if (!ab_listed(harmless, w.name))
				return false;
		}
	}
	if (seen)
		return true;
	/* Without -e the first operand is the script. */
	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END)
		if (what == AB_OPT_OPERAND)
			return sed_prints(w.value.text);
	return false;
}

/* A comparison with > counts as a redirection, which at worst loses the allow. */
static bool awk_prints(struct ab_text code)
{
	static const char words[][8] = { "system", "getline", ">", "|", "@", "close(", "fflush" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(code.s, code.len, words[i], strlen(words[i])))
			return false;
	return true;
}

static bool awk_only_prints(const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar_as(command, "awk");
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		if (what == AB_OPT_OPERAND)
			return awk_prints(w.value.text);
		if (what != AB_OPT_LETTER || !is_in(w.letter, "Fv"))
			return false;
	}
	return false;
}

static bool is_awk(struct ab_text name)
{
	return ab_text_is(name, "awk") || ab_text_is(name, "gawk") || ab_text_is(name, "mawk") ||
	       ab_text_is(name, "nawk");
}

/* Programs that list or describe files and do not print what is in them. Sorted. */
static const char lists[][10] = {
	"[",	 "[[",	     "basename", "cd",	   "df",   "dir",    "dirname",
	"du",	 "echo",     "exa",	 "eza",	   "fd",   "fdfind", "file",
	"find",	 "findmnt",  "ls",	 "lsattr", "lsd",  "namei",  "printf",
	"pushd", "readlink", "realpath", "stat",   "test", "tree",   "vdir",
};

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
			return !AB_LOOKUP_WORD(lists, command->name);
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
	else if (is_awk(command->name)		    ? awk_only_prints(command)
		 : ab_text_is(command->name, "sed") ? sed_only_prints(command)
						    : ab_text_is(command->name, "printenv") &&
							      prints_harmless_variable(command))
		ab_hit_add(hits, READ, command->range);
	else
		ab_toolbox_match(&ab_tools_reads, command, hits);
}
