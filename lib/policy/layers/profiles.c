#include "policy/layers/profiles.h"

#include "agents/agents.h"

/*
 * Files that hold a credential, or with which others could act as the user.
 * Reading the rest of the home folder is normal work. The order matters only
 * for "!", which takes back what comes before it. The credentials of agents
 * belong to the list, too (lib/agents).
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
	"~/.gradle/gradle.properties", "~/.gradle/init.gradle",
	"~/.gradle/init.gradle.kts", "~/.gradle/init.d", "~/.nuget/NuGet/NuGet.Config",
	"~/.config/NuGet/NuGet.Config", "~/.hex/hex.config",
	"~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens",
	"~/.huggingface/token", "~/.kaggle", "~/.config/wandb",

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
	"*PRIVATE_KEY*", "*APPKEY", "*PRIVKEY*", "*SSHKEY*", "*AUTHKEY*", "*_SK", "*_SK_*",
	"AUTH", "*_AUTH", "*AUTHTOKEN*", "*_AUTH_CONFIG", "*BEARER*", "*_PAT", "JWT", "*_JWT*",
	"*JWT_*", "*_COOKIE*", "*_DSN", "OTEL_*_HEADERS", "*DATABASE_URL", "*_CONNECTION_STRING",
	"*WEBHOOK*", "REDIS_URL", "MONGO_URL", "MONGODB_URI", "AMQP_URL",
	"PGPASSFILE", "KUBECONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*",
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

/*
 * What the profiles of all agents begin with. Each can reach its own service and keeps the
 * variables that it needs to log in: lib/agents. Its home folder is a layer that is kept for the
 * next run, so settings, hooks, plugins, tool servers, instructions and downloaded programs work in
 * the box, and an agent outside never sees them.
 *
 * The agent decides what it runs, so every program is judged. In a layer some rules protect nothing.
 *
 * In the box an agent cannot create a sandbox of its own, and needs none. The sandboxes of Claude
 * Code and Codex have no documented variable to switch them off, so there are words for the command
 * line (ab_agent_words). Chromium reads its options from CHROMIUM_FLAGS where a distribution starts
 * it by a script.
 */
const char ab_sandbox_note[] =
	"SANDBOX_NOTE=This runs in a sandbox (agentbox) on purpose. Only the workspace is "
	"the user's own; other writes stay in a layer or are denied. Hosts are denied until the "
	"user allows them: a name that does not resolve, CONNECT 403 and a closed connection can "
	"mean that. Tell the user the host; they can run: agentbox allow HOST, and agentbox why "
	"shows what was denied. Sandboxes inside this one (bwrap, unshare, Chromium) are denied by "
	"agentbox, not by the kernel: use --no-sandbox there.";

/* clang-format off */
static const struct ab_preset agent_presets[] = {
	{ AB_KEY_WRITE, "." },
	{ AB_KEY_HOME, "kept" },
	{ AB_KEY_ENFORCE, "children" },
	{ AB_KEY_OVERRIDE, "agent-config=sandboxed global-install=sandboxed" },
	{ AB_KEY_ENV_SET, "CHROMIUM_FLAGS=--no-sandbox" },
	{ AB_KEY_ENV_PASS, AB_PASS_BASICS },
};
/* clang-format on */

#define PRESETS(...)                                          \
	.presets = (const struct ab_preset[]){ __VA_ARGS__ }, \
	.npresets = AB_COUNT(((const struct ab_preset[]){ __VA_ARGS__ }))

/* A parent comes before its children. */
static const struct ab_profile profiles[] = {
	{ "default", NULL,
	  "The workspace is writable; for unlisted hosts you are asked on the terminal." },
	{ "read-only", "default", "Nothing is writable except a private /tmp; no network.",
	  PRESETS({ AB_KEY_WRITE, NULL }, { AB_KEY_HOME, "readonly" },
		  { AB_KEY_NET_MODE, "blocked" }, { AB_KEY_NET_UNKNOWN, "deny" }) },
	{ "workspace-write", "default", "The workspace is writable; no network.",
	  PRESETS({ AB_KEY_NET_MODE, "blocked" }, { AB_KEY_NET_UNKNOWN, "deny" }) },
	{ "workspace-write-whitelist", "default",
	  "The workspace is writable; only listed hosts are allowed, without questions.",
	  PRESETS({ AB_KEY_NET_MODE, "filtered" }, { AB_KEY_NET_UNKNOWN, "deny" }) },
	{ "development", "default",
	  "The workspace is writable; the host's own network; missing guarantees only cause a warning.",
	  PRESETS({ AB_KEY_NET_MODE, "allowed" }, { AB_KEY_FALLBACK, "warn" },
		  { AB_KEY_REQUIRE,
		    "user-ns pid-fence write-fence read-deny protected-names ipc-fence "
		    "syscalls no-new-privs" }) },
	{ "ci", "default",
	  "The workspace is writable; no network, no questions; every guarantee is required.",
	  /* All of them. Only `transparent` is about a network that this profile does not have. */
	  PRESETS({ AB_KEY_REQUIRE,
		    "user-ns pid-fence pid-view net-fence dns-fence write-fence read-deny "
		    "protected-names ipc-fence ipc-fence-late syscalls no-new-privs limits" },
		  { AB_KEY_NET_MODE, "blocked" }, { AB_KEY_NET_UNKNOWN, "deny" },
		  { AB_KEY_FALLBACK, "strict" }) },
};

/* Those of agents follow. */
bool ab_profile_at(size_t index, struct ab_profile *ret)
{
	if (index < AB_COUNT(profiles)) {
		*ret = profiles[index];
		return true;
	}
	index -= AB_COUNT(profiles);
	for (size_t i = 0; ab_agents[i]; i++) {
		const struct ab_agent *a = ab_agents[i];

		if (!a->doc || index--)
			continue;
		*ret = (struct ab_profile){
			a->name, "default", a->doc, agent_presets, AB_COUNT(agent_presets), a
		};
		return true;
	}
	return false;
}

bool ab_profile_find(const char *name, struct ab_profile *ret)
{
	for (size_t i = 0; ab_profile_at(i, ret); i++)
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}
