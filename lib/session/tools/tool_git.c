#include "session/tools/tool_git.h"

#include "base/data/mem.h"
#include "base/data/strv.h"

/* Only settings of one name: filters and drivers have names that the repository chooses. */
static const char settings[][2][32] = {
	{ "core.hooksPath", "/dev/null" },
	{ "core.fsmonitor", "false" },
	{ "core.pager", "cat" },
	{ "core.sshCommand", "ssh" },
	{ "core.askPass", "" },
	{ "core.editor", "false" },
	{ "sequence.editor", "false" },
	{ "credential.helper", "" },
	{ "gpg.program", "gpg" },
	{ "gpg.x509.program", "gpgsm" },
	{ "gpg.ssh.program", "ssh-keygen" },
	{ "gpg.ssh.defaultKeyCommand", "false" },
	{ "core.alternateRefsCommand", "false" },
	{ "help.autocorrect", "0" }, /* or the repository could turn "confg" into a command */
	{ "protocol.ext.allow", "never" },
	{ "interactive.diffFilter", "" },
};

/*
 * Whoever calls the tool also types at its terminal: in a pager or an editor that is a shell. git
 * prefers these to settings of the repository such as pager.log, or takes their first value.
 */
static const char others[][32] = {
	"GIT_TERMINAL_PROMPT=0",
	"GIT_PAGER=cat",
	"GIT_EDITOR=false",
	"GIT_SEQUENCE_EDITOR=false",
	"GIT_PROXY_COMMAND=",
	"PAGER=cat",
	"MANPAGER=cat",
	"GH_PAGER=cat",
	"LESSSECURE=1",
	"EDITOR=false",
	"VISUAL=false",
	"GH_EDITOR=false",
	"BROWSER=false",
	"GH_BROWSER=false",
};

void ab_tool_fixed_variables(struct ab_strv *ret)
{
	ab_strv_addf(ret, "GIT_CONFIG_COUNT=%zu", AB_COUNT(settings));
	for (size_t i = 0; i < AB_COUNT(settings); i++) {
		ab_strv_addf(ret, "GIT_CONFIG_KEY_%zu=%s", i, settings[i][0]);
		ab_strv_addf(ret, "GIT_CONFIG_VALUE_%zu=%s", i, settings[i][1]);
	}
	for (size_t i = 0; i < AB_COUNT(others); i++)
		ab_strv_add(ret, others[i]);
}
