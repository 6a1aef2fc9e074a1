#pragma once
/*
 * The resolved policy: what one run may do. It is made once from the layers
 * (policy/layers/layers.h) and never changes. Pure functions compute everything else
 * from it (mounts, rules, filters, environment).
 *
 * Paths are clean and absolute ("~" and relative paths are resolved), but
 * symbolic links are followed only when the plan is made. denyRead and denyWrite
 * entries keep their pattern characters (* ? [).
 */
#include "policy/model/host_tools.h"
#include "policy/model/http_rules.h"
#include "policy/model/secrets.h"

struct ab_ruling; /* shell/judge/ruling.h */

enum ab_net_mode {
	AB_NET_BLOCKED,	 /* loopback of its own, nothing else */
	AB_NET_FILTERED, /* the same, plus the proxy */
	AB_NET_ALLOWED,	 /* the host's network, unfiltered */
};

enum ab_datagrams { AB_DATAGRAMS_DENY, AB_DATAGRAMS_ALLOW };
enum ab_home_mode { AB_HOME_READONLY, AB_HOME_PRIVATE, AB_HOME_LAYERED, AB_HOME_KEPT };
enum ab_review {
	AB_REVIEW_NONE,
	AB_REVIEW_ASK,	/* the workspace is a layer; a person applies it */
	AB_REVIEW_AUTO, /* changes without a label are applied at the end */
};
/* Ways to tell the user about a question that nobody seems to see. */
enum ab_notice {
	AB_NOTICE_BELL,	   /* of the terminal */
	AB_NOTICE_DESKTOP, /* notify-send */
	AB_NOTICE_TMUX,	   /* in the user's own tmux */
};
#define AB_NOTICE_BIT(notice) (1U << (notice))

enum ab_unknown {
	AB_UNKNOWN_DENY,
	AB_UNKNOWN_ASK,
	AB_UNKNOWN_LEARN, /* allow and record; set by `learn`, not by a setting */
};
enum ab_alarm { /* what to do when a threshold is exceeded */
		AB_ALARM_WARN,
		AB_ALARM_HOLD, /* new connections wait for an answer */
		AB_ALARM_CUT,  /* end the network */
		AB_ALARM_STOP, /* end the run */
};
enum ab_ssh_ask { AB_SSH_ASK_ALWAYS, AB_SSH_ASK_FIRST, AB_SSH_ASK_NEVER };
enum ab_enforce { AB_ENFORCE_CHILDREN, AB_ENFORCE_START };
enum ab_tool_verdict { AB_TOOL_NONE, AB_TOOL_ALLOW, AB_TOOL_ASK, AB_TOOL_DENY };
enum ab_fallback { AB_FALLBACK_STRICT, AB_FALLBACK_WARN };
enum ab_box_engine { /* best first; sandbox/plan/engine.h says what each is */
		     AB_ENGINE_FULL,
		     AB_ENGINE_SHARED_PROC,
		     AB_ENGINE_NO_NAMESPACES,
		     AB_ENGINE_COUNT,
		     AB_ENGINE_AUTO = AB_ENGINE_COUNT, /* the best that the machine allows */
};

/* The guarantees of a run; bit numbers, in the order of display. */
enum ab_property {
	AB_PROP_USER_NS,
	AB_PROP_PID_FENCE,
	AB_PROP_PID_VIEW,
	AB_PROP_NET_FENCE,
	AB_PROP_DNS_FENCE,
	AB_PROP_WRITE_FENCE,
	AB_PROP_READ_DENY,
	AB_PROP_PROTECTED_NAMES,
	AB_PROP_IPC_FENCE,
	AB_PROP_IPC_FENCE_LATE,
	AB_PROP_SYSCALLS,
	AB_PROP_NO_NEW_PRIVS,
	AB_PROP_LIMITS,
	AB_PROP_TRANSPARENT,
	AB_PROP_COUNT,
};
#define AB_PROP_BIT(p) (1u << (p))

