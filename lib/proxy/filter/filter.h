#pragma once
/*
 * Judges a host by the lists, for every door. Pure: no I/O, no allocation while
 * judging, no globals. Immutable, so threads need no lock; changed lists make a
 * new filter.
 *
 * Order: a literal address in a denied range, the deny list, the managed list of
 * all hosts that can be allowed, the allow list, the
 * quiet list, then ask, deny, or allow and learn. Grants for the run change the result
 * (proxy/filter/grants.h). ab_filter_address checks the addresses of an allowed
 * name before they are dialled. A look-up costs the same with ten entries as
 * with 100,000.
 */
#include "netns/own.h"
#include "policy/model/policy.h"
#include "policy/values/host.h"

enum ab_access {
	AB_ACCESS_DENY,
	AB_ACCESS_ASK,
	AB_ACCESS_ALLOW,
};

/* The reason for an access. */
enum ab_basis {
	AB_BASIS_NONE,	  /* on no list */
	AB_BASIS_RANGE,	  /* an address in a denied range */
	AB_BASIS_OWN,	  /* an address of this host; no entry */
	AB_BASIS_DENY,	  /* an entry of network.deny */
	AB_BASIS_ALLOW,	  /* an entry of network.allow */
	AB_BASIS_PORT,	  /* the entry of network.allow has another port */
	AB_BASIS_GRANT,	  /* a grant for this run */
	AB_BASIS_LEARNED, /* on no list, and allowed while learning */
	AB_BASIS_BOUND,	  /* not a host that the managed settings permit */
	AB_BASIS_QUIET,	  /* an entry of network.quiet */
};

struct ab_verdict {
	enum ab_access access;
	enum ab_basis basis;
	/* The canonical entry, or a range like "10.0.0.0/8 (private)"; "" for
	 * none. Lives as long as the filter. */
	const char *entry;
	/* Where an entry of network.deny was set; NULL: not known. Lives as long. */
	const char *from;
};

/* Sort what ab_own_read returned, for the look-up. */
void ab_own_sort(struct ab_own *own);

struct ab_filter;

/* The policy must be resolved (canonical entries); it is not needed afterwards. */
struct ab_filter *ab_filter_new(const struct ab_policy *policy);
void ab_filter_free(struct ab_filter *filter);

void ab_filter_judge(const struct ab_filter *filter, const struct ab_own *own,
		     const struct ab_host *host, uint16_t port, struct ab_verdict *ret);

/* The verdict for hosts on no list. */
void ab_filter_other(const struct ab_filter *filter, struct ab_verdict *ret);

/* Could this name be allowed, or asked about, with some port? The box's DNS
 * server answers only such names. A name whose allowed ports are each denied
 * by port still counts. */
bool ab_filter_resolvable(const struct ab_filter *filter, const struct ab_host *name,
			  struct ab_verdict *ret);

/* May this address (a host that is not a name) be dialled for an allowed name?
 * false: *ret has the range or the entry of network.deny. The allow list does
 * not matter here: it lifts no range. */
bool ab_filter_address(const struct ab_filter *filter, const struct ab_own *own,
		       const struct ab_host *addr, uint16_t port, struct ab_verdict *ret);
