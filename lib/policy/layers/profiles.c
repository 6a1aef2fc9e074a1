#include "policy/layers/profiles.h"

#include <string.h>

#include "base/data/mem.h"

/*
 * Files that hold a credential, or with which others could act as the user.
 * Reading the rest of the home folder is normal work. The order matters only
 * for "!", which takes back what comes before it.
 */
/* clang-format off */
const char *const ab_default_deny_read[] = {
	/* ssh: private keys under any name, but not what git needs to run */
	"~/.ssh/*", "!~/.ssh/known_hosts*", "!~/.ssh/config",
	"!~/.ssh/config.d", "!~/.ssh/*.pub", "!~/.ssh/authorized_keys",
	"~/.gnupg", "~/.pki", "~/.putty", "~/.age", "~/.config/sops",
	"~/.config/age",

	/* clouds and clusters */
	"~/.aws", "~/.azure", "~/.config/gcloud", "~/.boto", "~/.gsutil",
	"~/.oci", "~/.config/doctl", "~/.config/hcloud", "~/.config/scw",
	"~/.config/linode-cli", "~/.config/rclone", "~/.s3cfg", "~/.kube",
	"~/.config/helm/registry", "~/.config/containers/auth.json",
	"~/.docker/config.json", "~/.docker/contexts",
	"~/.terraform.d/credentials.tfrc.json", "~/.terraformrc",
	"~/.pulumi/credentials.json", "~/.vault-token", "~/.config/op",
	"~/.fly/config.yml", "~/.config/heroku", "~/.config/netlify", "~/.vercel",
	"~/.local/share/com.vercel.cli", "~/.config/.wrangler", "~/.wrangler",
	"~/.ibmcloud", "~/.bluemix", "~/.mc/config.json",

	/* source hosting */
	"~/.git-credentials", "~/.config/git/credentials",
	"~/.config/gh/hosts.yml", "~/.config/glab-cli", "~/.config/hub",
	"~/.config/tea", "~/.netrc", "~/.authinfo", "~/.authinfo.gpg",

	/* package registries */
	"~/.npmrc", "~/.yarnrc.yml", "~/.pypirc",
	"~/.config/configstore/firebase-tools.json",
	"~/.config/configstore/snyk.json",
	"~/.config/pypoetry/auth.toml", "~/.local/share/uv/credentials",
	"~/.config/uv/credentials.toml", "~/.cargo/credentials",
	"~/.cargo/credentials.toml", "~/.gem/credentials",
	"~/.local/share/gem/credentials", "~/.bundle/config",
	"~/.composer/auth.json", "~/.config/composer/auth.json",
	"~/.m2/settings.xml", "~/.m2/settings-security.xml",
	"~/.gradle/gradle.properties", "~/.nuget/NuGet/NuGet.Config",
	"~/.config/NuGet/NuGet.Config", "~/.hex/hex.config",
	"~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens",
	"~/.huggingface/token", "~/.kaggle", "~/.config/wandb",

	/* other agents; an agent's own profile takes its file back */
	"~/.claude/.credentials.json", "~/.codex/auth.json",
	"~/.gemini/oauth_creds.json", "~/.gemini/google_accounts.json",
	"~/.local/share/opencode/auth.json", "~/.config/github-copilot",
	"~/.copilot/config.json", "~/.qwen/oauth_creds.json",

	/* databases and mail */
	"~/.pgpass", "~/.my.cnf", "~/.mylogin.cnf", "~/.dbshell",
	"~/.msmtprc", "~/.config/msmtp",
	"~/.fetchmailrc", "~/.mbsyncrc", "~/.thunderbird", "~/.config/evolution",
	"~/.local/share/evolution", "~/.davfs2/secrets", "~/.smbcredentials",

	/* keyrings, password stores, wallets */
	"~/.password-store", "~/.local/share/keyrings", "~/.local/share/kwalletd",
	"~/.kde/share/apps/kwallet", "~/.config/keepassxc", "~/.keepass",
	"~/.config/KeePass", "~/.config/Bitwarden", "~/.config/Bitwarden CLI",
	"~/.config/1Password", "~/.lastpass", "~/.local/share/lpass",
	"~/.bitcoin", "~/.ethereum", "~/.electrum", "~/.config/solana",

	/* browsers: cookies and saved passwords */
	"~/.mozilla", "~/.librewolf", "~/.waterfox", "~/.config/google-chrome",
	"~/.config/google-chrome-beta", "~/.config/google-chrome-unstable",
	"~/.config/chromium", "~/.config/BraveSoftware",
	"~/.config/microsoft-edge", "~/.config/opera", "~/.config/vivaldi",
	"~/.config/qutebrowser", "~/.local/share/qutebrowser",
	"~/.var/app/*/config/google-chrome", "~/.var/app/*/.mozilla",
	"~/snap/firefox", "~/snap/chromium",

	/* chats keep session tokens */
	"~/.config/Slack", "~/.config/discord", "~/.config/Signal",
	"~/.config/Element", "~/.local/share/TelegramDesktop",
	"~/.config/teams-for-linux",

	/* shell history, which may contain secrets */
	"~/.bash_history", "~/.zsh_history", "~/.zhistory", "~/.histfile",
	"~/.history", "~/.sh_history", "~/.ash_history",
	"~/.local/share/fish/fish_history",
	"~/.python_history", "~/.node_repl_history", "~/.irb_history",
	"~/.psql_history", "~/.mysql_history", "~/.sqlite_history",
	"~/.rediscli_history", "~/.mongo_history", "~/.local/share/atuin",

	/* the keys of the display */
	"~/.Xauthority", "~/.ICEauthority",

	/* system files, for a run by root */
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-",
	"/etc/sudoers", "/etc/sudoers.d", "/etc/ssh/ssh_host_*_key",
	"/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab",
	"/etc/security/opasswd", "/etc/wireguard", "/etc/openvpn",
	"/etc/NetworkManager/system-connections", "/etc/wpa_supplicant",
	"/etc/ppp/chap-secrets", "/etc/ppp/pap-secrets", "/etc/rancher",
	"/etc/kubernetes", "/etc/letsencrypt/archive", "/etc/letsencrypt/keys",
	"/etc/docker/key.json", "/etc/mysql/debian.cnf",
	"/var/lib/kubelet", "/var/lib/docker", "/var/lib/containerd",
	"/var/lib/NetworkManager", "/var/lib/iwd", "/var/lib/bluetooth",
	"/var/lib/sss/secrets", "/var/lib/systemd/random-seed",

	/* what an orchestrator mounts into a container whose /var/run is not /run, which the box
	 * has its own of: tokens for the cluster and for clouds */
	"/var/run/secrets", "/vault/secrets",
	NULL,
};
/* clang-format on */

