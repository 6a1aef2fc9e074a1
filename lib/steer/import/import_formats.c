#include <string.h>

#include "base/data/mem.h"
#include "steer/import/import.h"
#include "steer/import/imported.h"

static const char secret[] = "credentials are not copied; use a secret (agentbox-secrets(1))";
static const char outside[] = "no command runs outside the box";
static const char readable[] =
	"everything except credentials is readable; for a list of your own use filesystem.read";
static const char git_config[] = "git in the box may change harmless settings of .git/config";

/* clang-format off */
static const struct ab_import_row srt_rows[] = {
	{ "network.allowedDomains", AB_IMPORT_HOST, NULL, NULL },
	{ "network.deniedDomains", AB_IMPORT_DENY_HOST, NULL, NULL },
	{ "network.deniedDomainReasons", AB_IMPORT_NOTHING, NULL, NULL },
	{ "network.strictAllowlist", AB_IMPORT_NOTHING, NULL, NULL },
	{ "network.allowUnixSockets", AB_IMPORT_UNIX, NULL, NULL },
	{ "network.allowAllUnixSockets", AB_IMPORT_LEFT, "name the sockets: filesystem.unix", NULL },
	{ "network.allowLocalBinding", AB_IMPORT_NOTHING, NULL, NULL },
	{ "network.parentProxy", AB_IMPORT_LEFT, "set network.upstream", NULL },
	{ "filesystem.denyRead", AB_IMPORT_DENY_READ, NULL, NULL },
	{ "filesystem.allowRead", AB_IMPORT_READ_BACK, NULL, NULL },
	{ "filesystem.allowWrite", AB_IMPORT_WRITE, NULL, NULL },
	{ "filesystem.denyWrite", AB_IMPORT_DENY_WRITE, NULL, NULL },
	{ "filesystem.allowGitConfig", AB_IMPORT_LEFT, git_config, NULL },
	{ "credentials", AB_IMPORT_LEFT, secret, NULL },
	{ "ignoreViolations", AB_IMPORT_NOTHING, NULL, NULL },
};

static const struct ab_import_row claude_rows[] = {
	{ "$schema", AB_IMPORT_NOTHING, NULL, NULL },
	{ "permissions.allow", AB_IMPORT_RULE_ALLOW, NULL, NULL },
	{ "permissions.ask", AB_IMPORT_RULE_ASK, NULL, NULL },
	{ "permissions.deny", AB_IMPORT_RULE_DENY, NULL, NULL },
	{ "permissions.additionalDirectories", AB_IMPORT_WRITE, NULL, NULL },
	{ "permissions.defaultMode", AB_IMPORT_LEFT, "the verdict on each command decides whether you are asked", NULL },
	{ "sandbox.enabled", AB_IMPORT_NOTHING, NULL, NULL },
	{ "sandbox.autoAllowBashIfSandboxed", AB_IMPORT_NOTHING, NULL, NULL },
	{ "sandbox.excludedCommands", AB_IMPORT_LEFT, outside, NULL },
	{ "sandbox.allowUnsandboxedCommands", AB_IMPORT_LEFT, outside, NULL },
	{ "sandbox.network.allowedDomains", AB_IMPORT_HOST, NULL, NULL },
	{ "sandbox.network.deniedDomains", AB_IMPORT_DENY_HOST, NULL, NULL },
	{ "sandbox.network.allowUnixSockets", AB_IMPORT_UNIX, NULL, NULL },
	{ "sandbox.network.allowLocalBinding", AB_IMPORT_NOTHING, NULL, NULL },
	{ "sandbox.filesystem.allowWrite", AB_IMPORT_WRITE, NULL, NULL },
	{ "sandbox.filesystem.denyWrite", AB_IMPORT_DENY_WRITE, NULL, NULL },
	{ "sandbox.filesystem.denyRead", AB_IMPORT_DENY_READ, NULL, NULL },
	{ "sandbox.filesystem.allowRead", AB_IMPORT_READ_BACK, NULL, NULL },
	{ "env.*", AB_IMPORT_VARIABLE, NULL, NULL },
	{ "hooks", AB_IMPORT_LEFT, "hooks stay in that file; agentbox adds its own with: agentbox hook install claude-code", NULL },
};

static const struct ab_import_word codex_modes[] = {
	{ "read-only", "read-only", "", NULL },
	{ "workspace-write", "workspace-write", "", NULL },
	{ "danger-full-access", "", "", outside },
	{ "", "", "", NULL },
};
static const struct ab_import_word codex_network[] = {
	{ "true", "", "filtered", "instead of the whole network, hosts are asked about; for all of it: \"mode\": \"allowed\"" },
	{ "false", "", "blocked", NULL },
	{ "", "", "", NULL },
};