extern const char *const ab_property_names[AB_PROP_COUNT];
/* The names of these AB_PROP_BIT()s. */
void ab_property_list(uint32_t bits, struct ab_strv *ret);

enum { AB_TOOL_NAME_MAX = 256 };
struct ab_tool_rule {
	const char *pattern; /* "*" and "?" */
	enum ab_tool_verdict verdict;
};

struct ab_publish {
	uint16_t host; /* port on the host's loopback */
	uint16_t port; /* port of the box */
};

struct ab_policy {
	const char *profile;   /* its name, for records */
	const char *workspace; /* clean; "" when there is none */
	const char *home;      /* clean; NULL when unknown */

	struct {
		struct ab_strv write; /* writable roots */
		/* Those of them that are not followed if they are links: the
		 * name itself is writable. Borrowed. */
		struct ab_strv write_itself;
		/* Folders whose content a box may have made: the writable
		 * roots, and the workspace even if this run cannot write it. */
		struct ab_strv touched;
		bool read_all;
		struct ab_strv read;	      /* when not read_all; "@system" is expanded */
		struct ab_strv deny_read;     /* "!path" takes back an earlier match */
		struct ab_strv deny_read_own; /* those of them that no built-in profile has */
		/*
		 * Absolute: that path. Relative (".git/hooks"): that name at
		 * the top of each writable root and of each repository in it.
		 */
		struct ab_strv deny_write;
		enum ab_home_mode home;
		/* With AB_HOME_KEPT: the built-in profile that says so, which has one layer
		 * for all its runs; NULL: a setting, with one for each workspace. */
		const char *home_profile;
		struct ab_strv share; /* folders in home that are the host's own; last in `write` */
		struct ab_strv returns; /* files of a kept home layer that go back to the host */
		bool returns_builtin;	/* the list is the one of a built-in profile */
		enum ab_review review;
		struct ab_strv unix_allow; /* sockets that stay reachable */
		enum ab_datagrams unix_datagrams;
		uint64_t tmp_size; /* bytes, of all private folders */
	} fs;

	struct {
		enum ab_net_mode mode;
		struct ab_strv allow;  /* canonical host entries */
		struct ab_strv groups; /* the groups from which they come: "npm" */
		struct ab_strv deny;
		struct ab_strv deny_from; /* where each of them was set, for people */
		/* Managed settings: only hosts of `most` can be allowed, by whatever means; and the
		 * mode or the answer to unknown hosts is fixed, so nothing can be learned. */
		bool bounded, fixed;
		struct ab_strv most;
		struct ab_strv quiet;	      /* denied without a question */
		struct ab_strv allow_private; /* canonical CIDR[:port] */
		/* Empty if the mode does not support them. */
		struct {
			const uint16_t *v;
			size_t len;
		} host_ports;
		struct {
			const struct ab_publish *v;
			size_t len;
		} publish;
		/* Managed settings: only these can be published, also while a run is active. */
		struct {
			bool bounded;
			const struct ab_publish *v;
			size_t len;
		} most_published;
		/* "none", "env" (the caller's HTTPS_PROXY, HTTP_PROXY and
		 * NO_PROXY), or a URL for ab_proxy_url_parse, with its
		 * password: not to be shown. */
		const char *upstream;
		struct ab_http_rules http; /* methods and paths */
		struct ab_strv roots;	   /* files with additional CA certificates */
		enum ab_unknown unknown;
		uint32_t notify;  /* AB_NOTICE_BIT()s: how to tell about a waiting question */
		bool require_sni; /* deny a TLS hello without a server name */
		bool deny_ech;	  /* deny a TLS hello with an encrypted one */
		uint64_t max_request_body; /* bytes, of HTTP that can be read; 0: no limit */
		uint64_t wait_ms;	   /* how long a host waits for an answer */
		bool ask_anywhere; /* "ask" was set explicitly: ask even without a terminal */
	} net;

	struct {
		bool only_listed;     /* allow-list mode: nothing but pass and set */
		struct ab_strv pass;  /* names kept even if strip matches */
		struct ab_strv strip; /* names and patterns removed */
		struct ab_strv set;   /* "K=V" */
		struct ab_strv never; /* names and patterns removed whatever pass and set say */
	} env;

