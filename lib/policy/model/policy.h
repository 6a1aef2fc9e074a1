#ifndef AB_POLICY_MODEL_POLICY_H
#define AB_POLICY_MODEL_POLICY_H
/*
 * The resolved policy: what one run may do. Made once from the layers
 * (policy/layers/layers.h), const ever after. Everything later (mounts, rules,
 * filters, environment) is computed from it by pure functions.
 *
 * Paths are clean and absolute ("~" and relative spellings are gone), but
 * symbolic links are not followed yet: that happens once, where the plan is
 * made. Pattern characters (* ? [) stay in denyRead and denyWrite entries.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/strv.h"
#include "policy/model/http_rules.h"
#include "policy/model/secrets.h"

struct ab_ruling; /* shell/judge/ruling.h */

enum ab_net_mode {
	AB_NET_BLOCKED,	 /* loopback of its own, nothing else */
	AB_NET_FILTERED, /* the same, plus the door */
	AB_NET_ALLOWED,	 /* the host's network, unfiltered */
};

enum ab_home_mode { AB_HOME_READONLY, AB_HOME_PRIVATE };
enum ab_unknown {
	AB_UNKNOWN_DENY,
	AB_UNKNOWN_ASK,
	AB_UNKNOWN_LEARN, /* let through and recorded; no setting says
				 * it, only `learn` itself */
};
enum ab_alarm { /* what happens when a threshold is crossed */
		AB_ALARM_WARN,
		AB_ALARM_HOLD, /* what is new on the network waits for a word */
		AB_ALARM_CUT,  /* no network any more */
		AB_ALARM_STOP, /* the end of the run */
};
enum ab_enforce { AB_ENFORCE_CHILDREN, AB_ENFORCE_START };
enum ab_fallback { AB_FALLBACK_STRICT, AB_FALLBACK_WARN };

/* What a run can hold; bit numbers, in the order that people read them. */
enum ab_property {
	AB_PROP_USER_NS,
	AB_PROP_PID_FENCE,
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

struct ab_publish {
	uint16_t host; /* port on the host's loopback */
	uint16_t port; /* where it leads, inside */
};

struct ab_policy {
	const char *profile;   /* its name, for records */
	const char *workspace; /* clean; "" when there is none */
	const char *home;      /* clean; NULL when unknown */

	struct {
		struct ab_strv write; /* writable roots */
		/* Of these: what is meant is the thing that has this very
		 * name, and not what a link leads to. Borrowed. */
		struct ab_strv write_itself;
		bool read_all;
		struct ab_strv read;	  /* when not read_all; "@system" is expanded */
		struct ab_strv deny_read; /* "!path" takes back an earlier match */
		/*
		 * Absolute: that path. Relative (".git/hooks"): that name at
		 * the top of each writable root and of each repository in it.
		 */
		struct ab_strv deny_write;
		enum ab_home_mode home;
		struct ab_strv unix_allow; /* sockets that stay reachable */
		uint64_t tmp_size;	   /* bytes, of all private folders */
	} fs;

	struct {
		enum ab_net_mode mode;
		struct ab_strv allow; /* canonical host entries */
		struct ab_strv deny;
		struct ab_strv allow_private; /* canonical CIDR[:port] */
		/* Empty where the mode has no place for them. */
		struct {
			const uint16_t *v;
			size_t len;
		} host_ports;
		struct {
			const struct ab_publish *v;
			size_t len;
		} publish;
		/* "none", "env" (the caller's HTTPS_PROXY, HTTP_PROXY and
		 * NO_PROXY), or a URL for ab_proxy_url_parse, with its
		 * password: not to be shown. */
		const char *upstream;
		struct ab_http_rules http; /* methods and paths */
		struct ab_strv roots;	   /* files of certificates that
						 * servers may also have */
		enum ab_unknown unknown;
		uint64_t wait_ms;  /* for an answer about a host */
		bool ask_anywhere; /* "ask" was written by somebody: also
					 * where there is no terminal */
	} net;

	struct {
		bool only_listed;     /* allow-list mode: nothing but pass and set */
		struct ab_strv pass;  /* names kept although a strip rule matches */
		struct ab_strv strip; /* names and patterns removed */
		struct ab_strv set;   /* "K=V" */
	} env;

	struct { /* 0: no limit */
		uint64_t timeout_ms;
		uint64_t memory;
		uint64_t processes;
		uint64_t files;
		uint64_t cpu_ms;
		uint64_t file_size;
		uint64_t output; /* of each stream that is captured */
	} limits;

	struct {		      /* 0: no threshold */
		uint64_t denials;     /* of every kind, in a minute */
		uint64_t upload_host; /* bytes to one host */
		uint64_t upload_run;  /* bytes to all */
		uint64_t hosts;	      /* different ones that were reached */
		enum ab_alarm action;
	} monitor;

	struct { /* 0: as long, as many as there are */
		uint64_t keep_ms;
		uint64_t keep_runs;
	} records;

	struct {
		uint32_t require; /* AB_PROP_BIT()s */
		enum ab_fallback fallback;
	} assurance;

	struct {
		const struct ab_ruling *ruling; /* NULL: nothing was said */
		/* Judge what is started, or each program that it executes. */
		enum ab_enforce enforce;
	} commands;

	struct ab_secrets secrets; /* their hosts are in net.allow too */

	struct ab_policy_store *store; /* owns what the pointers above mean */
};

void ab_policy_free(struct ab_policy *policy);

#endif
