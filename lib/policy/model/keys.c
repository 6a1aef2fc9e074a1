#include "policy/model/keys.h"

#include "base/text/guess.h"
#include "policy/model/policy.h"

/* Words are listed strictest first: the index is what is compared. */
#define LIST_WORDS(...)                                       \
	.words = (const struct ab_key_word[]){ __VA_ARGS__ }, \
	.nwords = sizeof((const struct ab_key_word[]){ __VA_ARGS__ }) / sizeof(struct ab_key_word)
#define WORDS(...) .type = AB_TYPE_WORD, LIST_WORDS(__VA_ARGS__)
#define ADD_LIST .merge = AB_MERGE_ADD, .tighten = AB_TIGHTEN_COVERED
#define OWN_LIST .merge = AB_MERGE_ADD, .tighten = AB_TIGHTEN_NEVER
#define GROW_LIST .merge = AB_MERGE_GROW, .tighten = AB_TIGHTEN_UNION
#define LIMIT(least, most, text) .min = (least), .max = (most), .none = true, .usual = (text)
/* The member of the policy that gets the value. */
#define INTO(member) \
	.at = offsetof(struct ab_policy, member), .size = sizeof(((struct ab_policy *)0)->member)

#define TEN_YEARS (3650ULL * 86400000) /* ms */

