/*
 * Words that people know from other programs (docker, bubblewrap, firejail, srt), and what they are
 * called here. agentbox's own words are never in these tables; they always win.
 *
 * The texts are arrays, not pointers: a pointer is a relocation at every start.
 */
#include "cmd.h"

static const struct known_command {
	char word[12], command[24];
} known_commands[] = {
	{ "block", "deny HOST" },
	{ "clean", "gc" },
	{ "commit", "apply" },
	{ "enter", "shell NAME" },
	{ "env", "config show" },
	{ "explain", "why" },
	{ "expose", "publish PORT" },
	{ "grant", "allow HOST" },
	{ "history", "log --all" },
	{ "info", "doctor" },
	{ "inspect", "log RUN" },
	{ "kill", "stop RUN" },
	{ "list", "ps" },
	{ "logs", "log" },
	{ "man", "help --man" },
	{ "monitor", "watch" },
	{ "permit", "allow HOST" },
	{ "port", "ports" },
	{ "prune", "gc" },
	{ "report", "log" },
	{ "revert", "undo" },
	{ "rollback", "undo" },
	{ "sandbox", "run -- COMMAND" },
	{ "settings", "config show" },
	{ "start", "run -- COMMAND" },
	{ "status", "ps" },
	{ "top", "watch" },
	{ "usage", "help" },
};

/* `option` is ours, without the dashes; if it is empty, `note` says all. */
static const struct known_option {
	char word[24], option[16], note[72];
} known_options[] = {
	{ "add-dir", "write", "" },
	{ "allow-all", "net", "use --net allowed for the network" },
	{ "allow-dir", "write", "" },
	{ "allow-domain", "allow", "" },
	{ "allow-host", "allow", "" },
	{ "allow-net", "allow", "" },
	{ "allow-network", "allow", "" },
	{ "allow-read", "read", "" },
	{ "allow-write", "write", "" },
	{ "allowed-domains", "allow", "" },
	{ "bind", "write", "" },
	{ "blacklist", "deny-read", "" },
	{ "block-net", "net", "use --net blocked" },
	{ "cap-drop", "", "not needed: a box has no capabilities" },
	{ "chdir", "workspace", "" },
	{ "cwd", "workspace", "" },
	{ "debug", "verbose", "" },
	{ "dev", "", "not needed: a box has its own /dev" },
	{ "dev-bind", "write", "" },
	{ "die-with-parent", "", "not needed: a box ends with agentbox" },
	{ "directory", "workspace", "" },
	{ "env-file", "env", "" },
	{ "expose", "publish", "" },
	{ "hide", "deny-read", "" },
	{ "interactive", "", "not needed: the command gets the terminal that you have" },
	{ "mount", "write", "" },
	{ "net-none", "net", "use --net blocked" },
	{ "network", "net", "" },
	{ "new-session", "", "not needed: a box has a session of its own" },
	{ "no-net", "net", "use --net blocked" },
	{ "no-network", "net", "use --net blocked" },
	{ "noprofile", "profile", "use --profile default" },
	{ "offline", "net", "use --net blocked" },
	{ "pids-limit", "processes", "" },
	{ "port", "publish", "" },
	{ "private", "home", "use --home private" },
	{ "proc", "", "not needed: a box has its own /proc" },
	{ "project", "workspace", "" },
	{ "readonly", "read-only", "" },
	{ "rm", "", "not needed: a box ends with its command" },
	{ "ro-bind", "", "not needed: the host's files are readable unless hidden" },
	{ "rw", "write", "" },
	{ "setenv", "env", "" },
	{ "settings", "config", "" },
	{ "share-net", "net", "use --net allowed" },
	{ "silent", "quiet", "" },
	{ "time-limit", "timeout", "" },
	{ "tmpfs", "", "not needed: /tmp in the box is private" },
	{ "tty", "", "not needed: the command gets the terminal that you have" },
	{ "unshare-all", "", "not needed: a box has its own namespaces" },
	{ "unshare-net", "net", "use --net blocked" },
	{ "volume", "write", "" },
	{ "whitelist", "write", "" },
	{ "workdir", "workspace", "" },
};

static const struct {
	char letter;
	char option[12], note[72];
} known_letters[] = {
	{ 'C', "workspace", "" },
	{ 'e', "env", "" },
	{ 'i', "", "not needed: the command gets the terminal that you have" },
	{ 'm', "memory", "" },
	{ 'n', "name", "" },
	{ 'p', "publish", "" },
	{ 't', "", "not needed: the command gets the terminal that you have" },
	{ 'w', "workspace", "" },
};

/* Long options that hardly any other program has. */
static const char distinct[][16] = {
	"allow",	"allow-private", "allow-unix", "allow-userns", "deny",
	"deny-read",	"deny-write",	 "docker",     "host-port",    "net",
	"on-violation", "pass-env",	 "publish",    "read-only",    "require-covered",
	"review",	"trace-denials",
};

const char *habit_command(const char *word)
{
	const struct known_command *row =
		ab_find_row(known_commands, AB_COUNT(known_commands), word, word);

	return row ? row->command : NULL;
}

bool habit_option(const char *word, char letter, struct habit *ret)
{
	const struct known_option *row =
		word ? ab_find_row(known_options, AB_COUNT(known_options), word, word) : NULL;

	if (row)
		*ret = (struct habit){ row->option, row->note };
	for (size_t i = 0; !word && i < AB_COUNT(known_letters); i++)
		if (known_letters[i].letter == letter) {
			*ret = (struct habit){ known_letters[i].option, known_letters[i].note };
			return true;
		}
	return row != NULL;
}

bool is_distinct_option(const char *word)
{
	size_t len;

	if (strncmp(word, "--", 2) != 0)
		return false;
	word += 2;
	len = strcspn(word, "=");
	for (size_t i = 0; i < AB_COUNT(distinct); i++)
		if (strlen(distinct[i]) == len && strncmp(distinct[i], word, len) == 0)
			return true;
	return false;
}
