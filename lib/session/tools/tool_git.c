#include "session/tools/tool_git.h"

#include "base/data/mem.h"
#include "base/data/strv.h"

/* Only settings of one name: filters and drivers have names that the repository chooses. */
static const char settings[][2][24] = {
	{ "core.hooksPath", "/dev/null" },
	{ "core.fsmonitor", "false" },
	{ "core.pager", "cat" },
	{ "core.sshCommand", "ssh" },
	{ "core.askPass", "" },
	{ "core.editor", "false" },
	{ "sequence.editor", "false" },
	{ "credential.helper", "" },
	{ "gpg.program", "gpg" },
	{ "gpg.ssh.program", "ssh-keygen" },
	{ "protocol.ext.allow", "never" },
	{ "interactive.diffFilter", "" },
	{ "core.gitProxy", "" },
};

void ab_tool_git_variables(struct ab_strv *ret)
{
	ab_strv_addf(ret, "GIT_CONFIG_COUNT=%zu", AB_COUNT(settings));
	for (size_t i = 0; i < AB_COUNT(settings); i++) {
		ab_strv_addf(ret, "GIT_CONFIG_KEY_%zu=%s", i, settings[i][0]);
		ab_strv_addf(ret, "GIT_CONFIG_VALUE_%zu=%s", i, settings[i][1]);
	}
	ab_strv_add(ret, "GIT_TERMINAL_PROMPT=0");
}
