/*
 * Commands that only read and print: what is listed here, without the options
 * that write or run something.
 */
#include <strings.h>

#include "base/mem.h"
#include "shell/lookup.h"
#include "shell/reads.h"
#include "shell/tool.h"

#define READ AB_RULE_SAFE_READ

static const struct ab_deed any[] = { { "", .rule = READ } };
static const struct ab_deed nothing[] = { { "", .rule = READ, .bare = true } };
/* A second name would be written. */
static const struct ab_deed one[] = {
	{ "", .rule = READ, .bare = true },
	{ "*", .rule = READ, .bare = true },
};
static const struct ab_deed xxd[] = {
	{ "", NULL, "-r --revert -revert", READ, .bare = true },
	{ "*", NULL, "-r --revert -revert", READ, .bare = true },
};
static const struct ab_deed output[] = {
	{ "", NULL, "-o --output", READ },
};
/* With -v it sets a variable, as `read` does: PATH, perhaps. */
static const struct ab_deed printed[] = { { "", NULL, "-v", READ } };
static const struct ab_deed sort[] = {
	{ "", NULL, "-o --output --compress-program --files0-from", READ },
};
static const struct ab_deed find[] = {
	{ "", NULL, "-exec -execdir -ok -okdir -delete -fprint* -fls", READ },
};
static const struct ab_deed tree[] = {
	{ "", NULL, "-o -R --output", READ },
};
static const struct ab_deed rg[] = {
	{ "", NULL, "--pre --hostname-bin", READ },
};
static const struct ab_deed fd[] = {
	{ "", NULL, "-x -X --exec --exec-batch", READ },
};
static const struct ab_deed bat[] = {
	{ "", NULL, "--pager --config-file --generate-config-file cache",
	  READ },
};
static const struct ab_deed less[] = {
	{ "", NULL, "-o -O -k --log-file --LOG-FILE --lesskey-* +*", READ },
};
static const struct ab_deed man[] = {
	{ "", NULL, "-P --pager -H --html -C --config-file", READ },
};
static const struct ab_deed file[] = {
	{ "", NULL, "-C --compile", READ },
};
static const struct ab_deed yq[] = {
	{ "", NULL, "-i --inplace --in-place -s --split-exp", READ },
};
static const struct ab_deed ss[] = { { "", NULL, "-K --kill -D", READ } };
static const struct ab_deed dmesg[] = {
	{ "", NULL, "-c -C -n -D -E --clear --read-clear --console-*", READ },
};
static const struct ab_deed journalctl[] = {
	{ "", NULL,
	  "--vacuum-* --rotate --flush --sync --relinquish-var --smart-* "
	  "--update-catalog --setup-keys",
	  READ },
};
static const struct ab_deed systemctl[] = {
	{ "status|list-*|show|show-environment|is-*|cat|get-default|"
	  "list-dependencies",
	  .rule = READ },
	{ "", .rule = READ, .bare = true },
};
static const struct ab_deed ip[] = {
	{ "*", NULL, "-b -batch -force", READ, .bare = true },
	{ "* show|list|ls|lst|get", NULL, "-b -batch -force", READ },
};
static const struct ab_deed top[] = { { "", "-b --batch", NULL, READ } };
static const struct ab_deed unzip[] = { { "", "-l -v -Z -t", NULL, READ } };
static const struct ab_deed lookup[] = { { "", "-v -V", NULL, READ } };
static const struct ab_deed declare[] = {
	{ "", "-p", NULL, READ },
	{ "", .rule = READ, .bare = true },
};
static const struct ab_deed history[] = {
	{ "", NULL, "-c -d -a -n -r -w -p -s", READ },
};
/* A word without + would be the time to set. */
static const struct ab_deed date[] = {
	{ "", NULL, "-s --set", READ, .bare = true },
	{ "+*", NULL, "-s --set", READ, .bare = true },
};

