#include "policy/layers/profiles.h"

#include <string.h>

#include "base/data/mem.h"

/* clang-format off */
static const struct ab_preset default_presets[] = {
	{ AB_KEY_WRITE, "." },
	{ AB_KEY_READ, "all" },
	{ AB_KEY_HOME, "readonly" },
	{ AB_KEY_UNIX, NULL },
	{ AB_KEY_TMP_SIZE, "1G" },
	{ AB_KEY_NET_MODE, "filtered" },
	{ AB_KEY_NET_ALLOW, NULL },
	{ AB_KEY_NET_DENY, NULL },
	{ AB_KEY_NET_UNKNOWN, "ask" },
	{ AB_KEY_NET_WAIT, "1m" },
	{ AB_KEY_ALLOW_PRIVATE, NULL },
	{ AB_KEY_HOST_PORTS, NULL },
	{ AB_KEY_PUBLISH, NULL },
	{ AB_KEY_UPSTREAM, "none" },
	{ AB_KEY_HTTP, NULL },
	{ AB_KEY_ROOTS, NULL },
	{ AB_KEY_ENV_MODE, "strip" },
	{ AB_KEY_ENV_SET, NULL },
	{ AB_KEY_RULES, NULL },
	{ AB_KEY_OVERRIDE, NULL },
	{ AB_KEY_ENFORCE, "start" },
	{ AB_KEY_TIMEOUT, "none" },
	{ AB_KEY_MEMORY, "none" },
	{ AB_KEY_PROCESSES, "4096" },
	{ AB_KEY_FILES, "none" },
	{ AB_KEY_CPU, "none" },
	{ AB_KEY_FILE_SIZE, "none" },
	{ AB_KEY_OUTPUT, "10M" },
	{ AB_KEY_DENIALS, "100" },
	{ AB_KEY_UPLOAD_HOST, "none" },
	{ AB_KEY_UPLOAD_RUN, "none" },
	{ AB_KEY_NEW_HOSTS, "none" },
	{ AB_KEY_ACTION, "warn" },
	{ AB_KEY_KEEP_FOR, "30d" },
	{ AB_KEY_KEEP_RUNS, "1000" },
	{ AB_KEY_REQUIRE, "user-ns" },
	{ AB_KEY_REQUIRE, "pid-fence" },
	{ AB_KEY_REQUIRE, "net-fence" },
	{ AB_KEY_REQUIRE, "dns-fence" },
	{ AB_KEY_REQUIRE, "write-fence" },
	{ AB_KEY_REQUIRE, "read-deny" },
	{ AB_KEY_REQUIRE, "protected-names" },
	{ AB_KEY_REQUIRE, "ipc-fence" },
	{ AB_KEY_REQUIRE, "syscalls" },
	{ AB_KEY_REQUIRE, "no-new-privs" },
	{ AB_KEY_FALLBACK, "strict" },
	{ AB_KEY_SECRETS, NULL },

/* Variables that most programs need. They matter only in the mode "listed". */
#define PASS_BASICS                                                          \
	{ AB_KEY_ENV_PASS, "PATH" }, { AB_KEY_ENV_PASS, "HOME" },            \
	{ AB_KEY_ENV_PASS, "USER" }, { AB_KEY_ENV_PASS, "LOGNAME" },         \
	{ AB_KEY_ENV_PASS, "SHELL" }, { AB_KEY_ENV_PASS, "TERM" },           \
	{ AB_KEY_ENV_PASS, "COLORTERM" }, { AB_KEY_ENV_PASS, "NO_COLOR" },   \
	{ AB_KEY_ENV_PASS, "LANG" }, { AB_KEY_ENV_PASS, "LANGUAGE" },        \
	{ AB_KEY_ENV_PASS, "LC_*" }, { AB_KEY_ENV_PASS, "TZ" }
	PASS_BASICS,
};
/* clang-format on */

static const struct ab_preset read_only_presets[] = {
	{ AB_KEY_WRITE, NULL },
	{ AB_KEY_NET_MODE, "blocked" },
	{ AB_KEY_NET_UNKNOWN, "deny" },
};

static const struct ab_preset workspace_write_presets[] = {
	{ AB_KEY_NET_MODE, "blocked" },
	{ AB_KEY_NET_UNKNOWN, "deny" },
};

static const struct ab_preset whitelist_presets[] = {
	{ AB_KEY_NET_MODE, "filtered" },
	{ AB_KEY_NET_UNKNOWN, "deny" },
};

static const struct ab_preset development_presets[] = {
	{ AB_KEY_NET_MODE, "allowed" },	       { AB_KEY_FALLBACK, "warn" },
	{ AB_KEY_REQUIRE, "user-ns" },	       { AB_KEY_REQUIRE, "pid-fence" },
	{ AB_KEY_REQUIRE, "write-fence" },     { AB_KEY_REQUIRE, "read-deny" },
	{ AB_KEY_REQUIRE, "protected-names" }, { AB_KEY_REQUIRE, "ipc-fence" },
	{ AB_KEY_REQUIRE, "syscalls" },	       { AB_KEY_REQUIRE, "no-new-privs" },
};

static const struct ab_preset ci_presets[] = {
	{ AB_KEY_NET_MODE, "blocked" },
	{ AB_KEY_NET_UNKNOWN, "deny" },
	{ AB_KEY_FALLBACK, "strict" },
};

/*
 * Agents. Each can write its own state, reach its own service and keep the
 * variables that it needs to log in. The sandboxes of Claude Code and Codex have
 * no documented variable to switch them off (only a setting and an option);
 * OpenCode has no sandbox.
 */
