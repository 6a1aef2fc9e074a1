#ifndef AB_TEST_PROXY_FILTER_WALK_H
#define AB_TEST_PROXY_FILTER_WALK_H
/*
 * The plainest way to decide about a host: walk every list and ask each entry.
 * What the filter does with tables must come to the same.
 */
#include <string.h>

#include "policy/values/cidr.h"
#include "proxy/filter/filter.h"

static const char *const closed_ranges[] = {
	"0.0.0.0/8",	 "10.0.0.0/8",	  "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24",  "192.168.0.0/16", "198.18.0.0/15",  "224.0.0.0/4",
	"240.0.0.0/4",	 "168.63.129.16", "::/96",	    "64:ff9b:1::/48", "2001::/32",
	"2002::/16",	 "fc00::/7",	  "fe80::/10",	    "fec0::/10",      "ff00::/8",
};

/* The first entry that means it, or NULL. */
static inline const char *walk(const struct ab_strv *sv, const struct ab_host *h, uint16_t port,
			       bool denying)
{
	for (size_t i = 0; i < sv->len; i++) {
		struct ab_host_entry e;

		ab_host_entry_parse(sv->v[i], strlen(sv->v[i]), &e, NULL);
		if (denying ? ab_host_entry_denies(&e, h, port) : ab_host_entry_allows(&e, h, port))
			return sv->v[i];
	}
	return NULL;
}

static inline bool walk_closed(const struct ab_policy *p, const struct ab_own *own,
			       const struct ab_host *h, uint16_t port, enum ab_basis *ret)
{
	bool closed = false, mine = false;
	struct ab_cidr c;

	for (size_t i = 0; i < sizeof(closed_ranges) / sizeof(char *); i++)
		closed |=
			ab_cidr_parse(closed_ranges[i], strlen(closed_ranges[i]), &c, NULL) == 0 &&
			ab_cidr_has(&c, h, port);
	for (size_t i = 0; i < own->len; i++) {
		struct ab_host one;

		ab_host_from_addr(own->v[i].v6, own->v[i].addr, &one);
		mine |= strcmp(one.text, h->text) == 0;
	}
	for (size_t i = 0; i < p->net.allow_private.len; i++) {
		const char *s = p->net.allow_private.v[i];

		if (ab_cidr_parse(s, strlen(s), &c, NULL) == 0 && ab_cidr_has(&c, h, port))
			return false;
	}
	*ret = closed ? AB_BASIS_RANGE : AB_BASIS_OWN;
	return closed || mine;
}

static inline enum ab_access walk_all(const struct ab_policy *p, const struct ab_own *own,
				      const struct ab_host *h, uint16_t port, enum ab_basis *ret)
{
	if (walk_closed(p, own, h, port, ret))
		return AB_ACCESS_DENY;
	*ret = AB_BASIS_DENY;
	if (walk(&p->net.deny, h, port, true))
		return AB_ACCESS_DENY;
	*ret = AB_BASIS_ALLOW;
	if (walk(&p->net.allow, h, port, false))
		return AB_ACCESS_ALLOW;
	/* On it with another port? */
	*ret = AB_BASIS_NONE;
	for (size_t i = 0; i < p->net.allow.len; i++) {
		const char *s = p->net.allow.v[i];
		struct ab_host_entry e;

		ab_host_entry_parse(s, strlen(s), &e, NULL);
		if (ab_host_entry_allows(&e, h, e.port ? e.port : 443))
			*ret = AB_BASIS_PORT;
	}
	return p->net.unknown == AB_UNKNOWN_ASK ? AB_ACCESS_ASK : AB_ACCESS_DENY;
}

#endif
