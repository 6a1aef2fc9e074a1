/* The denials of the proxy, for the summary at the end of a run. */
#include "proxy/record/ledger.h"

#include <inttypes.h>

#include "audit/read/summary.h"
#include "audit/read/words.h"
#include "base/data/mem.h"
#include "policy/model/config.h"
#include "policy/toolchains/host_groups.h"
#include "proxy/record/ledger_state.h"

/* A host that was only asked about has a number but was not denied, and hosts of network.quiet are
 * not told. */
static bool is_told(const struct ab_denial *d)
{
	return d->count && d->basis != AB_BASIS_QUIET;
}

/* "1 request was denied", "7 requests and 3 packets were denied" */
static char *make_headline(const struct ab_ledger *ledger)
{
	uint64_t requests = ledger->totals.denied, packets = ledger->packets;
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < ledger->len; i++)
		if (!is_told(&ledger->v[i]))
			requests -= ledger->v[i].count;
	if (requests)
		ab_buf_printf(&b, "%" PRIu64 " request%s", requests, requests == 1 ? "" : "s");
	if (packets)
		ab_buf_printf(&b, "%s%" PRIu64 " packet%s", requests ? " and " : "", packets,
			      packets == 1 ? "" : "s");
	ab_buf_puts(&b, requests + packets == 1 ? " was denied" : " were denied");
	return ab_buf_take(&b);
}

/* "x.org:443", "[::1]:80", "3 udp packets" */
static char *name_target(const struct ab_denial *d)
{
	struct ab_buf b = { 0 };

	if (d->door == AB_DOOR_COUNT)
		return ab_printf("%" PRIu64 " %s packet%s", d->count, d->host,
				 d->count == 1 ? "" : "s");
	if (d->door == AB_DOOR_AGENT)
		ab_buf_puts(&b, d->host[0] ? "an ssh key for " : "the ssh agent");
	if (d->host[0])
		ab_words_target(&b, d->host, d->port);
	return ab_buf_take(&b);
}

/* Its tool needs the other hosts of a group, too. */
static bool is_on_no_list(const struct ab_denial *d)
{
	return d->fault == AB_FAULT_NONE && d->basis == AB_BASIS_NONE && ab_port_usual(d->port);
}

static void fill_row(const struct ab_ledger *ledger, uint32_t number, struct ab_summary_row *row)
{
	const struct ab_denial *d = &ledger->v[number - 1];
	struct ab_request_record r = { .verdict = { .basis = d->basis }, .fault = d->fault };
	const char *group = ab_group_of(d->host);

	ab_ledger_id(ledger, number, row->id);
	row->about = name_target(d);
	row->reason = ab_strdup(d->reason);
	row->more = d->who ? ab_strdup(d->who) : NULL;
	row->count = d->door == AB_DOOR_COUNT ? 1 : d->count;
	/* A person has decided about this one. */
	if (d->reply == AB_REPLY_NO)
		return;
	if (d->hint[0])
		row->next = group && is_on_no_list(d)
				    ? ab_printf("agentbox run --allow @%s -- ...", group)
				    : ab_strdup(d->hint);
	else if (d->entry && d->from && ab_origin_is_undoable(d->from))
		row->advice = ab_printf("%s denies it; to take that back: agentbox deny %s --undo",
					d->from, d->entry);
	else if (d->entry)
		row->advice =
			ab_printf("to allow it, remove %s from network.deny%s%s%s", d->entry,
				  d->from ? " (" : "", d->from ? d->from : "", d->from ? ")" : "");
	if (d->hint[0] && ab_request_liftable(&r))
		row->always = ab_printf("agentbox allow %s --always", row->id);
}

void ab_ledger_summary(const struct ab_ledger *ledger, struct ab_strv *ret)
{
	struct ab_summary summary = { .run_id = ledger->run_id, .rest = ledger->unremembered };
	ab_autofree char *headline = make_headline(ledger);

	for (uint32_t i = 1; i <= ledger->len; i++) {
		struct ab_summary_row *row;

		if (!is_told(&ledger->v[i - 1]))
			continue;
		row = ab_summary_add(&summary, 1);
		if (row)
			fill_row(ledger, i, row);
	}
	ab_summary_end(&summary, headline, ret);
}