/* clang-format off */
const struct ab_key ab_keys[AB_KEY_COUNT] = {
	[AB_KEY_EXTENDS] = { "extends", AB_TYPE_PROFILE, .tighten = AB_TIGHTEN_NEVER },
	[AB_KEY_WITH] = { "with", AB_TYPE_PRESETS, AB_MERGE_GROW, AB_TIGHTEN_NEVER },

	[AB_KEY_WRITE] = { "filesystem.write", AB_TYPE_PATHS, ADD_LIST, .usual = "." },
	[AB_KEY_READ] = { "filesystem.read", AB_TYPE_READ, ADD_LIST, .all = true, .usual = "all",
		INTO(fs.read) },
	[AB_KEY_DENY_READ] = {
		"filesystem.denyRead", AB_TYPE_PATTERNS, GROW_LIST, INTO(fs.deny_read) },
	[AB_KEY_DENY_WRITE] = {
		"filesystem.denyWrite", AB_TYPE_NAMES, GROW_LIST, INTO(fs.deny_write) },
	[AB_KEY_HOME] = { "filesystem.home", WORDS({ "private", AB_HOME_PRIVATE },
		{ "readonly", AB_HOME_READONLY }, { "layered", AB_HOME_LAYERED },
		{ "kept", AB_HOME_KEPT }), .usual = "layered", INTO(fs.home) },
	[AB_KEY_SHARE] = { "filesystem.share", AB_TYPE_PATHS, OWN_LIST, INTO(fs.share) },
	[AB_KEY_RETURN] = { "filesystem.return", AB_TYPE_PATHS, OWN_LIST, .exact = true, INTO(fs.returns) },
	/* "auto" is not stricter than "false" in every way: with it, the rules about deleting
	 * files do not ask. */
	[AB_KEY_REVIEW] = {
		"filesystem.review", WORDS({ "true", AB_REVIEW_ASK }, { "auto", AB_REVIEW_AUTO },
		{ "false", AB_REVIEW_NONE }), .tighten = AB_TIGHTEN_STRICTEST, .usual = "false",
		INTO(fs.review) },
	[AB_KEY_UNIX] = { "filesystem.unix", AB_TYPE_PATHS, ADD_LIST, .exact = true, INTO(fs.unix_allow) },
	[AB_KEY_DATAGRAMS] = { "filesystem.unixDatagrams", WORDS({ "deny", AB_DATAGRAMS_DENY },
		{ "allow", AB_DATAGRAMS_ALLOW }), .usual = "deny", INTO(fs.unix_datagrams) },
	[AB_KEY_TMP_SIZE] = {
		"filesystem.tmpSize", AB_TYPE_SIZE, .min = 1 << 20, .max = 1ULL << 50,
		.usual = "1G", INTO(fs.tmp_size) },

	[AB_KEY_NET_MODE] = { "network.mode", WORDS({ "blocked", AB_NET_BLOCKED },
		{ "filtered", AB_NET_FILTERED }, { "allowed", AB_NET_ALLOWED }),
		.usual = "filtered", INTO(net.mode) },
	[AB_KEY_NET_ALLOW] = { "network.allow", AB_TYPE_HOSTS, ADD_LIST, INTO(net.allow) },
	[AB_KEY_NET_DENY] = { "network.deny", AB_TYPE_HOSTS, GROW_LIST, INTO(net.deny) },
	/* Not for an untrusted file: what it lists is not told at the end of a run. */
	[AB_KEY_NET_QUIET] = {
		"network.quiet", AB_TYPE_HOSTS, AB_MERGE_GROW, AB_TIGHTEN_NEVER, INTO(net.quiet) },
	[AB_KEY_NET_UNKNOWN] = {
		"network.unknown", WORDS({ "deny", AB_UNKNOWN_DENY }, { "ask", AB_UNKNOWN_ASK }),
		.usual = "ask", INTO(net.unknown) },
	[AB_KEY_NET_WAIT] = {
		"network.wait", AB_TYPE_DURATION, .min = 1000, .max = 3600000, .usual = "1m",
		INTO(net.wait_ms) },
	/* Not for an untrusted file: it would decide what reaches the user's desktop. */
	[AB_KEY_NOTIFY] = {
		"network.notify", AB_TYPE_NOTICES, OWN_LIST, LIST_WORDS({ "bell", AB_NOTICE_BELL },
		{ "desktop", AB_NOTICE_DESKTOP },
		{ "tmux", AB_NOTICE_TMUX }), .usual = "bell desktop tmux" },
	[AB_KEY_NET_SNI] = {
		"network.sni", WORDS({ "required", true }, { "optional", false }),
		.usual = "optional", INTO(net.require_sni) },
	[AB_KEY_NET_ECH] = {
		"network.ech", WORDS({ "deny", true }, { "allow", false }), .usual = "allow",
		INTO(net.deny_ech) },
	[AB_KEY_REQUEST_BODY] = {
		"network.maxRequestBody", AB_TYPE_SIZE, LIMIT(1, 1ULL << 60, "none"),
		INTO(net.max_request_body) },
	[AB_KEY_ALLOW_PRIVATE] = {
		"network.allowPrivate", AB_TYPE_CIDRS, ADD_LIST, INTO(net.allow_private) },
	[AB_KEY_HOST_PORTS] = { "network.hostPorts", AB_TYPE_PORTS, ADD_LIST },
	[AB_KEY_PUBLISH] = { "network.publish", AB_TYPE_PUBLISH, ADD_LIST },
	[AB_KEY_UPSTREAM] = {
		"network.upstream", AB_TYPE_UPSTREAM, .tighten = AB_TIGHTEN_NEVER,
		.usual = "none", INTO(net.upstream) },
	[AB_KEY_HTTP] = { "network.http", AB_TYPE_HTTP, AB_MERGE_ADD, AB_TIGHTEN_MARKED },
	[AB_KEY_ROOTS] = { "network.roots", AB_TYPE_PATHS, OWN_LIST, .exact = true, INTO(net.roots) },

	[AB_KEY_ENV_MODE] = {
		"env.mode", WORDS({ "listed", true }, { "strip", false }), .usual = "strip",
		INTO(env.only_listed) },
	[AB_KEY_ENV_PASS] = { "env.pass", AB_TYPE_VARIABLES, ADD_LIST, .usual = AB_PASS_BASICS,
		INTO(env.pass) },
	[AB_KEY_ENV_SET] = {
		"env.set", AB_TYPE_ASSIGNMENTS, AB_MERGE_BY_NAME, AB_TIGHTEN_NEVER, INTO(env.set) },
	[AB_KEY_ENV_STRIP] = { "env.strip", AB_TYPE_VARIABLES, GROW_LIST, INTO(env.strip) },

	[AB_KEY_RULES] = { "commands.rules", AB_TYPE_RULES, AB_MERGE_FRONT, AB_TIGHTEN_MARKED },
	[AB_KEY_OVERRIDE] = {
		"commands.override", AB_TYPE_OVERRIDES, AB_MERGE_BY_NAME, AB_TIGHTEN_MARKED },
	[AB_KEY_ENFORCE] = { "commands.enforce", WORDS({ "children", AB_ENFORCE_CHILDREN },
		{ "start", AB_ENFORCE_START }), .usual = "start", INTO(commands.enforce) },
	[AB_KEY_TOOLS] = { "commands.tools", AB_TYPE_TOOLS, AB_MERGE_BY_NAME, AB_TIGHTEN_MARKED },

	[AB_KEY_TIMEOUT] = {
		"limits.timeout", AB_TYPE_DURATION, LIMIT(1, TEN_YEARS, "none"),
		INTO(limits.timeout_ms) },
	[AB_KEY_MEMORY] = {
		"limits.memory", AB_TYPE_SIZE, LIMIT(1 << 20, 1ULL << 50, "none"),
		INTO(limits.memory) },
	[AB_KEY_PROCESSES] = {
		"limits.processes", AB_TYPE_INTEGER, LIMIT(1, 1 << 22, "4096"),
		INTO(limits.processes) },
	[AB_KEY_FILES] = {
		"limits.files", AB_TYPE_INTEGER, LIMIT(16, 1 << 30, "none"), INTO(limits.files) },
	[AB_KEY_CPU] = { "limits.cpu", AB_TYPE_DURATION, LIMIT(1, TEN_YEARS, "none"),
		INTO(limits.cpu_ms) },
	[AB_KEY_FILE_SIZE] = {
		"limits.fileSize", AB_TYPE_SIZE, LIMIT(1, 1ULL << 60, "none"),
		INTO(limits.file_size) },
	[AB_KEY_OUTPUT] = {
		"limits.output", AB_TYPE_SIZE, .min = 1, .max = 1ULL << 30, .usual = "10M",
		INTO(limits.output) },

	[AB_KEY_DENIALS] = {
		"monitor.denialsPerMinute", AB_TYPE_INTEGER, LIMIT(0, 1 << 30, "100"),
		INTO(monitor.denials) },
	[AB_KEY_UPLOAD_HOST] = {
		"monitor.uploadPerHost", AB_TYPE_SIZE, LIMIT(0, 1ULL << 60, "none"),
		INTO(monitor.upload_host) },
	[AB_KEY_UPLOAD_RUN] = {
		"monitor.uploadPerRun", AB_TYPE_SIZE, LIMIT(0, 1ULL << 60, "none"),
		INTO(monitor.upload_run) },
	[AB_KEY_NEW_HOSTS] = {
		"monitor.newHosts", AB_TYPE_INTEGER, LIMIT(0, 1 << 30, "none"),
		INTO(monitor.hosts) },
	[AB_KEY_ACTION] = {
		"monitor.action", WORDS({ "stop", AB_ALARM_STOP }, { "cut", AB_ALARM_CUT },
		{ "hold", AB_ALARM_HOLD }, { "warn", AB_ALARM_WARN }), .usual = "warn",
		INTO(monitor.action) },

	[AB_KEY_KEEP_FOR] = {
		"records.keepFor", AB_TYPE_DURATION, .tighten = AB_TIGHTEN_NEVER, LIMIT(1,
		TEN_YEARS, "30d"), INTO(records.keep_ms) },
	[AB_KEY_KEEP_RUNS] = { "records.keepRuns", AB_TYPE_INTEGER, .tighten = AB_TIGHTEN_NEVER,
		LIMIT(1, 1 << 30, "1000"),
		INTO(records.keep_runs) },

	[AB_KEY_LAYERS_AGE] = {
		"layers.keepFor", AB_TYPE_DURATION, .tighten = AB_TIGHTEN_NEVER, LIMIT(1,
		TEN_YEARS, "90d"), INTO(layers.keep_ms) },
	[AB_KEY_LAYERS_SIZE] = {
		"layers.maxSize", AB_TYPE_SIZE, .tighten = AB_TIGHTEN_NEVER, LIMIT(1 << 20,
		1ULL << 60, "20G"), INTO(layers.max_size) },

	[AB_KEY_REQUIRE] = {
		"assurance.require", AB_TYPE_PROPERTIES, AB_MERGE_ADD, AB_TIGHTEN_UNION,
		.usual = "user-ns pid-fence net-fence dns-fence write-fence read-deny "
			"protected-names ipc-fence syscalls no-new-privs" },
	[AB_KEY_FALLBACK] = { "assurance.fallback", WORDS({ "strict", AB_FALLBACK_STRICT },
		{ "warn", AB_FALLBACK_WARN }), .usual = "strict", INTO(assurance.fallback) },
	[AB_KEY_ENGINE] = {
		"assurance.engine", WORDS({ "full", AB_ENGINE_FULL }, { "auto", AB_ENGINE_AUTO },
		{ "shared-proc", AB_ENGINE_SHARED_PROC },
		{ "no-namespaces", AB_ENGINE_NO_NAMESPACES }), .usual = "auto",
		INTO(assurance.engine) },

	[AB_KEY_SECRETS] = { "secrets", AB_TYPE_SECRETS, AB_MERGE_BY_NAME, AB_TIGHTEN_NEVER },

	[AB_KEY_SSH_HOSTS] = { "ssh.hosts", AB_TYPE_SSH_HOSTS, ADD_LIST },
	[AB_KEY_SSH_KEYS] = { "ssh.keys", AB_TYPE_SSH_KEYS, ADD_LIST, .all = true, .usual = "all",
		INTO(ssh.keys) },
	[AB_KEY_SSH_USERS] = { "ssh.users", AB_TYPE_SSH_USERS, ADD_LIST, .all = true,
		.usual = "all", INTO(ssh.users) },
	[AB_KEY_SSH_SIGN] = { "ssh.sign", AB_TYPE_SSH_SIGN, ADD_LIST, LIST_WORDS({ "git", true }) },
	[AB_KEY_SSH_ASK] = {
		"ssh.ask", WORDS({ "always", AB_SSH_ASK_ALWAYS }, { "first", AB_SSH_ASK_FIRST },
		{ "never", AB_SSH_ASK_NEVER }), .usual = "first", INTO(ssh.ask) },
	[AB_KEY_SSH_ROUTE] = {
		"ssh.route", WORDS({ "proxy", true }, { "any", false }), .usual = "proxy",
		INTO(ssh.proxied) },
	[AB_KEY_SSH_COUNT] = {
		"ssh.maxSignatures", AB_TYPE_INTEGER, LIMIT(1, 1 << 30, "none"),
		INTO(ssh.max_signatures) },
	[AB_KEY_SSH_TIME] = {
		"ssh.maxTime", AB_TYPE_DURATION, LIMIT(1, TEN_YEARS, "none"), INTO(ssh.max_ms) },

	[AB_KEY_DOCKER_IMAGES] = { "docker.images", AB_TYPE_IMAGES, ADD_LIST, INTO(docker.images) },
	[AB_KEY_DOCKER_MOUNTS] = { "docker.mounts", AB_TYPE_PATHS, ADD_LIST, .exact = true, INTO(docker.mounts) },
	[AB_KEY_DOCKER_NETWORK] = {
		"docker.network", WORDS({ "none", false }, { "bridge", true }), .usual = "none",
		INTO(docker.bridge) },
	[AB_KEY_DOCKER_PORTS] = {
		"docker.ports", WORDS({ "none", false }, { "publish", true }), .usual = "none",
		INTO(docker.publish) },
	[AB_KEY_DOCKER_PULL] = {
		"docker.pull", WORDS({ "false", false }, { "true", true }), .usual = "false",
		INTO(docker.pull) },
	[AB_KEY_DOCKER_CAPABILITIES] = {
		"docker.capabilities", WORDS({ "none", false }, { "setup", true }),
		.usual = "none", INTO(docker.setup_caps) },
	[AB_KEY_DOCKER_SOCKET] = {
		"docker.socket", AB_TYPE_SOCKET, .tighten = AB_TIGHTEN_NEVER, .usual = "auto",
		INTO(docker.socket) },

	[AB_KEY_HOST_TOOLS] = { "tools", AB_TYPE_HOST_TOOLS, AB_MERGE_BY_NAME, AB_TIGHTEN_NEVER },
	[AB_KEY_HOST_TOOLS_MODE] = { "hostTools", WORDS({ "deny", false }, { "allow", true }),
		.usual = "allow" },

	[AB_KEY_USERNS] = {
		"userNamespaces", WORDS({ "deny", false }, { "allow", true }), .usual = "deny",
		INTO(userns) },
	[AB_KEY_TERMINAL] = {
		"terminal", WORDS({ "filtered", false }, { "raw", true }), .usual = "filtered",
		INTO(raw_terminal) },
};
/* clang-format on */

