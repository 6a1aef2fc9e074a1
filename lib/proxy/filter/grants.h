#pragma once
/*
 * Grants: what a person allowed or denied while the run is active, in
 * addition to the lists. Pure; the caller passes the time in.
 *
 * If several match a host and port, the newest counts. One that denies
 * overrides the allow list; one that allows does not override the deny list or
 * the denied ranges. An answer of no is for all ports of the host that nothing
 * else allows, and is overridden by every other grant. A plain list of at most AB_GRANTS_MAX. When it is full, the
 * oldest "no" answers are dropped, then the oldest grants that allow: those
 * hosts are asked about again. Grants that deny are never dropped.
 */
#include "policy/values/host.h"
#include "proxy/filter/filter.h"

enum { AB_GRANTS_MAX = 1024 };

enum ab_grant_kind {
	AB_GRANT_ALLOW,
	AB_GRANT_DENY,
	AB_GRANT_ANSWER, /* denies: a question was answered with no */
};

struct ab_grants {	       /* zeroed: none */
	struct ab_granted **v; /* the newest last */
	size_t len;
};

void ab_grants_fini(struct ab_grants *grants);

/* Replaces an older one of the same entry. `until` 0: for the whole run. False:
 * it is not a valid entry, or there is no room. */
bool ab_grants_add(struct ab_grants *grants, uint64_t now, const char *entry,
		   enum ab_grant_kind kind, uint64_t until);

/* Changes the verdict of the lists to what holds with the grants. The verdict's
 * entry may then be a grant's, and is valid until the next one is added. */
void ab_grants_judge(const struct ab_grants *grants, uint64_t now, const struct ab_host *host,
		     uint16_t port, struct ab_verdict *verdict);
/* The same for a name of which no port is known (ab_filter_resolvable). */
void ab_grants_name(const struct ab_grants *grants, uint64_t now, const struct ab_host *name,
		    struct ab_verdict *verdict);
