#include "policy/model/keys.h"

#include <string.h>

#include "base/data/mem.h"
#include "base/text/guess.h"
#include "policy/model/policy.h"

/* Strictest first: the index is what is compared. */
static const struct ab_key_word home_words[] = {
	{ "private", AB_HOME_PRIVATE },
	{ "readonly", AB_HOME_READONLY },
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

#define WORDS(list) .type = AB_TYPE_WORD, .words = (list), .nwords = AB_COUNT(list)
#define REPLACE_LIST .merge = AB_MERGE_REPLACE, .tighten = AB_TIGHTEN_COVERED
#define GROW_LIST .merge = AB_MERGE_GROW, .tighten = AB_TIGHTEN_UNION

enum { MILLI_DAY = 86400000 };

/* clang-format off */
const struct ab_key ab_keys[AB_KEY_COUNT] = {
	[AB_KEY_EXTENDS] = {
		"extends", AB_TYPE_PROFILE, .tighten = AB_TIGHTEN_NEVER,
		.doc = "The profile that this file builds on." },

	[AB_KEY_WRITE] = {
		"filesystem.write", AB_TYPE_PATHS, REPLACE_LIST,
		.doc = "Folders and files that can be written; \".\" is the workspace." },
	[AB_KEY_READ] = {
		"filesystem.read", AB_TYPE_READ, REPLACE_LIST,
		.doc = "\"all\", or the only trees that can be read; \"@system\" is the operating system's." },
	[AB_KEY_DENY_READ] = {
		"filesystem.denyRead", AB_TYPE_PATTERNS, GROW_LIST,
		.doc = "Paths and patterns that cannot be read; \"!path\" takes back an earlier match." },
	[AB_KEY_DENY_WRITE] = {
		"filesystem.denyWrite", AB_TYPE_NAMES, GROW_LIST,
		.doc = "Paths, or names at the top of writable folders and repositories, that cannot be written; \"!name\" takes one back." },
	[AB_KEY_HOME] = {
		"filesystem.home", WORDS(home_words),
		.doc = "The home folder: readable, or an empty one of the run's own." },
	[AB_KEY_UNIX] = {
		"filesystem.unix", AB_TYPE_PATHS, REPLACE_LIST,
		.doc = "Sockets of the host that stay reachable." },
	[AB_KEY_TMP_SIZE] = {
		"filesystem.tmpSize", AB_TYPE_SIZE, .min = 1 << 20, .max = 1ULL << 50,
		.doc = "Room in each private folder (/tmp, /var/tmp, /run, /dev/shm)." },

	[AB_KEY_NET_MODE] = {
		"network.mode", WORDS(net_words),
		.doc = "No network, a filtered one, or the host's own." },
	[AB_KEY_NET_ALLOW] = {
		"network.allow", AB_TYPE_HOSTS, REPLACE_LIST,
		.doc = "Hosts that can be reached: name, *.name, address, range, @group; :port optional." },
	[AB_KEY_NET_DENY] = {
		"network.deny", AB_TYPE_HOSTS, GROW_LIST,
		.doc = "Hosts that cannot be reached, whatever network.allow says." },
	[AB_KEY_NET_UNKNOWN] = {
		"network.unknown", WORDS(unknown_words),
		.doc = "A host on neither list: refuse it, or ask." },
	[AB_KEY_NET_WAIT] = {
		"network.wait", AB_TYPE_DURATION, .min = 1000, .max = 3600000,
		.doc = "How long a host that is asked about waits for an answer." },
	[AB_KEY_ALLOW_PRIVATE] = {
		"network.allowPrivate", AB_TYPE_CIDRS, REPLACE_LIST,
		.doc = "Private address ranges that are not refused; :port optional." },
	[AB_KEY_HOST_PORTS] = {
		"network.hostPorts", AB_TYPE_PORTS, REPLACE_LIST,
		.doc = "Ports of the host's loopback that can be reached as ports of the box's own." },
	[AB_KEY_PUBLISH] = {
		"network.publish", AB_TYPE_PUBLISH, REPLACE_LIST,
		.doc = "Ports of the box that the host can reach on its loopback." },
	[AB_KEY_UPSTREAM] = {
		"network.upstream", AB_TYPE_UPSTREAM, .tighten = AB_TIGHTEN_NEVER,
		.doc = "The proxy that the way out goes through: none, the caller's, or a URL." },
	[AB_KEY_HTTP] = {
		"network.http", AB_TYPE_HTTP, AB_MERGE_REPLACE, AB_TIGHTEN_MARKED,
		.doc = "Methods and paths that a host may be asked for; other hosts are not touched." },
	[AB_KEY_ROOTS] = {
		"network.roots", AB_TYPE_PATHS, AB_MERGE_REPLACE, AB_TIGHTEN_NEVER,
		.doc = "Files of certificates (PEM) that servers may also have, where TLS is looked into." },

	[AB_KEY_ENV_MODE] = {
		"env.mode", WORDS(env_words),
		.doc = "Pass every variable but the stripped ones, or only those listed in env.pass." },
	[AB_KEY_ENV_PASS] = {
		"env.pass", AB_TYPE_VARIABLES, REPLACE_LIST,
		.doc = "Variables that are passed although env.strip names them." },
	[AB_KEY_ENV_SET] = {
		"env.set", AB_TYPE_ASSIGNMENTS, AB_MERGE_BY_NAME, AB_TIGHTEN_NEVER,
		.doc = "Variables to set." },
	[AB_KEY_ENV_STRIP] = {
		"env.strip", AB_TYPE_VARIABLES, GROW_LIST,
		.doc = "Variables, and patterns of them, that are not passed." },

	[AB_KEY_RULES] = {
		"commands.rules", AB_TYPE_RULES, AB_MERGE_FRONT, AB_TIGHTEN_MARKED,
		.doc = "Rules of your own for commands; the first that matches counts." },
	[AB_KEY_OVERRIDE] = {
		"commands.override", AB_TYPE_OVERRIDES, AB_MERGE_BY_NAME, AB_TIGHTEN_MARKED,
		.doc = "Other decisions for built-in rules, by name." },
	[AB_KEY_ENFORCE] = {
		"commands.enforce", WORDS(enforce_words),
		.doc = "Judge the command that is started, or each program that it executes too." },

	[AB_KEY_TIMEOUT] = {
		"limits.timeout", AB_TYPE_DURATION, .min = 1, .max = 3650ULL * MILLI_DAY, .none = true,
		.doc = "Wall-clock time of the run." },
	[AB_KEY_MEMORY] = {
		"limits.memory", AB_TYPE_SIZE, .min = 1 << 20, .max = 1ULL << 50, .none = true,
		.doc = "Memory of the run." },
	[AB_KEY_PROCESSES] = {
		"limits.processes", AB_TYPE_INTEGER, .min = 1, .max = 1 << 22, .none = true,
		.doc = "Processes and threads at one time." },
	[AB_KEY_FILES] = {
		"limits.files", AB_TYPE_INTEGER, .min = 16, .max = 1 << 30, .none = true,
		.doc = "Open files per process." },
	[AB_KEY_CPU] = {
		"limits.cpu", AB_TYPE_DURATION, .min = 1, .max = 3650ULL * MILLI_DAY, .none = true,
		.doc = "Processor time per process." },
	[AB_KEY_FILE_SIZE] = {
		"limits.fileSize", AB_TYPE_SIZE, .min = 1, .max = 1ULL << 60, .none = true,
		.doc = "Size of any file that is written." },
	[AB_KEY_OUTPUT] = {
		"limits.output", AB_TYPE_SIZE, .min = 1, .max = 1ULL << 30,
		.doc = "What is kept of each stream that is captured." },

	[AB_KEY_DENIALS] = {
		"monitor.denialsPerMinute", AB_TYPE_INTEGER, .max = 1 << 30, .none = true,
		.doc = "More refusals than this in a minute are too many." },
	[AB_KEY_UPLOAD_HOST] = {
		"monitor.uploadPerHost", AB_TYPE_SIZE, .max = 1ULL << 60, .none = true,
		.doc = "More than this sent to one host is too much." },
	[AB_KEY_UPLOAD_RUN] = {
		"monitor.uploadPerRun", AB_TYPE_SIZE, .max = 1ULL << 60, .none = true,
		.doc = "More than this sent to all hosts together is too much." },
	[AB_KEY_NEW_HOSTS] = {
		"monitor.newHosts", AB_TYPE_INTEGER, .max = 1 << 30, .none = true,
		.doc = "More different hosts than this are too many." },
	[AB_KEY_ACTION] = {
		"monitor.action", WORDS(alarm_words),
		.doc = "What happens then: end the run, cut the network, hold what is new on it, or warn." },

	[AB_KEY_KEEP_FOR] = {
		"records.keepFor", AB_TYPE_DURATION, .tighten = AB_TIGHTEN_NEVER,
		.min = 1, .max = 3650ULL * MILLI_DAY, .none = true,
		.doc = "How long the record of a run that is over is kept." },
	[AB_KEY_KEEP_RUNS] = {
		"records.keepRuns", AB_TYPE_INTEGER, .tighten = AB_TIGHTEN_NEVER,
		.min = 1, .max = 1 << 30, .none = true,
		.doc = "How many runs that are over are kept, the newest." },

	[AB_KEY_REQUIRE] = {
		"assurance.require", AB_TYPE_PROPERTIES, AB_MERGE_REPLACE, AB_TIGHTEN_UNION,
		.doc = "Properties that must hold." },
	[AB_KEY_FALLBACK] = {
		"assurance.fallback", WORDS(fallback_words),
		.doc = "When a required property does not hold: stop, or warn and run." },

	[AB_KEY_SECRETS] = {
		"secrets", AB_TYPE_SECRETS, AB_MERGE_BY_NAME, AB_TIGHTEN_NEVER,
		.doc = "Values that stay outside, by name: where each comes from, and the hosts that it may go to." },
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
					      "limits",	    "monitor", "records", "assurance" };
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