/*
 * Files that programs outside the box run or obey without asking: on `cd`, when an
 * editor or an interpreter starts, with any command of a version control system.
 * Ordinary project files (Makefile, package.json, .gitattributes, CI definitions)
 * are not among them: the command is here to edit those. Some of them are
 * reported when a run changed them (workspace/survey/project_files.c).
 */
/* clang-format off */
const char *const ab_default_deny_write[] = {
	/* git runs hooks, and commands that its configuration names */
	".git/hooks", ".git/config", ".git/config.worktree",
	".git/commondir", ".gitmodules", ".gitconfig", ".config/git",
	".githooks", ".husky",

	/* so do other version control systems */
	".hg/hgrc", ".hg/hgrc-not-shared", ".hgrc", ".config/hg",
	".jj/repo/config.toml", ".jj/workspace-config.toml", ".config/jj",
	".sl/config", ".bzr/branch/branch.conf",

	/* shells, when the writable folder is a home */
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
	".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv",
	".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
	".login", ".logout", ".inputrc", ".config/fish", ".xprofile",
	".xinitrc", ".xsession", ".xsessionrc", ".pam_environment",
	".config/environment.d", ".config/autostart", ".config/systemd",
	".local/bin", ".local/share/applications", ".tmux.conf",
	".config/tmux", ".screenrc",

	/* direnv and mise run them on `cd` */
	".envrc", "mise.toml", ".mise.toml", "mise.local.toml",
	".mise.local.toml", ".mise", ".config/mise", ".config/mise.toml",

	/* editors start tasks, debuggers and language servers from these */
	".vscode", ".idea", ".fleet", ".zed", ".exrc", ".vimrc", ".nvimrc",
	".nvim.lua", ".nvim", ".lvimrc", ".gvimrc", ".vim", ".config/nvim",
	".vimspector.json", ".helix", ".config/helix", ".emacs", ".emacs.d",
	".dir-locals.el", ".dir-locals-2.el", ".run", "*.code-workspace",
	".devcontainer", ".devcontainer.json",
	/* rust-analyzer runs the programs that it names */
	".cargo/config", ".cargo/config.toml",

	/* debuggers and interpreters run them when they start */
	".gdbinit", ".lldbinit", ".pdbrc", ".Rprofile", ".ocamlinit", ".irbrc",
	".pryrc", ".octaverc", ".ghci",

	/* agents: hooks, tool servers, permissions */
	".claude", ".claude.json", ".codex", ".cursor", ".gemini", ".opencode",
	"opencode.json", "opencode.jsonc", ".config/opencode", ".windsurf",
	".continue", ".aider.conf.yml", ".roo", ".cline", ".clinerules", ".kiro",
	".qwen", ".amp", ".factory", ".augment", ".trae", ".junie",
	".crush.json", "crush.json", ".agent", ".agents", ".github/hooks",
	".mcp.json",
	".config/agentbox", ".agentbox.json",

	/* keys and programs that fetch them, when the writable folder is a home */
	".ssh", ".gnupg", ".netrc", ".docker", ".kube", ".aws",
	NULL,
};
/* clang-format on */

