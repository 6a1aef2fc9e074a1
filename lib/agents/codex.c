#include "agents/hook_dialect.h"
#include "agents/import_format.h"
#include "agents/list.h"

static const struct ab_hook_tool tools[] = {
	{ NULL, "Bash", AB_HOOK_COMMAND, "command", false, NULL },
	{ NULL, "apply_patch", AB_HOOK_PATCH, "command", false, NULL },
	{ NULL, "view_image", AB_HOOK_READ, "path", true, NULL },
};

/* It ignores "ask", and "allow" for a command that stays as it is. */
static const struct ab_hook_dialect hook = {
	.agent = "codex",
	.title = "Codex CLI",
	.event = "hook_event_name",
	.moments = { { "PreToolUse", false, "tool_input", false },
		     { "PermissionRequest", true, "tool_input", false } },
	.tool = "tool_name",
	AB_HOOK_TOOLS(tools),
	.cwd = "cwd",
	.session = "session_id",
	.rewrites = true,
	.form = AB_HOOK_FORM_CLAUDE,
	.settings = ".codex/hooks.json",
	.project_settings = ".codex/hooks.json",
	.shape = AB_HOOK_SHAPE_MATCHED,
	.installed = { "PreToolUse", "PermissionRequest" },
	.needs = "Codex runs a hook only after you have trusted it: start codex, open /hooks "
		 "and trust the two hooks of agentbox. Until then codex ignores them without "
		 "a message, in codex exec too.\n"
		 "The box cannot start inside Codex's own sandbox: start codex with --sandbox "
		 "danger-full-access, so that the box confines its commands instead.",
};

static const struct ab_import_word modes[] = {
	{ "read-only", "read-only", "" },
	{ "workspace-write", "workspace-write", "" },
	{ "danger-full-access", "", "", AB_IMPORT_OUTSIDE },
	{ "", "", "" },
};

static const struct ab_import_word network[] = {
	{ "true", "", "filtered", AB_IMPORT_ASKED },
	{ "false", "", "blocked" },
	{ "", "", "" },
};

static const struct ab_import_row import_rows[] = {
	{ "sandbox_mode", AB_IMPORT_WORD, NULL, modes },
	{ "sandbox_workspace_write.writable_roots", AB_IMPORT_WRITE },
	{ "sandbox_workspace_write.network_access", AB_IMPORT_WORD, NULL, network },
	{ "sandbox_workspace_write.exclude_tmpdir_env_var", AB_IMPORT_NOTHING },
	{ "sandbox_workspace_write.exclude_slash_tmp", AB_IMPORT_NOTHING },
	{ "approval_policy", AB_IMPORT_LEFT, AB_IMPORT_VERDICT },
	{ "shell_environment_policy.set.*", AB_IMPORT_VARIABLE },
	{ "shell_environment_policy.include_only", AB_IMPORT_PASS },
	{ "shell_environment_policy.exclude", AB_IMPORT_STRIP },
	{ "shell_environment_policy.ignore_default_excludes", AB_IMPORT_LEFT,
	  "names of secrets are always stripped; use env.pass" },
};

static const struct ab_import_format import = {
	.name = "codex",
	.toml = true,
	AB_IMPORT_ROWS(import_rows),
};

const struct ab_agent ab_agent_codex = {
	.name = "codex",
	.program = "codex",
	.folder = ".codex",
	.takes_prompt = true,
	.obeys = { "Codex", .closed = ".codex", .reported = "AGENTS.override.md" },
	.credentials = "~/.codex/auth.json",
	.login = { "~/.codex/auth.json",
		   .renewed = "tokens.id_token=token tokens.access_token=token "
			      "tokens.refresh_token=token tokens.account_id=word last_refresh=time",
		   .login = "auth_mode=token OPENAI_API_KEY=word" },
	.doc = "Codex: a home layer of its own, its logins and its service.",
	.share = "~/.codex/sessions",
	.hosts = "api.openai.com auth.openai.com chatgpt.com *.chatgpt.com",
	/* Its check for a new version has a setting, but no variable. */
	.quiet = "github.com api.github.com registry.npmjs.org *.sentry.io",
	.keys = "OPENAI_API_KEY CODEX_API_KEY",
	.words = { "-c", "sandbox_mode=danger-full-access" },
	.unless = "-s --sandbox sandbox_mode --dangerously-bypass-approvals-and-sandbox --yolo",
	.key = { "exec e", "OPENAI_API_KEY", "CODEX_API_KEY" },
	.hook = &hook,
	.import = &import,
	.nono = "codex",
};