	struct { /* 0: no limit */
		uint64_t timeout_ms;
		uint64_t memory;
		uint64_t processes;
		uint64_t files;
		uint64_t cpu_ms;
		uint64_t file_size;
		uint64_t output; /* kept of each captured stream */
	} limits;

	struct {		      /* 0: no threshold */
		uint64_t denials;     /* of every kind, in a minute */
		uint64_t upload_host; /* bytes to one host */
		uint64_t upload_run;  /* bytes to all */
		uint64_t hosts;	      /* different hosts reached */
		enum ab_alarm action;
	} monitor;

	struct { /* 0: no limit */
		uint64_t keep_ms;
		uint64_t keep_runs;
	} records;

	struct { /* 0: no limit */
		uint64_t keep_ms;
		uint64_t max_size; /* bytes, of all together */
	} layers;

	struct {
		uint32_t require;  /* AB_PROP_BIT()s */
		uint32_t given_up; /* that a setting gives up, and no layer names as required */
		uint32_t firm;	   /* those of `require` that a person asked for, not only the
				    * default profile: no engine may do without them */
		enum ab_fallback fallback;
		enum ab_box_engine engine;
	} assurance;

	struct {
		const struct ab_ruling *ruling; /* NULL: no setting */
		/* Judge only the command, or also each program it executes. */
		enum ab_enforce enforce;
		/* Tools of an agent; the strictest match decides. */
		const struct ab_tool_rule *tools;
		size_t ntools;
	} commands;

	struct {		      /* keys of the caller's ssh agent */
		struct ab_strv hosts; /* canonical, each with its port */
		bool all_keys, all_users;
		struct ab_strv keys, users;
		bool git; /* sign commits and tags */
		enum ab_ssh_ask ask;
		bool proxied;		 /* only on connections of the box's proxy */
		uint64_t max_signatures; /* 0: no limit */
		uint64_t max_ms;	 /* the same */
	} ssh;

	struct { /* a filtered socket of the container engine; off without images */
		struct ab_strv images; /* patterns of short names, policy/values/image.h */
		struct ab_strv mounts; /* folders that a container may have, read-only */
		const char *socket;    /* "auto", or a clean path */
		bool bridge;	       /* containers may have the engine's network */
		bool publish;	       /* and ports on the host's localhost */
		bool pull;	       /* the engine may download images */
		bool setup_caps;       /* containers without mounts have a few capabilities */
	} docker;

	struct ab_host_tools host_tools; /* empty if hostTools is deny */

	bool userns;	   /* the command may create user namespaces */
	bool raw_terminal; /* the box's output reaches the terminal unfiltered */

	struct ab_secrets secrets; /* their hosts are in net.allow too */

	/* What other layers asked for and the managed settings do not permit, as phrases. */
	struct ab_strv attempts;

	struct ab_policy_store *store; /* owns what the pointers refer to */
};

void ab_policy_free(struct ab_policy *policy);
static inline void ab_policy_freep(struct ab_policy **policy)
{
	ab_policy_free(*policy);
}
#define ab_autopolicy __attribute__((cleanup(ab_policy_freep)))
/* May the box use keys of the ssh agent at all? */
bool ab_policy_lends_keys(const struct ab_policy *policy);
/* "user-ns (--allow-userns), ...": the guarantees that a setting gives up, and which. */
char *ab_policy_given_up(const struct ab_policy *policy);
/* Does an exception in filesystem.denyRead (--read) name this path, or, if `above`, a folder above it? */
bool ab_policy_reads(const struct ab_policy *policy, const char *path, bool above);
/* Did the managed settings leave this element of a list out, or override it? */
bool ab_policy_held_back(const struct ab_policy *policy, const char *key, const char *element);
/* For a run: if it writes to the reviewed workspace only, rules that guard the host's files have
 * nothing to guard. */
void ab_policy_review_commands(struct ab_policy *policy);