/*
 * Variables that hold secrets, lead to a service outside the box, or make a
 * program run code that is not part of the command. NODE_OPTIONS and
 * JAVA_TOOL_OPTIONS can do the latter too, but in practice they hold memory
 * sizes that builds need, and what they load runs inside the box.
 */
/* clang-format off */
const char *const ab_default_strip[] = {
	/* usual names of secrets */
	"*TOKEN", "*TOKEN?", "*TOKEN_*", "*SECRET*", "*PASSWORD*", "*PASSWD*",
	"*PASSPHRASE*", "*CREDENTIAL*", "*CREDS*", "*PASS", "*_PWD", "*_PW", "PW",
	"KEY", "*_KEY", "*_KEY?", "*_KEY_*", "*APIKEY*", "*API_KEY*", "*ACCESS_KEY*",
	"*PRIVATE_KEY*", "*APPKEY", "*PRIVKEY*", "*SSHKEY*", "*AUTHKEY*",
	"AUTH", "*_AUTH", "*AUTHTOKEN*", "*_AUTH_CONFIG", "*BEARER*", "*_PAT", "JWT", "*_JWT*",
	"*JWT_*", "*_COOKIE*", "*_DSN", "OTEL_*_HEADERS", "*DATABASE_URL", "*_CONNECTION_STRING",
	"*WEBHOOK*", "REDIS_URL", "MONGO_URL", "MONGODB_URI", "AMQP_URL",
	"PGPASSFILE", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*",
	"GIT_CONFIG_VALUE_*", "GIT_CONFIG_PARAMETERS", "ACTIONS_RUNTIME_*",
	"ACTIONS_CACHE_URL", "ACTIONS_RESULTS_URL", "AWS_CONTAINER_*",

	/* agents, buses, displays, engines: ways to reach the host */
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS*", "GIT_ASKPASS",
	"SUDO_ASKPASS", "GPG_AGENT_INFO", "GNOME_KEYRING_*", "DBUS_*",
	"DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST", "DISPLAY",
	"WAYLAND_*", "XAUTHORITY", "ICEAUTHORITY", "SESSION_MANAGER",
	"AT_SPI_BUS_ADDRESS", "PULSE_SERVER", "PIPEWIRE_REMOTE", "I3SOCK",
	"SWAYSOCK", "KITTY_LISTEN_ON", "ALACRITTY_SOCKET",
	"WEZTERM_UNIX_SOCKET", "NVIM", "NVIM_LISTEN_ADDRESS", "VSCODE_*",
	"TMUX", "TMUX_PANE", "STY", "NOTIFY_SOCKET", "LISTEN_FDS",
	"LISTEN_PID", "LISTEN_FDNAMES", "JOURNAL_STREAM", "WATCHDOG_*",

	/* code that runs before the command's own */
	"LD_*", "GLIBC_TUNABLES", "GCONV_PATH", "BASH_ENV", "ENV",
	"BASH_FUNC_*", "PERL5OPT", "PERL5DB", "RUBYOPT", "PYTHONSTARTUP",
	"PROMPT_COMMAND", "LESSOPEN", "LESSCLOSE",

	"AGENTBOX_*",
	NULL,
};
/* clang-format on */

