#pragma once
/*
 * The key table: every setting of a policy, with its type and how layers
 * combine. What a key means is in its description in share/agentbox.schema.json. It drives parsing, `config show`, `config check`, the comparison of
 * policies and the test of the JSON Schema.
 */
#include "base/base.h"

enum ab_key_id {
	AB_KEY_EXTENDS,
	AB_KEY_WITH,
	AB_KEY_WRITE,
	AB_KEY_READ,
	AB_KEY_DENY_READ,
	AB_KEY_DENY_WRITE,
	AB_KEY_HOME,
	AB_KEY_SHARE,
	AB_KEY_RETURN,
	AB_KEY_REVIEW,
	AB_KEY_UNIX,
	AB_KEY_DATAGRAMS,
	AB_KEY_TMP_SIZE,
	AB_KEY_NET_MODE,
	AB_KEY_NET_ALLOW,
	AB_KEY_NET_DENY,
	AB_KEY_NET_QUIET,
	AB_KEY_NET_UNKNOWN,
	AB_KEY_NET_WAIT,
	AB_KEY_NOTIFY,
	AB_KEY_NET_SNI,
	AB_KEY_NET_ECH,
	AB_KEY_REQUEST_BODY,
	AB_KEY_ALLOW_PRIVATE,
	AB_KEY_HOST_PORTS,
	AB_KEY_PUBLISH,
	AB_KEY_UPSTREAM,
	AB_KEY_HTTP,
	AB_KEY_ROOTS,
	AB_KEY_ENV_MODE,
	AB_KEY_ENV_PASS,
	AB_KEY_ENV_SET,
	AB_KEY_ENV_STRIP,
	AB_KEY_RULES,
	AB_KEY_OVERRIDE,
	AB_KEY_ENFORCE,
	AB_KEY_TOOLS,
	AB_KEY_TIMEOUT,
	AB_KEY_MEMORY,
	AB_KEY_PROCESSES,
	AB_KEY_FILES,
	AB_KEY_CPU,
	AB_KEY_FILE_SIZE,
	AB_KEY_OUTPUT,
	AB_KEY_DENIALS,
	AB_KEY_UPLOAD_HOST,
	AB_KEY_UPLOAD_RUN,
	AB_KEY_NEW_HOSTS,
	AB_KEY_ACTION,
	AB_KEY_KEEP_FOR,
	AB_KEY_KEEP_RUNS,
	AB_KEY_LAYERS_AGE,
	AB_KEY_LAYERS_SIZE,
	AB_KEY_REQUIRE,
	AB_KEY_FALLBACK,
	AB_KEY_ENGINE,
	AB_KEY_SECRETS,
	AB_KEY_SSH_HOSTS,
	AB_KEY_SSH_KEYS,
	AB_KEY_SSH_USERS,
	AB_KEY_SSH_SIGN,
	AB_KEY_SSH_ASK,
	AB_KEY_SSH_ROUTE,
	AB_KEY_SSH_COUNT,
	AB_KEY_SSH_TIME,
	AB_KEY_DOCKER_IMAGES,
	AB_KEY_DOCKER_MOUNTS,
	AB_KEY_DOCKER_NETWORK,
	AB_KEY_DOCKER_PORTS,
	AB_KEY_DOCKER_PULL,
	AB_KEY_DOCKER_CAPABILITIES,
	AB_KEY_DOCKER_SOCKET,
	AB_KEY_HOST_TOOLS,
	AB_KEY_HOST_TOOLS_MODE,
	AB_KEY_USERNS,
	AB_KEY_TERMINAL,
	AB_KEY_COUNT,
};