/* Sorted by program. */
static const struct ab_tool tools[] = {
	{ ":", AB_DEEDS(any) },
	{ "[", AB_DEEDS(any) },
	{ "[[", AB_DEEDS(any) },
	{ "alias", AB_DEEDS(nothing) },
	{ "arch", AB_DEEDS(any) },
	{ "b2sum", AB_DEEDS(any) },
	{ "base32", AB_DEEDS(any) },
	{ "base64", AB_DEEDS(any) },
	{ "basename", AB_DEEDS(any) },
	{ "bat", AB_DEEDS(bat) },
	{ "batcat", AB_DEEDS(bat) },
	{ "bc", AB_DEEDS(any) },
	{ "break", AB_DEEDS(any) },
	{ "bzcat", AB_DEEDS(any) },
	{ "bzgrep", AB_DEEDS(any) },
	{ "cal", AB_DEEDS(any) },
	{ "cat", AB_DEEDS(any) },
	{ "cd", AB_DEEDS(any) },
	{ "chdir", AB_DEEDS(any) },
	{ "cksum", AB_DEEDS(any) },
	{ "clear", AB_DEEDS(any) },
	{ "cmp", AB_DEEDS(any) },
	{ "colrm", AB_DEEDS(any) },
	{ "column", AB_DEEDS(any) },
	{ "comm", AB_DEEDS(any) },
	{ "command", AB_DEEDS(lookup) },
	{ "continue", AB_DEEDS(any) },
	{ "cut", AB_DEEDS(any) },
	{ "date", AB_DEEDS(date), { "drf", "date= reference= file=", false } },
	{ "declare", AB_DEEDS(declare) },
	{ "df", AB_DEEDS(any) },
	{ "diff", AB_DEEDS(any) },
	{ "diff3", AB_DEEDS(any) },
	{ "dir", AB_DEEDS(any) },
	{ "dircolors", AB_DEEDS(any) },
	{ "dirname", AB_DEEDS(any) },
	{ "dirs", AB_DEEDS(any) },
	{ "dmesg", AB_DEEDS(dmesg) },
	{ "du", AB_DEEDS(any) },
	{ "echo", AB_DEEDS(any) },
	{ "egrep", AB_DEEDS(any) },
	{ "env", AB_DEEDS(nothing) },
	{ "exa", AB_DEEDS(any) },
	{ "exit", AB_DEEDS(any) },
	{ "expand", AB_DEEDS(any) },
	{ "export", AB_DEEDS(declare) },
	{ "expr", AB_DEEDS(any) },
	{ "eza", AB_DEEDS(any) },
	{ "factor", AB_DEEDS(any) },
	{ "false", AB_DEEDS(any) },
	{ "fd", AB_DEEDS(fd) },
	{ "fdfind", AB_DEEDS(fd) },
	{ "fgrep", AB_DEEDS(any) },
	{ "file", AB_DEEDS(file) },
	{ "find", AB_DEEDS(find) },
	{ "findmnt", AB_DEEDS(any) },
	{ "fmt", AB_DEEDS(any) },
	{ "fold", AB_DEEDS(any) },
	{ "free", AB_DEEDS(any) },
	{ "getconf", AB_DEEDS(any) },
	{ "getent", AB_DEEDS(any) },
	{ "getopts", AB_DEEDS(any) },
	{ "grep", AB_DEEDS(any) },
	{ "groups", AB_DEEDS(any) },
	{ "hash", AB_DEEDS(nothing) },
	{ "head", AB_DEEDS(any) },
	{ "hexdump", AB_DEEDS(any) },
	{ "hexyl", AB_DEEDS(any) },
	{ "history", AB_DEEDS(history) },
	{ "hostname", AB_DEEDS(nothing) },
	{ "id", AB_DEEDS(any) },
	{ "ifconfig", AB_DEEDS(one) },
	{ "iostat", AB_DEEDS(any) },
	{ "ip", AB_DEEDS(ip) },
	{ "jobs", AB_DEEDS(nothing) },
	{ "join", AB_DEEDS(any) },
	{ "journalctl", AB_DEEDS(journalctl) },
	{ "jq", AB_DEEDS(any) },
	{ "last", AB_DEEDS(any) },
	{ "less", AB_DEEDS(less) },
	{ "locale", AB_DEEDS(any) },
	{ "locate", AB_DEEDS(any) },
	{ "logname", AB_DEEDS(any) },
	{ "look", AB_DEEDS(any) },
	{ "ls", AB_DEEDS(any) },
	{ "lsattr", AB_DEEDS(any) },
	{ "lsb_release", AB_DEEDS(any) },
	{ "lsblk", AB_DEEDS(any) },
	{ "lscpu", AB_DEEDS(any) },
	{ "lsd", AB_DEEDS(any) },
	{ "lsmem", AB_DEEDS(any) },
	{ "lsmod", AB_DEEDS(any) },
	{ "lsns", AB_DEEDS(any) },
	{ "lsof", AB_DEEDS(any) },
	{ "lspci", AB_DEEDS(any) },
	{ "lsusb", AB_DEEDS(any) },
	{ "man", AB_DEEDS(man) },
	{ "md5sum", AB_DEEDS(any) },
	{ "modinfo", AB_DEEDS(any) },
	{ "more", AB_DEEDS(any) },
	{ "mountpoint", AB_DEEDS(any) },
	{ "namei", AB_DEEDS(any) },
	{ "netstat", AB_DEEDS(any) },
	{ "nl", AB_DEEDS(any) },
	{ "nproc", AB_DEEDS(any) },
	{ "numfmt", AB_DEEDS(any) },
	{ "od", AB_DEEDS(any) },
	{ "paste", AB_DEEDS(any) },
	{ "pathchk", AB_DEEDS(any) },
	{ "pgrep", AB_DEEDS(any) },
	{ "pidof", AB_DEEDS(any) },
	{ "plocate", AB_DEEDS(any) },
	{ "popd", AB_DEEDS(any) },
	{ "pr", AB_DEEDS(any) },
	{ "printf", AB_DEEDS(printed) },
	{ "ps", AB_DEEDS(any) },
	{ "pstree", AB_DEEDS(any) },
	{ "pushd", AB_DEEDS(any) },
	{ "pwd", AB_DEEDS(any) },
	{ "readelf", AB_DEEDS(any) },
	{ "readlink", AB_DEEDS(any) },
	{ "realpath", AB_DEEDS(any) },
	{ "return", AB_DEEDS(any) },
	{ "rev", AB_DEEDS(any) },
	{ "rg", AB_DEEDS(rg), { "eABCgtTmfjMEr", "pre= glob= type=", false } },
	{ "sdiff", AB_DEEDS(output) },
	{ "seq", AB_DEEDS(any) },
	{ "set", AB_DEEDS(any) },
	{ "sha1sum", AB_DEEDS(any) },
	{ "sha224sum", AB_DEEDS(any) },
	{ "sha256sum", AB_DEEDS(any) },
	{ "sha384sum", AB_DEEDS(any) },
	{ "sha512sum", AB_DEEDS(any) },
	{ "shift", AB_DEEDS(any) },
	{ "shopt", AB_DEEDS(any) },
	{ "shuf", AB_DEEDS(output), { "inr", NULL, false } },
	{ "sleep", AB_DEEDS(any) },
	{ "sort",
	  AB_DEEDS(sort),
	  { "ktST", "key= field-separator= output= parallel=", false } },
	{ "ss", AB_DEEDS(ss) },
	{ "stat", AB_DEEDS(any) },
	{ "strings", AB_DEEDS(any) },
	{ "sum", AB_DEEDS(any) },
	{ "systemctl", AB_DEEDS(systemctl) },
	{ "tac", AB_DEEDS(any) },
	{ "tail", AB_DEEDS(any) },
	{ "test", AB_DEEDS(any) },
	{ "times", AB_DEEDS(any) },
	{ "tokei", AB_DEEDS(any) },
	{ "top", AB_DEEDS(top) },
	{ "tr", AB_DEEDS(any) },
	{ "tree", AB_DEEDS(tree) },
	{ "true", AB_DEEDS(any) },
	{ "tsort", AB_DEEDS(any) },
	{ "tty", AB_DEEDS(any) },
	{ "type", AB_DEEDS(any) },
	{ "typeset", AB_DEEDS(declare) },
	{ "ulimit", AB_DEEDS(nothing) },
	{ "umask", AB_DEEDS(nothing) },
	{ "uname", AB_DEEDS(any) },
	{ "unexpand", AB_DEEDS(any) },
	{ "uniq", AB_DEEDS(one), { "fsw", NULL, false } },
	{ "unzip", AB_DEEDS(unzip) },
	{ "uptime", AB_DEEDS(any) },
	{ "users", AB_DEEDS(any) },
	{ "vdir", AB_DEEDS(any) },
	{ "vmstat", AB_DEEDS(any) },
	{ "w", AB_DEEDS(any) },
	{ "wait", AB_DEEDS(any) },
	{ "wc", AB_DEEDS(any) },
	{ "whereis", AB_DEEDS(any) },
	{ "which", AB_DEEDS(any) },
	{ "who", AB_DEEDS(any) },
	{ "whoami", AB_DEEDS(any) },
	{ "xxd", AB_DEEDS(xxd), { "cglos", NULL, false } },
	{ "xzcat", AB_DEEDS(any) },
	{ "yq", AB_DEEDS(yq) },
	{ "zcat", AB_DEEDS(any) },
	{ "zgrep", AB_DEEDS(any) },
	{ "zless", AB_DEEDS(any) },
	{ "zstdcat", AB_DEEDS(any) },
};

