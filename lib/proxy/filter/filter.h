#ifndef AB_PROXY_FILTER_FILTER_H
#define AB_PROXY_FILTER_FILTER_H
/*
 * The one decision about a host, for every door. Pure: no I/O, no allocation
 * while judging, no globals. Immutable once made, so a thread may use it
 * without a lock; a change of the lists makes a new one.
 *
 * Order: a literal address in a denied range, the deny list, the allow list,
 * then ask, deny, or let pass to learn. Words about the run that goes on are
 * put over it (proxy/filter/grants.h). What an allowed name resolves to is checked by
 * ab_filter_address before it is dialled. Look-ups cost the same with ten
 * entries and with 100,000.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netns/own.h"
#include "policy/model/policy.h"
#include "policy/values/host.h"

enum ab_access {
	AB_ACCESS_DENY,
	AB_ACCESS_ASK,
	AB_ACCESS_ALLOW,
};

enum ab_basis {			  /* what a decision rests on */
		AB_BASIS_NONE,	  /* on no list */
		AB_BASIS_RANGE,	  /* an address in a denied range */
		AB_BASIS_OWN,	  /* an address of this host; no entry */
		AB_BASIS_DENY,	  /* an entry of network.deny */
		AB_BASIS_ALLOW,	  /* an entry of network.allow */
		AB_BASIS_PORT,	  /* on the allow list, but not with this port:
				 * entry has another one */
		AB_BASIS_GRANT,	  /* a word of somebody about this run */
		AB_BASIS_LEARNED, /* on no list, and let through to learn */
};

struct ab_verdict {
	enum ab_access access;
	enum ab_basis basis;
	const char *entry; /* the entry, canonical, or the range as in
				 * "10.0.0.0/8 (private)"; "" for none. Lives
				 * as long as the filter. */
};

/* For the look-up: as ab_own_read has left them they are in no order. */
void ab_own_sort(struct ab_own *own);

struct ab_filter;

/* The entries are canonical: what a resolved policy holds. Nothing of the
 * policy is needed afterwards. */
struct ab_filter *ab_filter_new(const struct ab_policy *policy);
void ab_filter_free(struct ab_filter *filter);

void ab_filter_judge(const struct ab_filter *filter, const struct ab_own *own,
		     const struct ab_host *host, uint16_t port, struct ab_verdict *ret);

/* Might this name be allowed, or asked about, with some port? Only such names
 * are answered by our resolver. `ret`: why, or why not. A name of which each
 * allowed port is denied by itself still counts as one that might. */
bool ab_filter_resolvable(const struct ab_filter *filter, const struct ab_host *name,
			  struct ab_verdict *ret);

/* May this address (a host that is not a name) be dialled for an allowed
 * name? false with the basis and the range, or the entry of network.deny, in
 * *ret. An address need not be on the allow list for that, and its being there
 * lifts no range. */
bool ab_filter_address(const struct ab_filter *filter, const struct ab_own *own,
		       const struct ab_host *addr, uint16_t port, struct ab_verdict *ret);

#endif
