#include <string.h>

#include "base/data/mem.h"
#include "steer/import/import.h"
#include "steer/import/imported.h"

static const char secret[] = "credentials are not copied; use a secret (agentbox-secrets(1))";
static const char outside[] = "no command runs outside the box";
static const char readable[] =
	"everything except credentials is readable; for a list of your own use filesystem.read";
static const char asked[] =
	"instead of the whole network, hosts are asked about; for all of it: \"mode\": \"allowed\"";
static const char verdict[] = "the verdict on each command decides whether you are asked";
static const char presets[] = "for a language use \"with\" (agentbox profile presets)";
static const char git_config[] = "git in the box may change harmless settings of .git/config";

/* clang-format off */
static const struct ab_import_row srt_rows[] = {
	{ "network.allowedDomains", AB_IMPORT_HOST },
	{ "network.deniedDomains", AB_IMPORT_DENY_HOST },
	{ "network.deniedDomainReasons", AB_IMPORT_NOTHING },
	{ "network.strictAllowlist", AB_IMPORT_NOTHING },
	{ "network.allowUnixSockets", AB_IMPORT_UNIX },
	{ "network.allowAllUnixSockets", AB_IMPORT_LEFT, "name the sockets: filesystem.unix" },
	{ "network.allowLocalBinding", AB_IMPORT_NOTHING },
	{ "network.parentProxy", AB_IMPORT_LEFT, "set network.upstream" },
	{ "filesystem.denyRead", AB_IMPORT_DENY_READ },
	{ "filesystem.allowRead", AB_IMPORT_READ_BACK },
	{ "filesystem.allowWrite", AB_IMPORT_WRITE },
	{ "filesystem.denyWrite", AB_IMPORT_DENY_WRITE },
	{ "filesystem.allowGitConfig", AB_IMPORT_LEFT, git_config },
	{ "credentials", AB_IMPORT_LEFT, secret },
	{ "ignoreViolations", AB_IMPORT_NOTHING },
};

static const struct ab_import_row claude_rows[] = {
	{ "$schema", AB_IMPORT_NOTHING },
	{ "permissions.allow", AB_IMPORT_RULE_ALLOW },
	{ "permissions.ask", AB_IMPORT_RULE_ASK },
	{ "permissions.deny", AB_IMPORT_RULE_DENY },
	{ "permissions.additionalDirectories", AB_IMPORT_WRITE },
	{ "permissions.defaultMode", AB_IMPORT_LEFT, verdict },
	{ "sandbox.enabled", AB_IMPORT_NOTHING },
	{ "sandbox.autoAllowBashIfSandboxed", AB_IMPORT_NOTHING },
	{ "sandbox.excludedCommands", AB_IMPORT_LEFT, outside },
	{ "sandbox.allowUnsandboxedCommands", AB_IMPORT_LEFT, outside },
	{ "sandbox.network.allowedDomains", AB_IMPORT_HOST },
	{ "sandbox.network.deniedDomains", AB_IMPORT_DENY_HOST },
	{ "sandbox.network.allowUnixSockets", AB_IMPORT_UNIX },
	{ "sandbox.network.allowLocalBinding", AB_IMPORT_NOTHING },
	{ "sandbox.filesystem.allowWrite", AB_IMPORT_WRITE },
	{ "sandbox.filesystem.denyWrite", AB_IMPORT_DENY_WRITE },
	{ "sandbox.filesystem.denyRead", AB_IMPORT_DENY_READ },
	{ "sandbox.filesystem.allowRead", AB_IMPORT_READ_BACK },
	{ "env.*", AB_IMPORT_VARIABLE },
	{ "hooks", AB_IMPORT_LEFT, "hooks stay in that file; agentbox adds its own with: agentbox hook install claude-code" },
};

static const struct ab_import_word codex_modes[] = {
	{ "read-only", "read-only", "" },
	{ "workspace-write", "workspace-write", "" },
	{ "danger-full-access", "", "", outside },
	{ "", "", "" },
};
static const struct ab_import_word codex_network[] = {
	{ "true", "", "filtered", asked },
	{ "false", "", "blocked" },
	{ "", "", "" },
};

