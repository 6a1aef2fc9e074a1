/*
 * The examples of --help, at most three for each command; one array, so that a start relocates
 * nothing. They are in the manual pages too, where test/manual.bats runs them.
 */
#include "cmd.h"

static const struct {
	char command[20], lines[240];
} examples[] = {
	{ "run", "agentbox run -- make test\n"
		 "agentbox run --allow @npm -- npm install\n"
		 "agentbox run --review -- claude" },
	{ "mcp", "agentbox mcp serve\n"
		 "agentbox mcp wrap .mcp.json" },
	{ "import", "agentbox import claude-code ~/.claude/settings.json" },
	{ "init", "agentbox init\n"
		  "agentbox init --print" },
	{ "shell", "agentbox shell\n"
		   "agentbox shell --net blocked\n"
		   "agentbox shell dev" },
	{ "exec", "agentbox exec -- make test\n"
		  "agentbox exec --net blocked -c 'ls | wc -l'" },
	{ "attach", "agentbox attach dev" },
	{ "learn", "agentbox learn -- make test\n"
		   "agentbox learn --save build -- make test" },
	{ "check", "agentbox check \"git push --force\"\n"
		   "agentbox check --explain \"cd build && rm -rf *\"\n"
		   "agentbox check --json -- git status" },
	{ "connect", "agentbox run -- agentbox connect example.com 22" },
	{ "ps", "agentbox ps\n"
		"agentbox ps --all" },
	{ "watch", "agentbox watch\n"
		   "agentbox watch dev" },
	{ "log", "agentbox log\n"
		 "agentbox log --denied\n"
		 "agentbox log --list -n 10\n"
		 "agentbox log --html page.html\n"
		 "agentbox log --verify" },
	{ "why", "agentbox why\n"
		 "agentbox why --json" },
	{ "allow", "agentbox allow example.com --run dev\n"
		   "agentbox allow example.com --always\n"
		   "agentbox allow ~/data --always" },
	{ "deny", "agentbox deny example.com --run dev\n"
		  "agentbox deny example.com --always" },
	{ "stop", "agentbox stop dev\n"
		  "agentbox stop --all" },
	{ "ports", "agentbox ports\n"
		   "agentbox ports dev" },
	{ "serve", "agentbox serve <requests" },
	{ "publish", "agentbox publish dev 3000\n"
		     "agentbox publish dev 8080:3000" },
	{ "approvals", "agentbox approvals list\n"
		       "agentbox approvals revoke --all" },
	{ "diff", "agentbox diff\n"
		  "agentbox diff dev --stat\n"
		  "agentbox diff dev package.json" },
	{ "apply", "agentbox apply dev --safe\n"
		   "agentbox apply dev package.json\n"
		   "agentbox apply dev --all" },
	{ "discard", "agentbox discard dev notes.txt\n"
		     "agentbox discard dev --yes" },
	{ "undo", "agentbox undo\n"
		  "agentbox undo dev" },
	{ "quarantine", "agentbox quarantine list" },
	{ "layers", "agentbox layers list\n"
		    "agentbox layers rm dev" },
	{ "config", "agentbox config show\n"
		    "agentbox config check .agentbox.json\n"
		    "agentbox config path" },
	{ "config show", "agentbox config show\n"
			 "agentbox config show --profile claude\n"
			 "agentbox config show --json" },
	{ "profile", "agentbox profile list\n"
		     "agentbox profile show claude" },
	{ "rules", "agentbox rules list" },
	{ "policy", "agentbox policy diff default ci" },
	{ "secrets", "agentbox secrets providers\n"
		     "agentbox secrets list\n"
		     "agentbox secrets check OPENAI_API_KEY" },
	{ "trust", "agentbox trust\n"
		   "agentbox trust --revoke" },
	{ "gc", "agentbox gc\n"
		"agentbox gc --older 7d --dry-run" },
	{ "doctor", "agentbox doctor\n"
		    "agentbox doctor --attack" },
	{ "hook", "agentbox hook install claude-code" },
	{ "alias", "agentbox alias claude codex\n"
		   "agentbox alias --install claude" },
	{ "completion",
	  "agentbox completion bash >~/.local/share/bash-completion/completions/agentbox\n"
	  "agentbox completion fish >~/.config/fish/completions/agentbox.fish" },
	{ "help", "agentbox help run\n"
		  "agentbox help --man run\n"
		  "agentbox help --man agentbox.json" },
	{ "version", "agentbox version" },
};

const char *get_examples(const char *command)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		if (strcmp(examples[i].command, command) == 0)
			return examples[i].lines;
	return NULL;
}
