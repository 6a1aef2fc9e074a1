#ifndef AB_PROXY_GRANTS_H
#define AB_PROXY_GRANTS_H
/*
 * Words about hosts that hold for this run, beside the lists: what somebody
 * allowed or denied while it goes on. Pure; the time is given in.
 *
 * Of several that mean a host and port the newest holds. A denying one is
 * stronger than the allow list; an allowing one is weaker than the deny list
 * and the denied ranges. Few and walked: at most AB_GRANTS_MAX. When there are
 * more, the oldest noes that were answers go, then the oldest that allow;
 * either is asked about again. Those that deny stay.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"
#include "proxy/filter.h"

enum { AB_GRANTS_MAX = 1024 };

enum ab_grant_kind {
	AB_GRANT_ALLOW,
	AB_GRANT_DENY,
	AB_GRANT_ANSWER,	/* denies: a question was answered with no */
};

struct ab_grants {	/* zeroed: none */
	struct ab_granted **v;	/* the newest last */
	size_t len, room;
};

void ab_grants_fini(struct ab_grants *grants);

/* An older one with the same words goes. `until` 0: for the whole run. false:
 * it is no entry of a list, or there is no room for it. */
bool ab_grants_add(struct ab_grants *grants, uint64_t now, const char *entry,
		   enum ab_grant_kind kind, uint64_t until);

/* What the lists say about it becomes what holds; the entry is a grant's then,
 * and lives until the next one is added. */
void ab_grants_judge(const struct ab_grants *grants, uint64_t now,
		     const struct ab_host *host, uint16_t port,
		     struct ab_verdict *verdict);
/* The same for a name of which no port is known (ab_filter_resolvable). */
void ab_grants_name(const struct ab_grants *grants, uint64_t now,
		    const struct ab_host *name, struct ab_verdict *verdict);

#endif
