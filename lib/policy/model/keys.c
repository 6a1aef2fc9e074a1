#include "policy/model/keys.h"

#include <string.h>

#include "base/data/mem.h"
#include "base/text/guess.h"
#include "policy/model/policy.h"

/* Strictest first: the index is what is compared. */
static const struct ab_key_word datagram_words[] = {
	{ "deny", AB_DATAGRAMS_DENY },
	{ "allow", AB_DATAGRAMS_ALLOW },
};
static const struct ab_key_word home_words[] = {
	{ "private", AB_HOME_PRIVATE },
	{ "readonly", AB_HOME_READONLY },
	{ "layered", AB_HOME_LAYERED },
	{ "kept", AB_HOME_KEPT },
};
static const struct ab_key_word review_words[] = {
	{ "true", AB_REVIEW_ASK },
	{ "auto", AB_REVIEW_AUTO },
	{ "false", AB_REVIEW_NONE },
};
static const struct ab_key_word net_words[] = {
	{ "blocked", AB_NET_BLOCKED },
	{ "filtered", AB_NET_FILTERED },
	{ "allowed", AB_NET_ALLOWED },
};
static const struct ab_key_word unknown_words[] = {
	{ "deny", AB_UNKNOWN_DENY },
	{ "ask", AB_UNKNOWN_ASK },
};
static const struct ab_key_word notice_words[] = {
	{ "bell", AB_NOTICE_BELL },
	{ "desktop", AB_NOTICE_DESKTOP },
	{ "tmux", AB_NOTICE_TMUX },
};
static const struct ab_key_word sni_words[] = {
	{ "required", true },
	{ "optional", false },
};
static const struct ab_key_word ech_words[] = {
	{ "deny", true },
	{ "allow", false },
};
static const struct ab_key_word env_words[] = {
	{ "listed", true },
	{ "strip", false },
};
static const struct ab_key_word enforce_words[] = {
	{ "children", AB_ENFORCE_CHILDREN },
	{ "start", AB_ENFORCE_START },
};
static const struct ab_key_word alarm_words[] = {
	{ "stop", AB_ALARM_STOP },
	{ "cut", AB_ALARM_CUT },
	{ "hold", AB_ALARM_HOLD },
	{ "warn", AB_ALARM_WARN },
};
static const struct ab_key_word fallback_words[] = {
	{ "strict", AB_FALLBACK_STRICT },
	{ "warn", AB_FALLBACK_WARN },
};
static const struct ab_key_word engine_words[] = {
	{ "full", AB_ENGINE_FULL },
	{ "auto", AB_ENGINE_AUTO },
	{ "shared-proc", AB_ENGINE_SHARED_PROC },
	{ "no-namespaces", AB_ENGINE_NO_NAMESPACES },
};

static const struct ab_key_word ssh_sign_words[] = {
	{ "git", true },
};
static const struct ab_key_word ssh_ask_words[] = {
	{ "always", AB_SSH_ASK_ALWAYS },
	{ "first", AB_SSH_ASK_FIRST },
	{ "never", AB_SSH_ASK_NEVER },
};
static const struct ab_key_word ssh_route_words[] = {
	{ "proxy", true },
	{ "any", false },
};
static const struct ab_key_word docker_network_words[] = {
	{ "none", false },
	{ "bridge", true },
};
static const struct ab_key_word docker_ports_words[] = {
	{ "none", false },
	{ "publish", true },
};
static const struct ab_key_word docker_pull_words[] = {
	{ "false", false },
	{ "true", true },
};
static const struct ab_key_word docker_capability_words[] = {
	{ "none", false },
	{ "setup", true },
};
static const struct ab_key_word host_tools_words[] = {
	{ "deny", false },
	{ "allow", true },
};
static const struct ab_key_word userns_words[] = {
	{ "deny", false },
	{ "allow", true },
};
static const struct ab_key_word terminal_words[] = {
	{ "filtered", false },
	{ "raw", true },
};

#define WORDS(list) .type = AB_TYPE_WORD, .words = (list), .nwords = AB_COUNT(list)
#define ADD_LIST .merge = AB_MERGE_ADD, .tighten = AB_TIGHTEN_COVERED
#define GROW_LIST .merge = AB_MERGE_GROW, .tighten = AB_TIGHTEN_UNION

