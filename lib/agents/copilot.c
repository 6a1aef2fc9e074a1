#include "agents/hook_dialect.h"
#include "agents/list.h"
#include "agents/provider.h"

static const struct ab_hook_tool tools[] = {
	{ NULL, "bash", AB_HOOK_COMMAND, "command", false, NULL },
	{ NULL, "view", AB_HOOK_READ, "path", false, NULL },
	{ NULL, "create", AB_HOOK_WRITE, "path", false, NULL },
	{ NULL, "edit", AB_HOOK_WRITE, "path", false, NULL },
	{ NULL, "grep", AB_HOOK_READ, "paths", true, NULL },
	{ NULL, "glob", AB_HOOK_READ, "paths", true, "pattern" },
};

/* A command that it asks about would run as it was, outside the box. */
static const struct ab_hook_dialect hook = {
	.agent = "copilot",
	.title = "Copilot CLI",
	.event = "hookName",
	.moments = { { NULL, false, "toolArgs", true },
		     { "permissionRequest", true, "toolInput", true } },
	.tool = "toolName",
	AB_HOOK_TOOLS(tools),
	.cwd = "cwd",
	.session = "sessionId",
	.rewrites = true,
	.form = AB_HOOK_FORM_COPILOT,
	.settings = ".copilot/hooks/agentbox.json",
	.project_settings = ".github/hooks/agentbox.json",
	.shape = AB_HOOK_SHAPE_TYPED,
	.versioned = true,
	.installed = { "preToolUse", "permissionRequest" },
};

/* Its key is a token of GitHub. */
static const struct ab_provider service = {
	.name = "copilot",
	.title = "GitHub Copilot",
	.names = { "COPILOT_GITHUB_TOKEN" },
	.hosts = { "*.githubcopilot.com", "api.github.com" },
	AB_CARRIERS({ AB_CARRY_BEARER }, { AB_CARRY_TOKEN }),
	.prefixes = AB_GITHUB_PREFIXES,
};

/* The token of GitHub is not renewed, so nothing is returned. It shares nothing, because it mixes
 * conversations with extensions. */
const struct ab_agent ab_agent_copilot = {
	.name = "copilot",
	.program = "copilot",
	.folder = ".copilot",
	.takes_prompt = true,
	.obeys = { "Copilot", .closed = ".github/hooks",
		   .reported = ".github/copilot-instructions.md",
		   .open = ".copilot .github/copilot* .github/instructions .github/prompts "
			   ".github/chatmodes .github/agents",
		   .like = ".copilot" },
	.credentials = "~/.copilot/config.json",
	.more_credentials = "~/.config/github-copilot",
	.doc = "Copilot CLI: a home layer of its own and its service.",
	.hosts = "*.githubcopilot.com api.github.com github.com:443",
	.keys = "COPILOT_GITHUB_TOKEN GH_TOKEN GITHUB_TOKEN COPILOT_PROVIDER_API_KEY "
		"COPILOT_PROVIDER_BEARER_TOKEN",
	.service = &service,
	.hook = &hook,
};
