#include "agents/agents.h"
#include "steer/import/imported.h"

static const char secret[] = "credentials are not copied; use a secret (agentbox-secrets(1))";
static const char readable[] =
	"everything except credentials is readable; for a list of your own use filesystem.read";
static const char presets[] = "for a language use \"with\" (agentbox profile presets)";
static const char git_config[] = "git in the box may change harmless settings of .git/config";

/* clang-format off */
static const struct ab_import_row srt_rows[] = {
	{ "network.allowedDomains", AB_IMPORT_HOST },
	{ "network.deniedDomains", AB_IMPORT_DENY_HOST },
	{ "network.deniedDomainReasons network.strictAllowlist network.allowLocalBinding ignoreViolations",
	  AB_IMPORT_NOTHING },
	{ "network.allowUnixSockets", AB_IMPORT_UNIX },
	{ "network.allowAllUnixSockets", AB_IMPORT_LEFT, "name the sockets: filesystem.unix" },
	{ "network.parentProxy", AB_IMPORT_LEFT, "set network.upstream" },
	{ "filesystem.denyRead", AB_IMPORT_DENY_READ },
	{ "filesystem.allowRead", AB_IMPORT_READ_BACK },
	{ "filesystem.allowWrite", AB_IMPORT_WRITE },
	{ "filesystem.denyWrite", AB_IMPORT_DENY_WRITE },
	{ "filesystem.allowGitConfig", AB_IMPORT_LEFT, git_config },
	{ "credentials", AB_IMPORT_LEFT, secret },
};

static const struct ab_import_word nono_block[] = {
	{ "true", "", "blocked" },
	{ "false", "", "", AB_IMPORT_ASKED },
	{ "", "", "" },
};
static const struct ab_import_word nono_workdir[] = {
	{ "readwrite", "", "" },
	{ "read", "read-only", "" },
	{ "none", "read-only", "", "the workspace can be read" },
	{ "", "", "" },
};
static const struct ab_import_row nono_rows[] = {
	{ "$schema meta interactive filesystem.suppress_save_prompt filesystem.ignore", AB_IMPORT_NOTHING },
	{ "extends", AB_IMPORT_AGENT },
	{ "workdir.access", AB_IMPORT_WORD, NULL, nono_workdir },
	{ "filesystem.allow filesystem.write filesystem.allow_file filesystem.write_file", AB_IMPORT_WRITE },
	{ "filesystem.read filesystem.read_file", AB_IMPORT_LEFT, readable },
	{ "filesystem.deny", AB_IMPORT_DENY_READ },
	{ "filesystem.bypass_protection", AB_IMPORT_LEFT, "to open a path that agentbox denies, add \"!path\" to filesystem.denyRead" },
	{ "network.block", AB_IMPORT_WORD, NULL, nono_block },
	{ "network.allow_domain network.proxy_allow network.allow_proxy", AB_IMPORT_HOST },
	{ "network.open_port network.port_allow network.allow_port", AB_IMPORT_PORT },
	{ "network.listen_port", AB_IMPORT_LEFT, "programs in the box may listen; to reach one from outside: --publish PORT" },
	{ "network.credentials network.custom_credentials env_credentials secrets", AB_IMPORT_LEFT, secret },
	{ "network.upstream_proxy", AB_IMPORT_LEFT, "set network.upstream" },
	{ "commands.allow", AB_IMPORT_PROGRAM_ALLOW },
	{ "commands.deny", AB_IMPORT_PROGRAM_DENY },
	{ "groups.include security.groups", AB_IMPORT_LEFT, presets },
};

static const struct ab_import_format srt = { "srt", .closed = true, AB_IMPORT_ROWS(srt_rows) };
static const struct ab_import_format nono = { "nono", AB_IMPORT_ROWS(nono_rows) };
/* clang-format on */

const struct ab_import_format *ab_import_format_find(const char *name)
{
	if (strcmp(name, srt.name) == 0)
		return &srt;
	if (strcmp(name, nono.name) == 0)
		return &nono;
	/* The profile of Claude Code has the program's name. */
	for (size_t i = 0; ab_agents[i]; i++)
		if (ab_agents[i]->import && (strcmp(ab_agents[i]->import->name, name) == 0 ||
					     strcmp(ab_agents[i]->name, name) == 0))
			return ab_agents[i]->import;
	return NULL;
}