enum { MILLI_DAY = 86400000 };

/* clang-format off */
const struct ab_key ab_keys[AB_KEY_COUNT] = {
	[AB_KEY_EXTENDS] = {
		"extends", AB_TYPE_PROFILE, .tighten = AB_TIGHTEN_NEVER,
		.doc = "The profile on which this file builds." },
	[AB_KEY_WITH] = {
		"with", AB_TYPE_PRESETS, AB_MERGE_GROW, AB_TIGHTEN_NEVER,
		.doc = "Presets of languages: their package hosts and variables; \"auto\" selects them by the lock files in the workspace." },

	[AB_KEY_WRITE] = {
		"filesystem.write", AB_TYPE_PATHS, ADD_LIST,
		.doc = "Writable folders and files; \".\" is the workspace." },
	[AB_KEY_READ] = {
		"filesystem.read", AB_TYPE_READ, ADD_LIST,
		.doc = "\"all\", or a list of the only readable folders; \"@system\" is the operating system." },
	[AB_KEY_DENY_READ] = {
		"filesystem.denyRead", AB_TYPE_PATTERNS, GROW_LIST,
		.doc = "Unreadable paths and patterns; \"!path\" takes back an earlier match." },
	[AB_KEY_DENY_WRITE] = {
		"filesystem.denyWrite", AB_TYPE_NAMES, GROW_LIST,
		.doc = "Read-only paths, or names at the top of writable folders and repositories; \"!name\" takes one back." },
	[AB_KEY_HOME] = {
		"filesystem.home", WORDS(home_words),
		.doc = "The home folder: readable, with a layer for what is written in it (gone with the run, or kept), or replaced with an empty private one." },
	[AB_KEY_SHARE] = {
		"filesystem.share", AB_TYPE_PATHS, AB_MERGE_ADD, AB_TIGHTEN_NEVER,
		.doc = "Folders of data in the home folder that the box shares with the host, instead of keeping them in its layer; created if they are missing." },
	[AB_KEY_RETURN] = {
		"filesystem.return", AB_TYPE_PATHS, AB_MERGE_ADD, AB_TIGHTEN_NEVER,
		.doc = "Files of a kept home layer that are written back to the host when the run ends, if they changed there and not on the host." },
	[AB_KEY_REVIEW] = {
		/* "auto" is not stricter than "false" in every way: with it, the rules about deleting
		 * files do not ask. */
		"filesystem.review", WORDS(review_words), .tighten = AB_TIGHTEN_STRICTEST,
		.doc = "Keep changes of the workspace in a layer until you apply them; \"auto\" applies those without a label at the end." },
	[AB_KEY_UNIX] = {
		"filesystem.unix", AB_TYPE_PATHS, ADD_LIST,
		.doc = "Unix sockets of the host that the box can use." },
	[AB_KEY_DATAGRAMS] = {
		"filesystem.unixDatagrams", WORDS(datagram_words),
		.doc = "Unix datagram sockets in the box, which could reach a socket that the host makes later." },
	[AB_KEY_TMP_SIZE] = {
		"filesystem.tmpSize", AB_TYPE_SIZE, .min = 1 << 20, .max = 1ULL << 50,
		.doc = "Size of the private folders (/tmp, /var/tmp, /run, /dev/shm) and of the temporary home layer together." },

	[AB_KEY_NET_MODE] = {
		"network.mode", WORDS(net_words),
		.doc = "No network, a filtered network, or the host's own." },
	[AB_KEY_NET_ALLOW] = {
		"network.allow", AB_TYPE_HOSTS, ADD_LIST,
		.doc = "Allowed hosts: name, *.name, address, range or @group; :port optional." },
	[AB_KEY_NET_DENY] = {
		"network.deny", AB_TYPE_HOSTS, GROW_LIST,
		.doc = "Denied hosts, whatever network.allow says." },
	/* Not for an untrusted file: what it lists is not told at the end of a run. */
	[AB_KEY_NET_QUIET] = {
		"network.quiet", AB_TYPE_HOSTS, AB_MERGE_GROW, AB_TIGHTEN_NEVER,
		.doc = "Hosts on no other list that are denied without a question, such as telemetry." },
	[AB_KEY_NET_UNKNOWN] = {
		"network.unknown", WORDS(unknown_words),
		.doc = "What to do with a host on neither list: deny it, or ask." },
	[AB_KEY_NET_WAIT] = {
		"network.wait", AB_TYPE_DURATION, .min = 1000, .max = 3600000,
		.doc = "How long a connection waits for an answer about its host." },
	/* Not for an untrusted file: it would decide what reaches the user's desktop. */
	[AB_KEY_NOTIFY] = {
		"network.notify", AB_TYPE_NOTICES, AB_MERGE_ADD, AB_TIGHTEN_NEVER,
		.words = notice_words, .nwords = AB_COUNT(notice_words),
		.doc = "How you are told about a question that nobody seems to see: bell, desktop, tmux." },
	[AB_KEY_NET_SNI] = {
		"network.sni", WORDS(sni_words),
		.doc = "Whether a TLS hello must name its server." },
	[AB_KEY_NET_ECH] = {
		"network.ech", WORDS(ech_words),
		.doc = "Whether a TLS hello may carry an encrypted one." },
	[AB_KEY_ALLOW_PRIVATE] = {
		"network.allowPrivate", AB_TYPE_CIDRS, ADD_LIST,
		.doc = "Private address ranges that may be reached; :port optional." },
	[AB_KEY_HOST_PORTS] = {
		"network.hostPorts", AB_TYPE_PORTS, ADD_LIST,
		.doc = "Ports of the host's localhost that the box reaches on its own localhost." },
	[AB_KEY_PUBLISH] = {
		"network.publish", AB_TYPE_PUBLISH, ADD_LIST,
		.doc = "Ports of the box that the host reaches on its localhost." },
	[AB_KEY_UPSTREAM] = {
		"network.upstream", AB_TYPE_UPSTREAM, .tighten = AB_TIGHTEN_NEVER,
		.doc = "The proxy for outgoing traffic: none, the caller's, or a URL." },
	[AB_KEY_HTTP] = {
		"network.http", AB_TYPE_HTTP, AB_MERGE_ADD, AB_TIGHTEN_MARKED,
		.doc = "Allowed methods and paths of a host; hosts without a rule are not restricted." },
	[AB_KEY_ROOTS] = {
		"network.roots", AB_TYPE_PATHS, AB_MERGE_ADD, AB_TIGHTEN_NEVER,
		.doc = "Files with additional CA certificates (PEM), for hosts whose TLS is decrypted." },

	[AB_KEY_ENV_MODE] = {
		"env.mode", WORDS(env_words),
		.doc = "Pass every variable except the stripped ones, or only those in env.pass." },
	[AB_KEY_ENV_PASS] = {
		"env.pass", AB_TYPE_VARIABLES, ADD_LIST,
		.doc = "Variables to pass even if env.strip matches them." },
	[AB_KEY_ENV_SET] = {
		"env.set", AB_TYPE_ASSIGNMENTS, AB_MERGE_BY_NAME, AB_TIGHTEN_NEVER,
		.doc = "Variables to set." },
	[AB_KEY_ENV_STRIP] = {
		"env.strip", AB_TYPE_VARIABLES, GROW_LIST,
		.doc = "Variables and patterns that are not passed." },

	[AB_KEY_RULES] = {
		"commands.rules", AB_TYPE_RULES, AB_MERGE_FRONT, AB_TIGHTEN_MARKED,
		.doc = "Your own rules for commands; the first match wins." },
	[AB_KEY_OVERRIDE] = {
		"commands.override", AB_TYPE_OVERRIDES, AB_MERGE_BY_NAME, AB_TIGHTEN_MARKED,
		.doc = "Different verdicts for built-in rules, by name." },
	[AB_KEY_ENFORCE] = {
		"commands.enforce", WORDS(enforce_words),
		.doc = "Judge only the command itself, or also each program that it executes." },
	[AB_KEY_TOOLS] = {
		"commands.tools", AB_TYPE_TOOLS, AB_MERGE_BY_NAME, AB_TIGHTEN_MARKED,
		.doc = "Tools of an agent, by name or pattern: allow, ask or deny; for hooks." },

	[AB_KEY_TIMEOUT] = {
		"limits.timeout", AB_TYPE_DURATION, .min = 1, .max = 3650ULL * MILLI_DAY, .none = true,
		.doc = "Wall-clock time of the run." },
	[AB_KEY_MEMORY] = {
		"limits.memory", AB_TYPE_SIZE, .min = 1 << 20, .max = 1ULL << 50, .none = true,
		.doc = "Memory of the run." },
	[AB_KEY_PROCESSES] = {
		"limits.processes", AB_TYPE_INTEGER, .min = 1, .max = 1 << 22, .none = true,
		.doc = "Processes and threads at the same time." },
	[AB_KEY_FILES] = {
		"limits.files", AB_TYPE_INTEGER, .min = 16, .max = 1 << 30, .none = true,
		.doc = "Open files per process." },
	[AB_KEY_CPU] = {
		"limits.cpu", AB_TYPE_DURATION, .min = 1, .max = 3650ULL * MILLI_DAY, .none = true,
		.doc = "Processor time per process." },
	[AB_KEY_FILE_SIZE] = {
		"limits.fileSize", AB_TYPE_SIZE, .min = 1, .max = 1ULL << 60, .none = true,
		.doc = "Size of each written file." },
	[AB_KEY_OUTPUT] = {
		"limits.output", AB_TYPE_SIZE, .min = 1, .max = 1ULL << 30,
		.doc = "How much of each captured stream is kept." },

	[AB_KEY_DENIALS] = {
		"monitor.denialsPerMinute", AB_TYPE_INTEGER, .max = 1 << 30, .none = true,
		.doc = "Denials per minute before the action is taken." },
	[AB_KEY_UPLOAD_HOST] = {
		"monitor.uploadPerHost", AB_TYPE_SIZE, .max = 1ULL << 60, .none = true,
		.doc = "Data sent to one host before the action is taken." },
	[AB_KEY_UPLOAD_RUN] = {
		"monitor.uploadPerRun", AB_TYPE_SIZE, .max = 1ULL << 60, .none = true,
		.doc = "Data sent to all hosts together before the action is taken." },
	[AB_KEY_NEW_HOSTS] = {
		"monitor.newHosts", AB_TYPE_INTEGER, .max = 1 << 30, .none = true,
		.doc = "Different hosts reached before the action is taken." },
	[AB_KEY_ACTION] = {
		"monitor.action", WORDS(alarm_words),
		.doc = "The action: stop the run, cut the network, pause the network, or warn." },

	[AB_KEY_KEEP_FOR] = {
		"records.keepFor", AB_TYPE_DURATION, .tighten = AB_TIGHTEN_NEVER,
		.min = 1, .max = 3650ULL * MILLI_DAY, .none = true,
		.doc = "How long the record of an ended run is kept." },
	[AB_KEY_KEEP_RUNS] = {
		"records.keepRuns", AB_TYPE_INTEGER, .tighten = AB_TIGHTEN_NEVER,
		.min = 1, .max = 1 << 30, .none = true,
		.doc = "How many ended runs are kept; the oldest are removed first." },

	[AB_KEY_LAYERS_AGE] = {
		"layers.keepFor", AB_TYPE_DURATION, .tighten = AB_TIGHTEN_NEVER,
		.min = 1, .max = 3650ULL * MILLI_DAY, .none = true,
		.doc = "How long a kept layer is kept after its last use." },
	[AB_KEY_LAYERS_SIZE] = {
		"layers.maxSize", AB_TYPE_SIZE, .tighten = AB_TIGHTEN_NEVER,
		.min = 1 << 20, .max = 1ULL << 60, .none = true,
		.doc = "Disk space for all kept layers; those that were not used longest are removed first." },

	[AB_KEY_REQUIRE] = {
		"assurance.require", AB_TYPE_PROPERTIES, AB_MERGE_ADD, AB_TIGHTEN_UNION,
		.doc = "Guarantees that must be in force." },
	[AB_KEY_FALLBACK] = {
		"assurance.fallback", WORDS(fallback_words),
		.doc = "If a required guarantee is not in force: refuse to run, or warn and run." },
	[AB_KEY_ENGINE] = {
		"assurance.engine", WORDS(engine_words),
		.doc = "What a box is built of: everything, the best that the machine allows, a shared /proc, or no namespaces." },

	[AB_KEY_SECRETS] = {
		"secrets", AB_TYPE_SECRETS, AB_MERGE_BY_NAME, AB_TIGHTEN_NEVER,
		.doc = "Secrets that stay outside the box, by name: the source of each value and the hosts that may receive it." },

	[AB_KEY_SSH_HOSTS] = {
		"ssh.hosts", AB_TYPE_SSH_HOSTS, ADD_LIST,
		.doc = "Hosts to which the box may log in with keys of your ssh agent; :port optional." },
	[AB_KEY_SSH_KEYS] = {
		"ssh.keys", AB_TYPE_SSH_KEYS, ADD_LIST,
		.doc = "\"all\", or a list of the only keys of your ssh agent that the box may use: SHA256:..." },
	[AB_KEY_SSH_USERS] = {
		"ssh.users", AB_TYPE_SSH_USERS, ADD_LIST,
		.doc = "\"all\", or a list of the only user names with which the box may log in." },
	[AB_KEY_SSH_SIGN] = {
		"ssh.sign", AB_TYPE_SSH_SIGN, ADD_LIST,
		.words = ssh_sign_words, .nwords = AB_COUNT(ssh_sign_words),
		.doc = "What else the keys may sign: git, for commits and tags." },
	[AB_KEY_SSH_ASK] = {
		"ssh.ask", WORDS(ssh_ask_words),
		.doc = "Whether you are asked before a key is used: always, first (until you allow it for the run), or never." },
	[AB_KEY_SSH_ROUTE] = {
		"ssh.route", WORDS(ssh_route_words),
		.doc = "Whether a login must be on a connection that the box's proxy carries, or may be on any." },
	[AB_KEY_SSH_COUNT] = {
		"ssh.maxSignatures", AB_TYPE_INTEGER, .min = 1, .max = 1 << 30, .none = true,
		.doc = "How many signatures a run gets." },
	[AB_KEY_SSH_TIME] = {
		"ssh.maxTime", AB_TYPE_DURATION, .min = 1, .max = 3650ULL * MILLI_DAY, .none = true,
		.doc = "How long after its start a run gets signatures." },

	[AB_KEY_DOCKER_IMAGES] = {
		"docker.images", AB_TYPE_IMAGES, ADD_LIST,
		.doc = "Images of containers that the box may start through a filtered engine socket: names, and patterns with \"*\"." },
	[AB_KEY_DOCKER_MOUNTS] = {
		"docker.mounts", AB_TYPE_PATHS, ADD_LIST,
		.doc = "Folders of the workspace that such a container may have, read-only." },
	[AB_KEY_DOCKER_NETWORK] = {
		"docker.network", WORDS(docker_network_words),
		.doc = "The network of such containers: none, or the engine's own, which agentbox does not filter." },
	[AB_KEY_DOCKER_PORTS] = {
		"docker.ports", WORDS(docker_ports_words),
		.doc = "Whether such containers may publish ports, on the host's localhost only." },
	[AB_KEY_DOCKER_PULL] = {
		"docker.pull", WORDS(docker_pull_words),
		.doc = "Whether the engine may download an image of docker.images that it does not have." },
	[AB_KEY_DOCKER_CAPABILITIES] = {
		"docker.capabilities", WORDS(docker_capability_words),
		.doc = "Capabilities of such containers: none, or those with which an image prepares its files and changes its user." },
	[AB_KEY_DOCKER_SOCKET] = {
		"docker.socket", AB_TYPE_SOCKET, .tighten = AB_TIGHTEN_NEVER,
		.doc = "The socket of the container engine on the host; \"auto\" is that of DOCKER_HOST, or a usual one." },

	[AB_KEY_HOST_TOOLS] = {
		"tools", AB_TYPE_HOST_TOOLS, AB_MERGE_BY_NAME, AB_TIGHTEN_NEVER,
		.doc = "Programs of the host that the box may use, by name: the words that each of them accepts, and the settings of the box that it runs in." },
	[AB_KEY_HOST_TOOLS_MODE] = {
		"hostTools", WORDS(host_tools_words),
		.doc = "Whether the box has the tools of \"tools\"; deny turns all of them off." },

	[AB_KEY_USERNS] = {
		"userNamespaces", WORDS(userns_words),
		.doc = "Whether the command may create user namespaces, as the own sandbox of a browser does; this gives up user-ns." },
	[AB_KEY_TERMINAL] = {
		"terminal", WORDS(terminal_words),
		.doc = "Whether output that controls more than the screen reaches your terminal." },
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
