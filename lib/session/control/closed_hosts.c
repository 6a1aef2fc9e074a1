#include "session/control/closed_hosts.h"

enum ab_basis ab_host_closed(const struct ab_policy *policy, const struct ab_host_entry *entry)
{
	struct ab_filter *filter = ab_filter_new(policy);
	struct ab_own none = { 0 };
	struct ab_verdict verdict;

	ab_filter_judge(filter, &none, &entry->host, entry->port ? entry->port : 443, &verdict);
	ab_filter_free(filter);
	return verdict.basis;
}

int ab_closed_range_error(const struct ab_host_entry *entry, struct ab_error *err)
{
	char text[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(entry, text);
	ab_fail(err, AB_ESYSTEM, 0, "private addresses can only be allowed when a run starts");
	return ab_hint(err, "agentbox run --allow-private %s --allow %s -- ...", text, text);
}
