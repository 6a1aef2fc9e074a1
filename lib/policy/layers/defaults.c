#include "policy/layers/profiles.h"

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
	"~/.hex/hex.config",
	"~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens",
	"~/.huggingface/token", "~/.kaggle", "~/.config/wandb",

	/* other agents; an agent's own profile takes its file back */
	"~/.claude/.credentials.json", "~/.codex/auth.json",
	"~/.gemini/oauth_creds.json", "~/.gemini/google_accounts.json",
	"~/.local/share/opencode/auth.json", "~/.config/github-copilot",

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
	NULL,
};
/* clang-format on */

/*
 * Files that programs outside the box run or obey without asking. Ordinary
 * project files (Makefile, package.json, .gitattributes, CI definitions) are not
 * among them: the command is here to edit those.
 */
/* clang-format off */
const char *const ab_default_deny_write[] = {
	/* git runs hooks, and commands that its configuration names */
	".git/hooks", ".git/config", ".git/config.worktree",
	".git/commondir", ".gitmodules", ".gitconfig", ".config/git",

	/* shells, when the writable folder is a home */
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
	".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv",
	".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc",
	".login", ".logout", ".inputrc", ".config/fish", ".xprofile",
	".xinitrc", ".xsession", ".xsessionrc", ".pam_environment",
	".config/environment.d", ".config/autostart", ".config/systemd",
	".local/bin", ".local/share/applications", ".tmux.conf",
	".config/tmux", ".screenrc",

	/* direnv runs it on `cd` */
	".envrc",

	/* editors start tasks, debuggers and language servers from these */
	".vscode", ".idea", ".fleet", ".zed", ".exrc", ".vimrc", ".nvimrc",
	".nvim.lua", ".gvimrc", ".vim", ".config/nvim", ".emacs", ".emacs.d", ".gdbinit", ".lldbinit",

	/* agents: hooks, tool servers, permissions */
	".claude", ".claude.json", ".codex", ".cursor", ".gemini", ".opencode",
	"opencode.json", "opencode.jsonc", ".config/opencode", ".windsurf",
	".continue", ".aider.conf.yml", ".roo", ".cline", ".kiro", ".mcp.json",
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
	"*TOKEN", "*_TOKENS", "*_TOKEN_*", "*SECRET*", "*PASSWORD*", "*PASSWD*",
	"*PASSPHRASE*", "*CREDENTIAL*", "*_PASS", "*_PWD", "SSHPASS",
	"*_KEY", "*APIKEY*", "*API_KEY*", "*ACCESS_KEY*", "*PRIVATE_KEY*",
	"*_AUTH", "*AUTHTOKEN*", "*_AUTH_CONFIG", "*_PAT", "*_JWT*",
	"*_COOKIE*", "*_DSN", "*DATABASE_URL", "*_CONNECTION_STRING",
	"*_WEBHOOK_URL", "REDIS_URL", "MONGO_URL", "MONGODB_URI", "AMQP_URL",
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
