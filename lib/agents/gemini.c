#include "agents/hook_dialect.h"
#include "agents/list.h"

static const struct ab_hook_tool tools[] = {
	{ NULL, "run_shell_command", AB_HOOK_COMMAND, "command", false, NULL },
	{ NULL, "read_file", AB_HOOK_READ, "file_path", false, NULL },
	{ NULL, "list_directory", AB_HOOK_READ, "dir_path", true, NULL },
	{ NULL, "grep_search", AB_HOOK_READ, "dir_path", true, NULL },
	{ NULL, "glob", AB_HOOK_READ, "dir_path", true, "pattern" },
	{ NULL, "write_file", AB_HOOK_WRITE, "file_path", false, NULL },
	{ NULL, "replace", AB_HOOK_WRITE, "file_path", false, NULL },
};

static const struct ab_hook_dialect hook = {
	.agent = "gemini",
	.title = "Gemini CLI",
	.event = "hook_event_name",
	.moments = { { "BeforeTool", false, "tool_input", false } },
	.tool = "tool_name",
	AB_HOOK_TOOLS(tools),
	.cwd = "cwd",
	.session = "session_id",
	.allows = true,
	.rewrites = true,
	.form = AB_HOOK_FORM_GEMINI,
	.settings = ".gemini/settings.json",
	.project_settings = ".gemini/settings.json",
	.shape = AB_HOOK_SHAPE_MATCHED,
	.milliseconds = true,
	.installed = { "BeforeTool" },
};

/* It shares nothing, because it mixes conversations with programs and skills. */
const struct ab_agent ab_agent_gemini = {
	.name = "gemini",
	.program = "gemini",
	.folder = ".gemini",
	.takes_prompt = true,
	.obeys = { "Gemini CLI", .closed = ".gemini", .reported = "GEMINI.md" },
	.credentials = "~/.gemini/oauth_creds.json ~/.gemini/google_accounts.json",
	.login = { "~/.gemini/oauth_creds.json",
		   .renewed = "access_token=token refresh_token=token id_token=token "
			      "expiry_date=number",
		   .login = "scope=scopes token_type=token" },
	.doc = "Gemini CLI: a home layer of its own, its logins and its service.",
	.hosts = "generativelanguage.googleapis.com cloudcode-pa.googleapis.com "
		 "aiplatform.googleapis.com oauth2.googleapis.com accounts.google.com",
	/* Usage statistics, and its check for a new version, have settings, but no variables. */
	.quiet = "play.googleapis.com registry.npmjs.org",
	.keys = "GEMINI_API_KEY GOOGLE_API_KEY",
	.set = "GEMINI_SANDBOX=false",
	.hook = &hook,
};
