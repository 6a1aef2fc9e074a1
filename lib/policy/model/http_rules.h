#ifndef AB_POLICY_MODEL_HTTP_RULES_H
#define AB_POLICY_MODEL_HTTP_RULES_H
/*
 * Methods and paths (`network.http`):
 *
 *	{ "host": "api.github.com", "methods": ["GET"], "paths": ["/repos/x*"] }
 *
 * A host that is named in rules may only be asked for what one of its rules
 * has; other hosts are not touched. Rules of a file that nobody trusts are a
 * list of their own: what is asked for must be in both. A rule without methods
 * or without paths means all of them. In a path "*" stands for anything, also
 * "/"; it is matched against the normal form (policy/values/urlpath.h) without query.
 *
 * Pure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/strv.h"
#include "policy/values/host.h"

struct ab_http_rule {
	const char *text;	   /* as written, one way only: for records */
	struct ab_host_entry host; /* without a port: 80 and 443 */
	struct ab_strv methods;	   /* upper case; none: all */
	struct ab_strv paths;	   /* patterns; none: all */
	bool tighten;		   /* of a file that nobody trusts */
};

struct ab_http_rules {
	const struct ab_http_rule *v;
	size_t len;
};

/* The entries that a rule is for, each with its port, where the list does not
 * have them yet. */
void ab_http_rule_hosts(const struct ab_http_rule *rule, struct ab_strv *ret);
/* Is there any rule for this host and port? */
bool ab_http_rules_bind(const struct ab_http_rules *rules, const struct ab_host *host,
			uint16_t port);
/* May it be asked for? `path` without query, normal. *ret_rule: the rule that
 * decided: one that permits, or the first one of the host that does not; NULL
 * where there is none. */
bool ab_http_rules_judge(const struct ab_http_rules *rules, const struct ab_host *host,
			 uint16_t port, const char *method, size_t method_len, const char *path,
			 size_t path_len, const struct ab_http_rule **ret_rule);

#endif