static const struct ab_import_row codex_rows[] = {
	{ "sandbox_mode", AB_IMPORT_WORD, NULL, codex_modes },
	{ "sandbox_workspace_write.writable_roots", AB_IMPORT_WRITE, NULL, NULL },
	{ "sandbox_workspace_write.network_access", AB_IMPORT_WORD, NULL, codex_network },
	{ "sandbox_workspace_write.exclude_tmpdir_env_var", AB_IMPORT_NOTHING, NULL, NULL },
	{ "sandbox_workspace_write.exclude_slash_tmp", AB_IMPORT_NOTHING, NULL, NULL },
	{ "approval_policy", AB_IMPORT_LEFT, "the verdict on each command decides whether you are asked", NULL },
	{ "shell_environment_policy.set.*", AB_IMPORT_VARIABLE, NULL, NULL },
	{ "shell_environment_policy.include_only", AB_IMPORT_PASS, NULL, NULL },
	{ "shell_environment_policy.exclude", AB_IMPORT_STRIP, NULL, NULL },
	{ "shell_environment_policy.ignore_default_excludes", AB_IMPORT_LEFT, "names of secrets are always stripped; use env.pass", NULL },
};

static const struct ab_import_word nono_block[] = {
	{ "true", "", "blocked", NULL },
	{ "false", "", "", "instead of the whole network, hosts are asked about; for all of it: \"mode\": \"allowed\"" },
	{ "", "", "", NULL },
};
static const struct ab_import_word nono_workdir[] = {
	{ "readwrite", "", "", NULL },
	{ "read", "read-only", "", NULL },
	{ "none", "read-only", "", "the workspace can be read" },
	{ "", "", "", NULL },
};
static const struct ab_import_word nono_bases[] = {
	{ "claude-code", "claude", "", NULL },
	{ "codex", "codex", "", NULL },
	{ "opencode", "opencode", "", NULL },
	{ "default", "", "", NULL },
	{ "", "", "", NULL },
};

static const struct ab_import_row nono_rows[] = {
	{ "$schema", AB_IMPORT_NOTHING, NULL, NULL },
	{ "meta", AB_IMPORT_NOTHING, NULL, NULL },
	{ "interactive", AB_IMPORT_NOTHING, NULL, NULL },
	{ "extends", AB_IMPORT_WORD, NULL, nono_bases },
	{ "workdir.access", AB_IMPORT_WORD, NULL, nono_workdir },
	{ "filesystem.allow", AB_IMPORT_WRITE, NULL, NULL },
	{ "filesystem.write", AB_IMPORT_WRITE, NULL, NULL },
	{ "filesystem.allow_file", AB_IMPORT_WRITE, NULL, NULL },
	{ "filesystem.write_file", AB_IMPORT_WRITE, NULL, NULL },
	{ "filesystem.read", AB_IMPORT_LEFT, readable, NULL },
	{ "filesystem.read_file", AB_IMPORT_LEFT, readable, NULL },
	{ "filesystem.deny", AB_IMPORT_DENY_READ, NULL, NULL },
	{ "filesystem.bypass_protection", AB_IMPORT_LEFT, "to open a path that agentbox denies, add \"!path\" to filesystem.denyRead", NULL },
	{ "filesystem.suppress_save_prompt", AB_IMPORT_NOTHING, NULL, NULL },
	{ "filesystem.ignore", AB_IMPORT_NOTHING, NULL, NULL },
	{ "network.block", AB_IMPORT_WORD, NULL, nono_block },
	{ "network.allow_domain", AB_IMPORT_HOST, NULL, NULL },
	{ "network.proxy_allow", AB_IMPORT_HOST, NULL, NULL },
	{ "network.allow_proxy", AB_IMPORT_HOST, NULL, NULL },
	{ "network.open_port", AB_IMPORT_PORT, NULL, NULL },
	{ "network.port_allow", AB_IMPORT_PORT, NULL, NULL },
	{ "network.allow_port", AB_IMPORT_PORT, NULL, NULL },
	{ "network.listen_port", AB_IMPORT_LEFT, "programs in the box may listen; to reach one from outside: --publish PORT", NULL },
	{ "network.credentials", AB_IMPORT_LEFT, secret, NULL },
	{ "network.custom_credentials", AB_IMPORT_LEFT, secret, NULL },
	{ "network.upstream_proxy", AB_IMPORT_LEFT, "set network.upstream", NULL },
	{ "env_credentials", AB_IMPORT_LEFT, secret, NULL },
	{ "secrets", AB_IMPORT_LEFT, secret, NULL },
	{ "commands.allow", AB_IMPORT_PROGRAM_ALLOW, NULL, NULL },
	{ "commands.deny", AB_IMPORT_PROGRAM_DENY, NULL, NULL },
	{ "groups.include", AB_IMPORT_LEFT, "for a language use \"with\" (agentbox profile presets)", NULL },
	{ "security.groups", AB_IMPORT_LEFT, "for a language use \"with\" (agentbox profile presets)", NULL },
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