const struct ab_toolbox ab_tools_reads = { tools, AB_COUNT(tools) };

/* Names that say that the value is a secret. */
static const char *const secrets[] = {
	"KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "PRIVATE", "COOKIE",
};

static bool contains(struct ab_text text, const char *part)
{
	size_t len = strlen(part);

	for (uint32_t i = 0; i + len <= text.len; i++)
		if (strncasecmp(text.s + i, part, len) == 0)
			return true;
	return false;
}

static bool prints_harmless(const struct ab_simple *command)
{
	struct ab_text name;

	if (command->argc != 2)
		return false;
	name = command->argv[1].text;
	for (size_t i = 0; i < AB_COUNT(secrets); i++)
		if (contains(name, secrets[i]))
			return false;
	return true;
}

/*
 * Programs that are well known to print and do nothing else for `-v`, `-h`,
 * `version` and `help`. Sorted.
 */
static const char *const known[] = {
	"bun",	    "cargo",	 "clang",   "cmake",  "curl",	 "deno",
	"docker",   "gcc",	 "gh",	    "git",    "go",	 "gradle",
	"helm",	    "hugo",	 "java",    "javac",  "kubectl", "meson",
	"minikube", "mvn",	 "nginx",   "ninja",  "node",	 "npm",
	"npx",	    "nvim",	 "openssl", "perl",   "php",	 "pip",
	"pip3",	    "pnpm",	 "podman",  "poetry", "ruby",	 "rustc",
	"rustup",   "terraform", "tofu",    "tsc",    "uv",	 "yarn",
};

