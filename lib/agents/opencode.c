#include "agents/list.h"
#include "agents/provider.h"

static const struct ab_provider service = {
	.name = "opencode",
	.title = "OpenCode Zen",
	.names = { "OPENCODE_API_KEY" },
	.hosts = { "opencode.ai" },
	AB_CARRIERS({ AB_CARRY_BEARER }, { AB_CARRY_HEADER, "x-api-key" },
		    { AB_CARRY_HEADER, "x-goog-api-key" }),
	.prefixes = { "sk-" },
};

/* It shares nothing, because its conversations are in a database. It has no sandbox. */
const struct ab_agent ab_agent_opencode = {
	.name = "opencode",
	.program = "opencode",
	.folder = ".local/share/opencode",
	.takes_prompt = true,
	.obeys = { "OpenCode", .closed = ".opencode opencode.json opencode.jsonc .config/opencode",
		   .open = "opencode.json*", .like = "opencode.json*" },
	.credentials = "~/.local/share/opencode/auth.json",
	/* Left out on purpose: "enterpriseUrl" says which server gets every later conversation;
	 * accounts of type "wellknown" load settings, with programs in them, from a server and set
	 * a variable of any name. */
	.login = { "~/.local/share/opencode/auth.json",
		   .renewed = "access=token refresh=token expires=number key=token",
		   .login = "type=token accountId=token", .types = "oauth api" },
	.doc = "OpenCode: a home layer of its own, its logins and the model services.",
	.hosts = "opencode.ai *.opencode.ai models.dev @llm",
	.quiet = "api.github.com registry.npmjs.org",
	.keys = "OPENCODE_API_KEY ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY "
		"OPENROUTER_API_KEY",
	.set = "OPENCODE_DISABLE_AUTOUPDATE=1",
	.service = &service,
	.nono = "opencode",
};
