#include "shell/match/explained.h"

#include "agents/agents.h"
#include "shell/code/code.h"
#include "shell/match/write_targets.h"
#include "shell/syntax/name_table.h"
#include "shell/tools/tool.h"

/* Programs that other tables do not list; agents are in lib/agents. */
static const struct explained {
	enum ab_explained explained;
} programs[] = {
	AB_PROGRAMS(
		". ansible ansible-playbook apachectl apt-file autoconf automake autoreconf awk "
		"bats bear blkid builtin caddy cargo ccache cmake command config.status configure "
		"cscope ctags doas docker dotnet dpkg-query dtc env eval exec export for getcap "
		"getfacl go gradle gradlew groupadd haproxy hdparm helm httpd ionice journalctl "
		"kubeadm kubectl ldconfig ldd local logrotate lsinitramfs meson mktemp mount mvn "
		"mvnw named-checkconf nginx nice ninja nm nohup objdump pkg-config podman postconf "
		"promtool read readonly rpmquery screen setsid shellcheck shfmt smartctl source ssh "
		"ssh-keygen stdbuf stty sudo swapon systemd-analyze taskset terraform testparm time "
		"timeout tmux tofu traefik trap udevadm umount unset update-ca-certificates view "
		"xargs",
		AB_EXPLAINED_FILES),
	AB_PROGRAMS(
		"ack ag agentbox apropos bzr cheat cowsay ctest cypress egrep fd fgrep figlet fossil "
		"gh git glab grep hg jest jira jj llm logger man mocha notify-send ollama playwright "
		"pytest rg rspec say sl svn tea terminal-notifier tldr tox vitest whatis zgrep",
		AB_EXPLAINED_TEXT),
};

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
	    ab_listed("ash bash dash fish ksh mksh rbash sh zsh", name) ||
	    (ab_command_in(command, AB_TABLE_LANGUAGES) && ab_code_language(name, &language)))
		return AB_EXPLAINED_FILES;
	return ab_agent_takes_prompt(name.s, name.len) ? AB_EXPLAINED_TEXT : AB_EXPLAINED_NOT;
}

bool ab_explains_prose(struct ab_text option)
{
	/* Sorted. */
	static const char prose[][15] = {
		"--body",   "--comment", "--description", "--message", "--notes", "--prompt",
		"--reason", "--subject", "--summary",	  "--text",    "--title", "-m",
	};

	return option.len > 1 && option.s[0] == '-' && AB_LOOKUP_WORD(prose, option);
}

bool ab_explains_output(struct ab_text option)
{
	struct ab_text name = ab_text_rest(option, 2);

	if (option.len < 2 || option.s[0] != '-')
		return false;
	if (option.s[1] != '-')
		return (option.s[1] == 'o' || option.s[1] == 'O' || option.s[1] == 'w') &&
		       ab_listed("-o -O -w -out -of", option);
	/* Without their dashes: nearly all options differ in the first byte. */
	return ab_starts_listed("out log write dump save export dest target", name) ||
	       ab_text_is(name, "to");
}