enum ab_key_type {
	AB_TYPE_PROFILE,  /* the name of a profile */
	AB_TYPE_WORD,	  /* one of `words`; true and false are written without quotes */
	AB_TYPE_SIZE,	  /* "4G" */
	AB_TYPE_DURATION, /* "30m" */
	AB_TYPE_INTEGER,
	AB_TYPE_UPSTREAM,    /* "none", "env", or the URL of a proxy */
	AB_TYPE_SOCKET,	     /* "auto", or the path of a socket */
	AB_TYPE_PATHS,	     /* list of paths */
	AB_TYPE_READ,	     /* "all", or a list of paths and "@system" */
	AB_TYPE_PATTERNS,    /* list of path patterns; "!" takes one back */
	AB_TYPE_NAMES,	     /* list of paths or protected names; "!" too */
	AB_TYPE_HOSTS,	     /* list of hosts and @groups */
	AB_TYPE_CIDRS,	     /* list of address ranges */
	AB_TYPE_PORTS,	     /* list of ports */
	AB_TYPE_PUBLISH,     /* list of ports, or of "HOSTPORT:PORT" */
	AB_TYPE_IMAGES,	     /* list of patterns of container images */
	AB_TYPE_VARIABLES,   /* list of variable names and patterns */
	AB_TYPE_ASSIGNMENTS, /* object: variable name to text */
	AB_TYPE_PROPERTIES,  /* list of assurance properties */
	AB_TYPE_NOTICES,     /* list of `words` */
	AB_TYPE_SSH_HOSTS,   /* list of hosts, with an optional port */
	AB_TYPE_SSH_KEYS,    /* "all", or a list of fingerprints */
	AB_TYPE_SSH_USERS,   /* "all", or a list of names */
	AB_TYPE_SSH_SIGN,    /* list of `words` */
	AB_TYPE_PRESETS,     /* "auto", or a list of presets, see policy/toolchains/toolchains.h */
	AB_TYPE_RULES,	     /* list of objects, see policy/model/commands.h */
	AB_TYPE_OVERRIDES,   /* object: name of a rule to verdict */
	AB_TYPE_TOOLS,	     /* object: pattern of an agent's tools to allow, ask or deny */
	AB_TYPE_SECRETS,     /* object of objects, see policy/model/secrets.h */
	AB_TYPE_HOST_TOOLS,  /* object of objects, see policy/model/host_tools.h */
	AB_TYPE_HTTP,	     /* list of objects, see policy/model/http_rules.h */
};

/*
 * How a later layer combines with earlier ones. A scalar replaces the earlier one. Lists add up;
 * a list that does not forbid can also replace: { "only": [...] }, and the empty list, which means
 * "nothing". Assignments replace by name. Rules of a later file come first, because the first match
 * wins.
 */
enum ab_key_merge {
	AB_MERGE_REPLACE, /* scalars */
	AB_MERGE_ADD,	  /* lists that can replace, too */
	AB_MERGE_GROW,
	AB_MERGE_BY_NAME,
	AB_MERGE_FRONT,
};

/*
 * What an untrusted project file may do with a key: choose the stricter of two
 * scalars; choose the strictest word; reduce a list of permissions; add to a list of prohibitions (but not
 * take back with "!"); add entries that are marked, so that their user applies
 * them only where they are stricter; or nothing.
 */
enum ab_key_tighten {
	AB_TIGHTEN_STRICTER,
	AB_TIGHTEN_STRICTEST,
	AB_TIGHTEN_COVERED,
	AB_TIGHTEN_UNION,
	AB_TIGHTEN_MARKED,
	AB_TIGHTEN_NEVER,
};

struct ab_key_word {
	const char *name;
	unsigned number; /* the enum in policy.h */
};

/* A scalar is a number, and the smaller one is always stricter; "none" is the
 * largest. A word is its index, strictest first. */
#define AB_NONE UINT64_MAX

struct ab_key {
	const char *path;
	enum ab_key_type type;
	enum ab_key_merge merge;
	enum ab_key_tighten tighten;
	const struct ab_key_word *words;
	size_t nwords;
	uint64_t min, max; /* sizes in bytes, durations in ms, integers */
	bool none;	   /* "none" means no limit; so does 0 if min is 0 */
	bool all;	   /* a list for which "all" can stand */
	bool exact;	   /* a path of the list does not include what is below it */
	/* In the profile `default`; of a list, words (base/text/words.h). NULL: it is empty, or in
	 * policy/layers/profiles.h. */
	const char *usual;
	uint16_t at, size; /* the member of struct ab_policy; 0: policy.c fills it */
};

/* Variables that most programs need. They matter only in the mode "listed". */
#define AB_PASS_BASICS "PATH HOME USER LOGNAME SHELL TERM COLORTERM NO_COLOR LANG LANGUAGE LC_* TZ"

/* Indexed by enum ab_key_id. */
extern const struct ab_key ab_keys[AB_KEY_COUNT];

bool ab_key_is_list(const struct ab_key *key);

/* The key with this path, or NULL. */
const struct ab_key *ab_key_find(const char *path, size_t len);
/* Is it a section, that is, does a key start with "path."? */
bool ab_key_is_group(const char *path, size_t len);
/* The key that was probably meant, or NULL. */
const char *ab_key_guess(const char *path);

/* Of a list of names: "/x", "~/x", "./x" and "../x" are paths, everything else is a name. */
bool ab_is_path_not_name(const char *s);
/* Is this element of the key's list a path or a pattern of paths? Without its "!". */
bool ab_key_takes_path(const struct ab_key *key, const char *value);