static const struct ab_import_row codex_rows[] = {
	{ "sandbox_mode", AB_IMPORT_WORD, NULL, codex_modes },
	{ "sandbox_workspace_write.writable_roots", AB_IMPORT_WRITE },
	{ "sandbox_workspace_write.network_access", AB_IMPORT_WORD, NULL, codex_network },
	{ "sandbox_workspace_write.exclude_tmpdir_env_var", AB_IMPORT_NOTHING },
	{ "sandbox_workspace_write.exclude_slash_tmp", AB_IMPORT_NOTHING },
	{ "approval_policy", AB_IMPORT_LEFT, verdict },
	{ "shell_environment_policy.set.*", AB_IMPORT_VARIABLE },
	{ "shell_environment_policy.include_only", AB_IMPORT_PASS },
	{ "shell_environment_policy.exclude", AB_IMPORT_STRIP },
	{ "shell_environment_policy.ignore_default_excludes", AB_IMPORT_LEFT, "names of secrets are always stripped; use env.pass" },
};

static const struct ab_import_word nono_block[] = {
	{ "true", "", "blocked" },
	{ "false", "", "", asked },
	{ "", "", "" },
};
static const struct ab_import_word nono_workdir[] = {
	{ "readwrite", "", "" },
	{ "read", "read-only", "" },
	{ "none", "read-only", "", "the workspace can be read" },
	{ "", "", "" },
};
static const struct ab_import_word nono_bases[] = {
	{ "claude-code", "claude", "" },
	{ "codex", "codex", "" },
	{ "opencode", "opencode", "" },
	{ "default", "", "" },
	{ "", "", "" },
};

static const struct ab_import_row nono_rows[] = {
	{ "$schema", AB_IMPORT_NOTHING },
	{ "meta", AB_IMPORT_NOTHING },
	{ "interactive", AB_IMPORT_NOTHING },
	{ "extends", AB_IMPORT_WORD, NULL, nono_bases },
	{ "workdir.access", AB_IMPORT_WORD, NULL, nono_workdir },
	{ "filesystem.allow", AB_IMPORT_WRITE },
	{ "filesystem.write", AB_IMPORT_WRITE },
	{ "filesystem.allow_file", AB_IMPORT_WRITE },
	{ "filesystem.write_file", AB_IMPORT_WRITE },
	{ "filesystem.read", AB_IMPORT_LEFT, readable },
	{ "filesystem.read_file", AB_IMPORT_LEFT, readable },
	{ "filesystem.deny", AB_IMPORT_DENY_READ },
	{ "filesystem.bypass_protection", AB_IMPORT_LEFT, "to open a path that agentbox denies, add \"!path\" to filesystem.denyRead" },
	{ "filesystem.suppress_save_prompt", AB_IMPORT_NOTHING },
	{ "filesystem.ignore", AB_IMPORT_NOTHING },
	{ "network.block", AB_IMPORT_WORD, NULL, nono_block },
	{ "network.allow_domain", AB_IMPORT_HOST },
	{ "network.proxy_allow", AB_IMPORT_HOST },
	{ "network.allow_proxy", AB_IMPORT_HOST },
	{ "network.open_port", AB_IMPORT_PORT },
	{ "network.port_allow", AB_IMPORT_PORT },
	{ "network.allow_port", AB_IMPORT_PORT },
	{ "network.listen_port", AB_IMPORT_LEFT, "programs in the box may listen; to reach one from outside: --publish PORT" },
	{ "network.credentials", AB_IMPORT_LEFT, secret },
	{ "network.custom_credentials", AB_IMPORT_LEFT, secret },
	{ "network.upstream_proxy", AB_IMPORT_LEFT, "set network.upstream" },
	{ "env_credentials", AB_IMPORT_LEFT, secret },
	{ "secrets", AB_IMPORT_LEFT, secret },
	{ "commands.allow", AB_IMPORT_PROGRAM_ALLOW },
	{ "commands.deny", AB_IMPORT_PROGRAM_DENY },
	{ "groups.include", AB_IMPORT_LEFT, presets },
	{ "security.groups", AB_IMPORT_LEFT, presets },
};

static const struct ab_import_format formats[] = {
	{ "srt", false, true, srt_rows, AB_COUNT(srt_rows) },
	{ "claude-code", false, false, claude_rows, AB_COUNT(claude_rows) },
	{ "codex", true, false, codex_rows, AB_COUNT(codex_rows) },
	{ "nono", false, false, nono_rows, AB_COUNT(nono_rows) },
};
/* clang-format on */

const char *const ab_import_formats[] = { "srt", "claude-code", "codex", "nono" };
const size_t ab_import_format_count = AB_COUNT(ab_import_formats);

const struct ab_import_format *ab_import_format_find(const char *name)
{
	/* The profile of Claude Code has the program's name. */
	if (strcmp(name, "claude") == 0)
		name = "claude-code";
	for (size_t i = 0; i < AB_COUNT(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}
