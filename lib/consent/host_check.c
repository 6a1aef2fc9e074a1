#include "consent/host_check.h"

#include "netns/own.h"
#include "proxy/filter/filter.h"
#include "proxy/record/ledger.h"

/* Without them an address of this host counts as any other private one. */
static void read_own(struct ab_own *ret)
{
	struct ab_error err = { 0 };
	ab_autoclose int fd = ab_own_open(&err);

	if (fd >= 0 && ab_own_read(fd, ret, &err) == 0)
		ab_own_sort(ret);
}

void ab_host_check(const struct ab_policy *policy, const struct ab_host *host, uint16_t port,
		   struct ab_host_answer *ret)
{
	struct ab_filter *filter = ab_filter_new(policy);
	struct ab_request_record r = { .host = host->text, .port = port };
	struct ab_own own = { 0 };

	if (host->kind != AB_HOST_NAME)
		read_own(&own);
	ab_filter_judge(filter, &own, host, port, &r.verdict);
	*ret = (struct ab_host_answer){ .allowed = r.verdict.access == AB_ACCESS_ALLOW,
					.asked = r.verdict.access == AB_ACCESS_ASK,
					.liftable = ab_request_liftable(&r),
					.rule = ab_ledger_rule(&r) };
	ab_ledger_reason(&r, ret->reason);
	ab_ledger_hint(&r, ret->hint);
	if (r.verdict.basis == AB_BASIS_ALLOW || r.verdict.basis == AB_BASIS_DENY)
		snprintf(ret->entry, sizeof(ret->entry), "%s", r.verdict.entry);
	ab_own_fini(&own);
	ab_filter_free(filter);
}