static bool asks_version(const struct ab_simple *command)
{
	static const char *const always[] = { "--version", "--help", "-V" };
	static const char *const where_known[] = { "-v", "-h", "version",
						   "help", "-version" };

	if (command->argc != 2 || command->name.len == 0)
		return false;
	for (size_t i = 0; i < AB_COUNT(always); i++)
		if (ab_field_is(&command->argv[1], always[i]))
			return true;
	for (size_t i = 0; i < AB_COUNT(where_known); i++)
		if (ab_field_is(&command->argv[1], where_known[i]))
			return AB_LOOKUP(known, command->name);
	return false;
}

static bool is_awk(struct ab_text name)
{
	return ab_text_is(name, "awk") || ab_text_is(name, "gawk") ||
	       ab_text_is(name, "mawk") || ab_text_is(name, "nawk");
}

void ab_match_reads(const struct ab_scene *scene,
		    const struct ab_simple *command, struct ab_hits *hits)
{
	(void)scene;
	if (!ab_tool_plain(command))
		return;
	if (asks_version(command))
		ab_hit_add(hits, AB_RULE_VERSION_CHECK, command->range);
	else if (is_awk(command->name) ? ab_reads_awk(command)
		 : ab_text_is(command->name, "sed")
			 ? ab_reads_sed(command)
			 : ab_text_is(command->name, "printenv") &&
				   prints_harmless(command))
		ab_hit_add(hits, READ, command->range);
	else
		ab_toolbox_match(&ab_tools_reads, command, hits);
}
