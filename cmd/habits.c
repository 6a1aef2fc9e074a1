/*
 * Words that people know from other programs (docker, bubblewrap, firejail, srt), and what they are
 * called here. agentbox's own words are never in these tables; they always win.
 *
 * The texts are arrays, not pointers: a pointer is a relocation at every start.
 */
#include "cmd.h"

static const struct {
	char command[16], words[24];
} known_commands[] = {
	{ "allow HOST", "grant permit" },
	{ "apply", "commit" },
	{ "config show", "env settings" },
	{ "deny HOST", "block" },
	{ "doctor", "info" },
	{ "gc", "clean prune" },
	{ "help", "usage" },
	{ "help --man", "man" },
	{ "log", "logs report" },
	{ "log --all", "history" },
	{ "log RUN", "inspect" },
	{ "ports", "port" },
	{ "ps", "list status" },
	{ "publish PORT", "expose" },
	{ "run -- COMMAND", "sandbox start" },
	{ "shell NAME", "enter" },
	{ "stop RUN", "kill" },
	{ "undo", "revert rollback" },
	{ "watch", "monitor top" },
	{ "why", "explain" },
};

/* `option` is ours, without the dashes; if it is empty, `note` says all. */
static const struct {
	char option[16], note[72], words[72], letters[4];
} known_options[] = {
	{ "allow", "", "allow-domain allow-host allow-net allow-network allowed-domains" },
	{ "config", "", "settings" },
	{ "deny-read", "", "blacklist hide" },
	{ "env", "", "env-file setenv", "e" },
	{ "home", "use --home private", "private" },
	{ "memory", "", "", "m" },
	{ "name", "", "", "n" },
	{ "net", "", "network" },
	{ "net", "use --net allowed", "share-net" },
	{ "net", "use --net allowed for the network", "allow-all" },
	{ "net", "use --net blocked", "block-net net-none no-net no-network offline unshare-net" },
	{ "processes", "", "pids-limit" },
	{ "profile", "use --profile default", "noprofile" },
	{ "publish", "", "expose port", "p" },
	{ "quiet", "", "silent" },
	{ "read", "", "allow-read" },
	{ "read-only", "", "readonly" },
	{ "timeout", "", "time-limit" },
	{ "verbose", "", "debug" },
	{ "workspace", "", "chdir cwd directory project workdir", "Cw" },
	{ "write", "", "add-dir allow-dir allow-write bind dev-bind mount rw volume whitelist" },
	{ "", "not needed: /tmp in the box is private", "tmpfs" },
	{ "", "not needed: a box ends with agentbox", "die-with-parent" },
	{ "", "not needed: a box ends with its command", "rm" },
	{ "", "not needed: a box has a session of its own", "new-session" },
	{ "", "not needed: a box has its own /dev", "dev" },
	{ "", "not needed: a box has its own /proc", "proc" },
	{ "", "not needed: a box has its own namespaces", "unshare-all" },
	{ "", "not needed: a box has no capabilities", "cap-drop" },
	{ "", "not needed: the command gets the terminal that you have", "interactive tty", "it" },
	{ "", "not needed: the host's files are readable unless hidden", "ro-bind" },
};

/* Long options that hardly any other program has. */
static const char distinct[] =
	"allow allow-private allow-unix allow-userns deny deny-read deny-write docker host-port net "
	"on-violation pass-env publish read-only require-covered review trace-denials";

const char *habit_command(const char *word)
{
	for (size_t i = 0; i < AB_COUNT(known_commands); i++)
		if (ab_word_listed(known_commands[i].words, word, strlen(word)))
			return known_commands[i].command;
	return NULL;
}

bool habit_option(const char *word, char letter, struct habit *ret)
{
	for (size_t i = 0; i < AB_COUNT(known_options); i++) {
		if (word ? !ab_word_listed(known_options[i].words, word, strlen(word))
			 : !letter || !strchr(known_options[i].letters, letter))
			continue;
		*ret = (struct habit){ known_options[i].option, known_options[i].note };
		return true;
	}
	return false;
}

bool is_distinct_option(const char *word)
{
	return strncmp(word, "--", 2) == 0 &&
	       ab_word_listed(distinct, word + 2, strcspn(word + 2, "="));
}
