#include "shell/match/explained.h"

#include "base/data/mem.h"
#include "shell/code/code.h"
#include "shell/match/write_targets.h"
#include "shell/syntax/name_table.h"
#include "shell/tools/tool.h"

/* Programs that other tables do not list. Sorted by name. */
static const struct explained {
	char name[24];
	enum ab_explained explained;
} programs[] = {
#define FILES AB_EXPLAINED_FILES
#define TEXT AB_EXPLAINED_TEXT
	{ ".", FILES },
	{ "ack", TEXT },
	{ "ag", TEXT },
	{ "agentbox", TEXT },
	{ "aider", TEXT },
	{ "amp", TEXT },
	{ "ansible", FILES },
	{ "ansible-playbook", FILES },
	{ "apachectl", FILES },
	{ "apropos", TEXT },
	{ "apt-file", FILES },
	{ "autoconf", FILES },
	{ "automake", FILES },
	{ "autoreconf", FILES },
	{ "awk", FILES },
	{ "bats", FILES },
	{ "bear", FILES },
	{ "blkid", FILES },
	{ "builtin", FILES },
	{ "bzr", TEXT },
	{ "caddy", FILES },
	{ "cargo", FILES },
	{ "ccache", FILES },
	{ "cheat", TEXT },
	{ "claude", TEXT },
	{ "cmake", FILES },
	{ "codex", TEXT },
	{ "command", FILES },
	{ "config.status", FILES },
	{ "configure", FILES },
	{ "copilot", TEXT },
	{ "cowsay", TEXT },
	{ "crush", TEXT },
	{ "cscope", FILES },
	{ "ctags", FILES },
	{ "ctest", TEXT },
	{ "cursor-agent", TEXT },
	{ "cypress", TEXT },
	{ "doas", FILES },
	{ "docker", FILES },
	{ "dotnet", FILES },
	{ "dpkg-query", FILES },
	{ "dtc", FILES },
	{ "egrep", TEXT },
	{ "env", FILES },
	{ "eval", FILES },
	{ "exec", FILES },
	{ "export", FILES },
	{ "fd", TEXT },
	{ "fgrep", TEXT },
	{ "figlet", TEXT },
	{ "for", FILES },
	{ "fossil", TEXT },
	{ "gemini", TEXT },
	{ "getcap", FILES },
	{ "getfacl", FILES },
	{ "gh", TEXT },
	{ "git", TEXT },
	{ "glab", TEXT },
	{ "go", FILES },
	{ "goose", TEXT },
	{ "gradle", FILES },
	{ "gradlew", FILES },
	{ "grep", TEXT },
	{ "groupadd", FILES },
	{ "haproxy", FILES },
	{ "hdparm", FILES },
	{ "helm", FILES },
	{ "hg", TEXT },
	{ "httpd", FILES },
	{ "ionice", FILES },
	{ "jest", TEXT },
	{ "jira", TEXT },
	{ "jj", TEXT },
	{ "journalctl", FILES },
	{ "kubeadm", FILES },
	{ "kubectl", FILES },
	{ "ldconfig", FILES },
	{ "ldd", FILES },
	{ "llm", TEXT },
	{ "local", FILES },
	{ "logger", TEXT },
	{ "logrotate", FILES },
	{ "lsinitramfs", FILES },
	{ "man", TEXT },
	{ "meson", FILES },
	{ "mktemp", FILES },
	{ "mocha", TEXT },
	{ "mount", FILES },
	{ "mvn", FILES },
	{ "mvnw", FILES },
	{ "named-checkconf", FILES },
	{ "nginx", FILES },
	{ "nice", FILES },
	{ "ninja", FILES },
	{ "nm", FILES },
	{ "nohup", FILES },
	{ "notify-send", TEXT },
	{ "objdump", FILES },
	{ "ollama", TEXT },
	{ "opencode", TEXT },
	{ "pkg-config", FILES },
	{ "playwright", TEXT },
	{ "podman", FILES },
	{ "postconf", FILES },
	{ "promtool", FILES },
	{ "pytest", TEXT },
	{ "qwen", TEXT },
	{ "read", FILES },
	{ "readonly", FILES },
	{ "rg", TEXT },
	{ "rpmquery", FILES },
	{ "rspec", TEXT },
	{ "say", TEXT },
	{ "screen", FILES },
	{ "setsid", FILES },
	{ "shellcheck", FILES },
	{ "shfmt", FILES },
	{ "sl", TEXT },
	{ "smartctl", FILES },
	{ "source", FILES },
	{ "ssh", FILES },
	{ "ssh-keygen", FILES },
	{ "stdbuf", FILES },
	{ "stty", FILES },
	{ "sudo", FILES },
	{ "svn", TEXT },
	{ "swapon", FILES },
	{ "systemd-analyze", FILES },
	{ "taskset", FILES },
	{ "tea", TEXT },
	{ "terminal-notifier", TEXT },
	{ "terraform", FILES },
	{ "testparm", FILES },
	{ "time", FILES },
	{ "timeout", FILES },
	{ "tldr", TEXT },
	{ "tmux", FILES },
	{ "tofu", FILES },
	{ "tox", TEXT },
	{ "traefik", FILES },
	{ "trap", FILES },
	{ "udevadm", FILES },
	{ "umount", FILES },
	{ "unset", FILES },
	{ "update-ca-certificates", FILES },
	{ "view", FILES },
	{ "vitest", TEXT },
	{ "whatis", TEXT },
	{ "xargs", FILES },
	{ "zgrep", TEXT },
#undef FILES
#undef TEXT
};

static bool is_shell(struct ab_text name)
{
	return ab_listed("ash bash dash fish ksh mksh rbash sh zsh", name);
}

enum ab_explained ab_explained(const struct ab_simple *command)
{
	const struct ab_text name = command->name;
	const struct explained *found;
	enum ab_language language;

	if (name.len == 0)
		return AB_EXPLAINED_FILES;
	if (ab_text_is(name, "echo") || ab_text_is(name, "printf"))
		return AB_EXPLAINED_PRINTED;
	found = AB_COMMAND_ROW(programs, AB_TABLE_EXPLAINED, command);
	if (found)
		return found->explained;
	if (ab_toolbox_find(&ab_tools_reads, command) || ab_write_targets_known(command) ||
	    is_shell(name) ||
	    (ab_command_in(command, AB_TABLE_LANGUAGES) && ab_code_language(name, &language)))
		return AB_EXPLAINED_FILES;
	return AB_EXPLAINED_NOT;
}

bool ab_explains_prose(struct ab_text option)
{
	/* Sorted. */
	static const char prose[][15] = {
		"--body",   "--comment", "--description", "--message", "--notes", "--prompt",
		"--reason", "--subject", "--summary",	  "--text",    "--title", "-m",
	};

	return option.len > 1 && AB_LOOKUP_WORD(prose, option);
}

bool ab_explains_output(struct ab_text option)
{
	/* Without their dashes: nearly all options differ in the first byte. */
	static const char begins[][7] = { "out",  "log",    "write", "dump",
					  "save", "export", "dest",  "target" };
	struct ab_text name = { option.s + 2, option.len - 2 };

	if (option.len < 2 || option.s[0] != '-')
		return false;
	if (option.s[1] != '-')
		return (option.s[1] == 'o' || option.s[1] == 'O' || option.s[1] == 'w') &&
		       ab_listed("-o -O -w -out -of", option);
	for (size_t i = 0; i < AB_COUNT(begins); i++)
		if (ab_text_starts(name, begins[i]))
			return true;
	return ab_text_is(name, "to");
}
