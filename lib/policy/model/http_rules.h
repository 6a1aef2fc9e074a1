#pragma once
/*
 * Methods and paths (`network.http`):
 *
 *	{ "host": "api.github.com", "methods": ["GET"], "paths": ["/repos/x*"] }
 *
 * A host with rules accepts only requests that match one of them; other hosts
 * are not restricted. Rules of an untrusted file are a second list, managed
 * rules a third one: a request must match all lists. A rule without methods or without paths matches all of
 * them. In a path "*" matches any text, "/" included; the path is compared in
 * its normal form (policy/values/urlpath.h), without the query.
 *
 * Pure.
 */
#include "policy/values/host.h"

struct ab_http_rule {
	const char *text;	   /* canonical, for records */
	struct ab_host_entry host; /* without a port: 80 and 443 */
	struct ab_strv methods;	   /* upper case; none: all */
	struct ab_strv paths;	   /* patterns; none: all */
	bool tighten;		   /* from an untrusted file, or managed */
	bool managed;
};

struct ab_http_rules {
	const struct ab_http_rule *v;
	size_t len;
};

/* Add the host entries of a rule, each with its port, unless the list has
 * them. */
void ab_http_rule_hosts(const struct ab_http_rule *rule, struct ab_strv *ret);
/* Is there any rule for this host and port? */
bool ab_http_rules_bind(const struct ab_http_rules *rules, const struct ab_host *host,
			uint16_t port);
/* Is the request allowed? `path` is in normal form, without the query. *ret_rule
 * is the rule that decided: one that permits, or else the first rule for the
 * host; NULL: the host has no rule. */
bool ab_http_rules_judge(const struct ab_http_rules *rules, const struct ab_host *host,
			 uint16_t port, const char *method, size_t method_len, const char *path,
			 size_t path_len, const struct ab_http_rule **ret_rule);