/* clang-format off */
static const struct ab_preset default_presets[] = {
	{ AB_KEY_WITH, NULL },
	{ AB_KEY_WRITE, "." },
	{ AB_KEY_READ, "all" },
	{ AB_KEY_HOME, "layered" },
	{ AB_KEY_SHARE, NULL },
	{ AB_KEY_RETURN, NULL },
	{ AB_KEY_REVIEW, "false" },
	{ AB_KEY_UNIX, NULL },
	{ AB_KEY_DATAGRAMS, "deny" },
	{ AB_KEY_TMP_SIZE, "1G" },
	{ AB_KEY_NET_MODE, "filtered" },
	{ AB_KEY_NET_ALLOW, NULL },
	{ AB_KEY_NET_DENY, NULL },
	{ AB_KEY_NET_QUIET, NULL },
	{ AB_KEY_NET_UNKNOWN, "ask" },
	{ AB_KEY_NET_WAIT, "1m" },
	{ AB_KEY_NOTIFY, "bell" },
	{ AB_KEY_NOTIFY, "desktop" },
	{ AB_KEY_NOTIFY, "tmux" },
	{ AB_KEY_NET_SNI, "optional" },
	{ AB_KEY_NET_ECH, "allow" },
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
	{ AB_KEY_TOOLS, NULL },
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
	{ AB_KEY_LAYERS_AGE, "90d" },
	{ AB_KEY_LAYERS_SIZE, "20G" },
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
	{ AB_KEY_ENGINE, "auto" },
	{ AB_KEY_SECRETS, NULL },
	{ AB_KEY_SSH_HOSTS, NULL },
	{ AB_KEY_SSH_KEYS, "all" },
	{ AB_KEY_SSH_USERS, "all" },
	{ AB_KEY_SSH_SIGN, NULL },
	{ AB_KEY_SSH_ASK, "first" },
	{ AB_KEY_SSH_ROUTE, "proxy" },
	{ AB_KEY_SSH_COUNT, "none" },
	{ AB_KEY_SSH_TIME, "none" },
	{ AB_KEY_DOCKER_IMAGES, NULL },
	{ AB_KEY_DOCKER_MOUNTS, NULL },
	{ AB_KEY_DOCKER_NETWORK, "none" },
	{ AB_KEY_DOCKER_PORTS, "none" },
	{ AB_KEY_DOCKER_PULL, "false" },
	{ AB_KEY_DOCKER_CAPABILITIES, "none" },
	{ AB_KEY_DOCKER_SOCKET, "auto" },
	{ AB_KEY_HOST_TOOLS, NULL },
	{ AB_KEY_HOST_TOOLS_MODE, "allow" },
	{ AB_KEY_USERNS, "deny" },
	{ AB_KEY_TERMINAL, "filtered" },

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
	{ AB_KEY_HOME, "readonly" },
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
 * Agents. Each can reach its own service and keeps the variables that it needs to log in. Its home
 * folder is a layer that is kept for the next run, so settings, hooks, plugins, tool servers,
 * instructions and downloaded programs work in the box, and an agent outside never sees them.
 *
 * `share`: folders of conversations, which are the host's own. Nothing in them may be a setting, an
 * instruction or a program of the agent; names of that kind are closed in them. The others share
 * nothing, because they mix conversations with what they obey: Gemini CLI with programs and skills,
 * Copilot CLI with extensions, Qwen Code with the permissions of paused agents; OpenCode has a
 * database.
 * `return`: logins that the service renews.
 * `quiet`: telemetry, updates and marketplaces, which would be asked about before the first screen.
 *
 * The agent decides what it runs, so every program is judged. In a layer some rules protect nothing.
 *
 * In the box an agent cannot create a sandbox of its own, and needs none. The sandboxes of Claude
 * Code and Codex have no documented variable to switch them off, so their profiles have words for the
 * command line (ab_profile_words); OpenCode has no sandbox. Chromium reads its options from
 * CHROMIUM_FLAGS where a distribution starts it by a script.
 */
/* clang-format off */
/* For an agent that wonders about what fails. */
#define SANDBOX_NOTE                                                           \
	"This runs in a sandbox (agentbox) on purpose. Only the workspace is " \
	"the user's own; other writes stay in a layer or are denied. Hosts "   \
	"are denied until the user allows them: a name that does not resolve, "\
	"CONNECT 403 and a closed connection can mean that. Tell the user the "\
	"host; they can run: agentbox allow HOST, and agentbox why shows what "\
	"was denied. Sandboxes inside this one (bwrap, unshare, Chromium) are "\
	"denied by agentbox, not by the kernel: use --no-sandbox there."
#define AGENT                                                                \
	{ AB_KEY_WRITE, "." },                                               \
	{ AB_KEY_HOME, "kept" },                                             \
	{ AB_KEY_ENFORCE, "children" },                                      \
	{ AB_KEY_OVERRIDE, "agent-config=sandboxed" },                       \
	{ AB_KEY_OVERRIDE, "global-install=sandboxed" },                     \
	{ AB_KEY_ENV_SET, "CHROMIUM_FLAGS=--no-sandbox" },                   \
	{ AB_KEY_ENV_SET, "SANDBOX_NOTE=" SANDBOX_NOTE },                    \
	PASS_BASICS

static const struct ab_preset claude_presets[] = {
	AGENT,
	{ AB_KEY_SHARE, "~/.claude/projects" },
	{ AB_KEY_SHARE, "~/.claude/todos" },
	/* Instructions for later sessions, and scripts of workflows. */
	{ AB_KEY_DENY_WRITE, "~/.claude/projects/*/memory" },
	{ AB_KEY_DENY_WRITE, "~/.claude/projects/*/*/workflows" },
	{ AB_KEY_RETURN, "~/.claude/.credentials.json" },
	{ AB_KEY_DENY_READ, "!~/.claude/.credentials.json" },
	{ AB_KEY_NET_ALLOW, "*.anthropic.com" },
	{ AB_KEY_NET_ALLOW, "claude.ai" },
	{ AB_KEY_NET_ALLOW, "*.claude.ai" },
	{ AB_KEY_NET_ALLOW, "claude.com" },
	{ AB_KEY_NET_ALLOW, "*.claude.com" },
	{ AB_KEY_ENV_PASS, "ANTHROPIC_API_KEY" },
	{ AB_KEY_ENV_PASS, "ANTHROPIC_AUTH_TOKEN" },
	{ AB_KEY_ENV_PASS, "CLAUDE_CODE_OAUTH_TOKEN" },
	/* It would be cloned, with git and ssh, at the first start. */
	{ AB_KEY_ENV_SET, "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1" },
	/* A new version would be installed into the layer. */
	{ AB_KEY_ENV_SET, "DISABLE_AUTOUPDATER=1" },
	{ AB_KEY_NET_QUIET, "raw.githubusercontent.com" },
	{ AB_KEY_NET_QUIET, "github.com" },
	{ AB_KEY_NET_QUIET, "registry.npmjs.org" },
	{ AB_KEY_NET_QUIET, "*.datadoghq.com" },
	{ AB_KEY_NET_QUIET, "*.sentry.io" },
};

static const struct ab_preset codex_presets[] = {
	AGENT,
	{ AB_KEY_SHARE, "~/.codex/sessions" },
	{ AB_KEY_RETURN, "~/.codex/auth.json" },
	{ AB_KEY_DENY_READ, "!~/.codex/auth.json" },
	{ AB_KEY_NET_ALLOW, "api.openai.com" },
	{ AB_KEY_NET_ALLOW, "auth.openai.com" },
	{ AB_KEY_NET_ALLOW, "chatgpt.com" },
	{ AB_KEY_NET_ALLOW, "*.chatgpt.com" },
	{ AB_KEY_ENV_PASS, "OPENAI_API_KEY" },
	{ AB_KEY_ENV_PASS, "CODEX_API_KEY" },
	/* Its check for a new version has a setting, but no variable. */
	{ AB_KEY_NET_QUIET, "github.com" },
	{ AB_KEY_NET_QUIET, "api.github.com" },
	{ AB_KEY_NET_QUIET, "registry.npmjs.org" },
	{ AB_KEY_NET_QUIET, "*.sentry.io" },
};

static const struct ab_preset gemini_presets[] = {
	AGENT,
	{ AB_KEY_RETURN, "~/.gemini/oauth_creds.json" },
	{ AB_KEY_DENY_READ, "!~/.gemini/oauth_creds.json" },
	{ AB_KEY_DENY_READ, "!~/.gemini/google_accounts.json" },
	{ AB_KEY_NET_ALLOW, "generativelanguage.googleapis.com" },
	{ AB_KEY_NET_ALLOW, "cloudcode-pa.googleapis.com" },
	{ AB_KEY_NET_ALLOW, "aiplatform.googleapis.com" },
	{ AB_KEY_NET_ALLOW, "oauth2.googleapis.com" },
	{ AB_KEY_NET_ALLOW, "accounts.google.com" },
	{ AB_KEY_ENV_PASS, "GEMINI_API_KEY" },
	{ AB_KEY_ENV_PASS, "GOOGLE_API_KEY" },
	{ AB_KEY_ENV_SET, "GEMINI_SANDBOX=false" },
	/* Usage statistics, and its check for a new version, have settings, but no variables. */
	{ AB_KEY_NET_QUIET, "play.googleapis.com" },
	{ AB_KEY_NET_QUIET, "registry.npmjs.org" },
};

static const struct ab_preset opencode_presets[] = {
	AGENT,
	{ AB_KEY_RETURN, "~/.local/share/opencode/auth.json" },
	{ AB_KEY_DENY_READ, "!~/.local/share/opencode/auth.json" },
	{ AB_KEY_NET_ALLOW, "opencode.ai" },
	{ AB_KEY_NET_ALLOW, "*.opencode.ai" },
	{ AB_KEY_NET_ALLOW, "models.dev" },
	{ AB_KEY_NET_ALLOW, "@llm" },
	{ AB_KEY_ENV_PASS, "OPENCODE_API_KEY" },
	{ AB_KEY_ENV_PASS, "ANTHROPIC_API_KEY" },
	{ AB_KEY_ENV_PASS, "OPENAI_API_KEY" },
	{ AB_KEY_ENV_PASS, "GEMINI_API_KEY" },
	{ AB_KEY_ENV_PASS, "OPENROUTER_API_KEY" },
	{ AB_KEY_ENV_SET, "OPENCODE_DISABLE_AUTOUPDATE=1" },
	{ AB_KEY_NET_QUIET, "api.github.com" },
	{ AB_KEY_NET_QUIET, "registry.npmjs.org" },
};

/* The token of GitHub is not renewed, so nothing is returned. */
static const struct ab_preset copilot_presets[] = {
	AGENT,
	{ AB_KEY_DENY_READ, "!~/.copilot/config.json" },
	{ AB_KEY_NET_ALLOW, "*.githubcopilot.com" },
	{ AB_KEY_NET_ALLOW, "api.github.com" },
	{ AB_KEY_NET_ALLOW, "github.com:443" },
	{ AB_KEY_ENV_PASS, "COPILOT_GITHUB_TOKEN" },
	{ AB_KEY_ENV_PASS, "GH_TOKEN" },
	{ AB_KEY_ENV_PASS, "GITHUB_TOKEN" },
	{ AB_KEY_ENV_PASS, "COPILOT_PROVIDER_API_KEY" },
	{ AB_KEY_ENV_PASS, "COPILOT_PROVIDER_BEARER_TOKEN" },
};

static const struct ab_preset qwen_presets[] = {
	AGENT,
	{ AB_KEY_RETURN, "~/.qwen/oauth_creds.json" },
	{ AB_KEY_DENY_READ, "!~/.qwen/oauth_creds.json" },
	{ AB_KEY_NET_ALLOW, "chat.qwen.ai" },
	{ AB_KEY_NET_ALLOW, "portal.qwen.ai" },
	{ AB_KEY_NET_ALLOW, "dashscope.aliyuncs.com" },
	{ AB_KEY_NET_ALLOW, "dashscope-intl.aliyuncs.com" },
	{ AB_KEY_NET_ALLOW, "@llm" },
	{ AB_KEY_ENV_PASS, "DASHSCOPE_API_KEY" },
	{ AB_KEY_ENV_PASS, "BAILIAN_CODING_PLAN_API_KEY" },
	{ AB_KEY_ENV_PASS, "OPENAI_API_KEY" },
	{ AB_KEY_ENV_SET, "QWEN_SANDBOX=false" },
};
/* clang-format on */

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
	{ "claude", "default", "Claude Code: a home layer of its own, its logins and its service.",
	  PRESETS(claude_presets), .agent = true,
	  .words = { "--settings", "{\"sandbox\":{\"enabled\":false}}" },
	  .unless = { "--settings" } },
	{ "codex", "default", "Codex: a home layer of its own, its logins and its service.",
	  PRESETS(codex_presets), .agent = true,
	  .words = { "-c", "sandbox_mode=danger-full-access" },
	  .unless = { "-s", "--sandbox", "sandbox_mode",
		      "--dangerously-bypass-approvals-and-sandbox", "--yolo" },
	  .key = { { "exec", "e" }, "OPENAI_API_KEY", "CODEX_API_KEY" } },
	{ "gemini", "default", "Gemini CLI: a home layer of its own, its logins and its service.",
	  PRESETS(gemini_presets), .agent = true },
	{ "opencode", "default",
	  "OpenCode: a home layer of its own, its logins and the model services.",
	  PRESETS(opencode_presets), .agent = true },
	{ "copilot", "default", "Copilot CLI: a home layer of its own and its service.",
	  PRESETS(copilot_presets), .agent = true },
	{ "qwen", "default",
	  "Qwen Code: a home layer of its own, its logins and the model services.",
	  PRESETS(qwen_presets), .agent = true },
};