static const struct ab_preset claude_presets[] = {
	{ AB_KEY_WRITE, "." },
	{ AB_KEY_WRITE, "~/.claude" },
	{ AB_KEY_WRITE, "~/.claude.json" },
	{ AB_KEY_DENY_READ, "!~/.claude/.credentials.json" },
	{ AB_KEY_NET_ALLOW, "*.anthropic.com" },
	{ AB_KEY_NET_ALLOW, "claude.ai" },
	{ AB_KEY_NET_ALLOW, "*.claude.ai" },
	{ AB_KEY_NET_ALLOW, "claude.com" },
	{ AB_KEY_NET_ALLOW, "*.claude.com" },
	PASS_BASICS,
	{ AB_KEY_ENV_PASS, "ANTHROPIC_API_KEY" },
	{ AB_KEY_ENV_PASS, "ANTHROPIC_AUTH_TOKEN" },
	{ AB_KEY_ENV_PASS, "CLAUDE_CODE_OAUTH_TOKEN" },
};

static const struct ab_preset codex_presets[] = {
	{ AB_KEY_WRITE, "." },
	{ AB_KEY_WRITE, "~/.codex" },
	{ AB_KEY_DENY_READ, "!~/.codex/auth.json" },
	{ AB_KEY_NET_ALLOW, "api.openai.com" },
	{ AB_KEY_NET_ALLOW, "auth.openai.com" },
	{ AB_KEY_NET_ALLOW, "chatgpt.com" },
	{ AB_KEY_NET_ALLOW, "*.chatgpt.com" },
	PASS_BASICS,
	{ AB_KEY_ENV_PASS, "OPENAI_API_KEY" },
	{ AB_KEY_ENV_PASS, "CODEX_API_KEY" },
};

static const struct ab_preset gemini_presets[] = {
	{ AB_KEY_WRITE, "." },
	{ AB_KEY_WRITE, "~/.gemini" },
	{ AB_KEY_DENY_READ, "!~/.gemini/oauth_creds.json" },
	{ AB_KEY_DENY_READ, "!~/.gemini/google_accounts.json" },
	{ AB_KEY_NET_ALLOW, "generativelanguage.googleapis.com" },
	{ AB_KEY_NET_ALLOW, "cloudcode-pa.googleapis.com" },
	{ AB_KEY_NET_ALLOW, "aiplatform.googleapis.com" },
	{ AB_KEY_NET_ALLOW, "oauth2.googleapis.com" },
	{ AB_KEY_NET_ALLOW, "accounts.google.com" },
	PASS_BASICS,
	{ AB_KEY_ENV_PASS, "GEMINI_API_KEY" },
	{ AB_KEY_ENV_PASS, "GOOGLE_API_KEY" },
	{ AB_KEY_ENV_SET, "GEMINI_SANDBOX=false" },
};

static const struct ab_preset opencode_presets[] = {
	{ AB_KEY_WRITE, "." },
	{ AB_KEY_WRITE, "~/.config/opencode" },
	{ AB_KEY_WRITE, "~/.local/share/opencode" },
	{ AB_KEY_WRITE, "~/.local/state/opencode" },
	{ AB_KEY_WRITE, "~/.cache/opencode" },
	{ AB_KEY_DENY_READ, "!~/.local/share/opencode/auth.json" },
	{ AB_KEY_NET_ALLOW, "opencode.ai" },
	{ AB_KEY_NET_ALLOW, "*.opencode.ai" },
	{ AB_KEY_NET_ALLOW, "models.dev" },
	{ AB_KEY_NET_ALLOW, "@llm" },
	PASS_BASICS,
	{ AB_KEY_ENV_PASS, "OPENCODE_API_KEY" },
	{ AB_KEY_ENV_PASS, "ANTHROPIC_API_KEY" },
	{ AB_KEY_ENV_PASS, "OPENAI_API_KEY" },
	{ AB_KEY_ENV_PASS, "GEMINI_API_KEY" },
	{ AB_KEY_ENV_PASS, "OPENROUTER_API_KEY" },
};

#define PRESETS(list) (list), AB_COUNT(list)

/* A parent comes before its children. */
const struct ab_profile ab_profiles[] = {
	{ "default", NULL,
	  "The workspace is writable; for unlisted hosts you are asked on the terminal.",
	  PRESETS(default_presets) },
	{ "read-only", "default", "Nothing is writable except a private /tmp; no network.",
	  PRESETS(read_only_presets) },
	{ "workspace-write", "default", "The workspace is writable; no network.",
	  PRESETS(workspace_write_presets) },
	{ "workspace-write-whitelist", "default",
	  "The workspace is writable; only listed hosts are allowed, without questions.",
	  PRESETS(whitelist_presets) },
	{ "development", "default",
	  "The workspace is writable; the host's own network; missing guarantees only cause a warning.",
	  PRESETS(development_presets) },
	{ "ci", "default",
	  "The workspace is writable; no network, no questions; every guarantee is required.",
	  PRESETS(ci_presets) },
	{ "claude", "default", "Claude Code: its state folder and its service.",
	  PRESETS(claude_presets) },
	{ "codex", "default", "Codex: its state folder and its service.", PRESETS(codex_presets) },
	{ "gemini", "default", "Gemini CLI: its state folder and its service.",
	  PRESETS(gemini_presets) },
	{ "opencode", "default", "OpenCode: its state folders and the model services.",
	  PRESETS(opencode_presets) },
};

const size_t ab_profile_count = AB_COUNT(ab_profiles);

const struct ab_profile *ab_profile_find(const char *name)
{
	for (size_t i = 0; i < ab_profile_count; i++)
		if (strcmp(ab_profiles[i].name, name) == 0)
			return &ab_profiles[i];
	return NULL;
}