bool ab_key_is_list(const struct ab_key *key)
{
	return key->type >= AB_TYPE_PATHS;
}

const struct ab_key *ab_key_find(const char *path, size_t len)
{
	for (size_t i = 0; i < AB_KEY_COUNT; i++)
		if (strlen(ab_keys[i].path) == len && memcmp(ab_keys[i].path, path, len) == 0)
			return &ab_keys[i];
	return NULL;
}

bool ab_key_is_group(const char *path, size_t len)
{
	for (size_t i = 0; i < AB_KEY_COUNT; i++)
		if (strncmp(ab_keys[i].path, path, len) == 0 && ab_keys[i].path[len] == '.')
			return true;
	return false;
}

const char *ab_key_guess(const char *path)
{
	static const char *const groups[] = { "filesystem", "network", "env",	  "commands",
					      "limits",	    "monitor", "records", "layers",
					      "assurance",  "ssh",     "docker" };
	const char *words[AB_KEY_COUNT + AB_COUNT(groups)];
	const char *dot = strrchr(path, '.'), *found;
	const char *last = dot ? dot + 1 : path;

	for (size_t i = 0; i < AB_KEY_COUNT; i++)
		words[i] = ab_keys[i].path;
	memcpy(words + AB_KEY_COUNT, groups, sizeof(groups));
	found = ab_guess(path, words, AB_COUNT(words));
	if (found)
		return found;

	/* The right name in the wrong place: "mode", "env.denyRead". */
	for (size_t i = 0; i < AB_KEY_COUNT; i++) {
		dot = strrchr(ab_keys[i].path, '.');
		if (dot && strcmp(dot + 1, last) == 0)
			return ab_keys[i].path;
	}
	return NULL;
}

bool ab_is_path_not_name(const char *s)
{
	size_t n = strcspn(s, "/");

	return s[0] == '/' || s[0] == '~' || (n == 1 && s[0] == '.') ||
	       (n == 2 && s[0] == '.' && s[1] == '.');
}

bool ab_key_takes_path(const struct ab_key *key, const char *value)
{
	return key->type == AB_TYPE_PATHS || key->type == AB_TYPE_PATTERNS ||
	       (key->type == AB_TYPE_NAMES && ab_is_path_not_name(value));
}