const size_t ab_profile_count = AB_COUNT(ab_profiles);

const struct ab_profile *ab_profile_find(const char *name)
{
	for (size_t i = 0; i < ab_profile_count; i++)
		if (strcmp(ab_profiles[i].name, name) == 0)
			return &ab_profiles[i];
	return NULL;
}

const struct ab_profile *ab_profile_of_agent(const char *program)
{
	const char *slash = strrchr(program, '/');
	const struct ab_profile *p = ab_profile_find(slash ? slash + 1 : program);

	return p && p->agent ? p : NULL;
}

/* "--sandbox", "--sandbox=x", "-sx"; "sandbox_mode=x" after "-c". */
static bool mentions(const char *word, const char *option)
{
	return strncmp(word, option, strlen(option)) == 0;
}

size_t ab_profile_words(const struct ab_profile *profile, const char *const *argv, size_t argc,
			const char *const **ret)
{
	size_t n = 0;

	*ret = profile->words;
	for (size_t i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			break;
		for (size_t k = 0; k < AB_COUNT(profile->unless) && profile->unless[k]; k++)
			if (mentions(argv[i], profile->unless[k]))
				return 0;
	}
	while (n < AB_COUNT(profile->words) && profile->words[n])
		n++;
	return n;
}

const char *ab_profile_key(const struct ab_profile *profile, const char *const *argv, size_t argc,
			   const char *name)
{
	bool found = false;

	if (!profile->key.ignored || strcmp(profile->key.ignored, name) != 0)
		return NULL;
	for (size_t i = 1; i < argc; i++) {
		/* A model provider of the user's own may name it. */
		if (strstr(argv[i], name))
			return NULL;
		for (size_t k = 0; k < AB_COUNT(profile->key.commands); k++)
			found |= strcmp(argv[i], profile->key.commands[k]) == 0;
	}
	return found ? profile->key.read : NULL;
}
