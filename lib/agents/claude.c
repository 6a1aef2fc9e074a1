#include "agents/hook_dialect.h"
#include "agents/import_format.h"
#include "agents/list.h"

static const struct ab_hook_tool tools[] = {
	{ NULL, "Bash", AB_HOOK_COMMAND, "command", false, NULL },
	{ NULL, "Read", AB_HOOK_READ, "file_path", false, NULL },
	{ NULL, "NotebookRead", AB_HOOK_READ, "notebook_path", false, NULL },
	{ NULL, "Grep", AB_HOOK_READ, "path", true, NULL },
	{ NULL, "Glob", AB_HOOK_READ, "path", true, "pattern" },
	{ NULL, "LS", AB_HOOK_READ, "path", true, NULL },
	{ NULL, "Write", AB_HOOK_WRITE, "file_path", false, NULL },
	{ NULL, "Edit", AB_HOOK_WRITE, "file_path", false, NULL },
	{ NULL, "MultiEdit", AB_HOOK_WRITE, "file_path", false, NULL },
	{ NULL, "NotebookEdit", AB_HOOK_WRITE, "notebook_path", false, NULL },
};

static const struct ab_hook_dialect hook = {
	.agent = "claude-code",
	.also = "claude",
	.title = "Claude Code",
	.event = "hook_event_name",
	.moments = { { "PreToolUse", false, "tool_input", false },
		     { "PermissionRequest", true, "tool_input", false } },
	.tool = "tool_name",
	AB_HOOK_TOOLS(tools),
	.cwd = "cwd",
	.session = "session_id",
	.allows = true,
	.asks = true,
	.rewrites = true,
	.form = AB_HOOK_FORM_CLAUDE,
	.settings = ".claude/settings.json",
	.project_settings = ".claude/settings.json",
	.shape = AB_HOOK_SHAPE_MATCHED,
	.installed = { "PreToolUse", "PermissionRequest" },
};

static const struct ab_import_row import_rows[] = {
	{ "$schema", AB_IMPORT_NOTHING },
	{ "permissions.allow", AB_IMPORT_RULE_ALLOW },
	{ "permissions.ask", AB_IMPORT_RULE_ASK },
	{ "permissions.deny", AB_IMPORT_RULE_DENY },
	{ "permissions.additionalDirectories", AB_IMPORT_WRITE },
	{ "permissions.defaultMode", AB_IMPORT_LEFT, AB_IMPORT_VERDICT },
	{ "sandbox.enabled", AB_IMPORT_NOTHING },
	{ "sandbox.autoAllowBashIfSandboxed", AB_IMPORT_NOTHING },
	{ "sandbox.excludedCommands", AB_IMPORT_LEFT, AB_IMPORT_OUTSIDE },
	{ "sandbox.allowUnsandboxedCommands", AB_IMPORT_LEFT, AB_IMPORT_OUTSIDE },
	{ "sandbox.network.allowedDomains", AB_IMPORT_HOST },
	{ "sandbox.network.deniedDomains", AB_IMPORT_DENY_HOST },
	{ "sandbox.network.allowUnixSockets", AB_IMPORT_UNIX },
	{ "sandbox.network.allowLocalBinding", AB_IMPORT_NOTHING },
	{ "sandbox.filesystem.allowWrite", AB_IMPORT_WRITE },
	{ "sandbox.filesystem.denyWrite", AB_IMPORT_DENY_WRITE },
	{ "sandbox.filesystem.denyRead", AB_IMPORT_DENY_READ },
	{ "sandbox.filesystem.allowRead", AB_IMPORT_READ_BACK },
	{ "env.*", AB_IMPORT_VARIABLE },
	{ "hooks", AB_IMPORT_LEFT,
	  "hooks stay in that file; agentbox adds its own with: agentbox hook install claude-code" },
};

static const struct ab_import_format import = {
	.name = "claude-code",
	AB_IMPORT_ROWS(import_rows),
};

const struct ab_agent ab_agent_claude = {
	.name = "claude",
	.program = "claude",
	.folder = ".claude",
	.takes_prompt = true,
	.obeys = { "Claude Code", .closed = ".claude .claude.json",
		   .reported = "CLAUDE.local.md CLAUDE.md", .open = ".claude-plugin",
		   .like = ".claude*" },
	.credentials = "~/.claude/.credentials.json",
	.login = { "~/.claude/.credentials.json",
		   .renewed =
			   "claudeAiOauth.accessToken=token claudeAiOauth.refreshToken=token "
			   "claudeAiOauth.expiresAt=number claudeAiOauth.scopes=scopes "
			   "claudeAiOauth.refreshTokenExpiresAt=number "
			   "claudeAiOauth.subscriptionType=word claudeAiOauth.rateLimitTier=word "
			   "claudeAiOauth.clientId=word" },
	.doc = "Claude Code: a home layer of its own, its logins and its service.",
	.share = "~/.claude/projects ~/.claude/todos",
	/* Instructions for later sessions, and scripts of workflows. */
	.closed = "~/.claude/projects/*/memory ~/.claude/projects/*/*/workflows",
	.hosts = "*.anthropic.com claude.ai *.claude.ai claude.com *.claude.com",
	/* The marketplace would be cloned, with git and ssh, at the first start. */
	.quiet = "raw.githubusercontent.com github.com registry.npmjs.org *.datadoghq.com "
		 "*.sentry.io",
	.keys = "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN",
	/* The first for the marketplace; and a new version would be installed into the layer. */
	.set = "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1 DISABLE_AUTOUPDATER=1",
	.words = { "--settings", "{\"sandbox\":{\"enabled\":false}}" },
	.unless = "--settings",
	.hook = &hook,
	.import = &import,
	.nono = "claude-code",
};
