/*
 * What was blocked, for people: told once, when the run is over.
 */
#include "proxy/record/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "proxy/record/ledger_state.h"

enum { ROWS = 10 };

/* "1 request was", "7 requests and 3 packets were" */
static char *headline(const struct ab_ledger *ledger)
{
	uint64_t requests = ledger->totals.denied, packets = ledger->packets;
	struct ab_buf b = { 0 };

	if (requests)
		ab_buf_printf(&b, "%" PRIu64 " request%s", requests, requests == 1 ? "" : "s");
	if (packets)
		ab_buf_printf(&b, "%s%" PRIu64 " packet%s", requests ? " and " : "", packets,
			      packets == 1 ? "" : "s");
	ab_buf_puts(&b, requests + packets == 1 ? " was blocked" : " were blocked");
	return ab_buf_take(&b);
}

/* "x.org:443", "[::1]:80", "udp" */
static char *target_of(const struct ab_denial *d)
{
	bool v6 = d->port && strchr(d->host, ':');

	return d->port ? ab_printf("%s%s%s:%u", v6 ? "[" : "", d->host, v6 ? "]" : "", d->port)
		       : ab_strdup(d->host);
}

/* "not on the allow list, 3 times" */
static char *reason_of(const struct ab_denial *d)
{
	if (d->door == AB_DOOR_COUNT)
		return ab_printf("%s, %" PRIu64 " packet%s", d->reason, d->count,
				 d->count == 1 ? "" : "s");
	if (d->count > 1)
		return ab_printf("%s, %" PRIu64 " times", d->reason, d->count);
	return ab_strdup(d->reason);
}

struct widths {
	int id, target, reason;
};

static void advise(const struct ab_denial *d, const char *id, int indent, struct ab_strv *ret)
{
	struct ab_request_record r = { .verdict = { .basis = d->basis }, .fault = d->fault };

	if (d->hint[0])
		ab_strv_addf(ret, "  %-*s  allow it next time:  %s", indent, "", d->hint);
	else if (d->entry)
		ab_strv_addf(ret, "  %-*s  to allow it, take %s off network.deny", indent, "",
			     d->entry);
	if (d->hint[0] && ab_request_liftable(&r))
		ab_strv_addf(ret,
			     "  %-*s  allow it always:     agentbox allow %s "
			     "--always",
			     indent, "", id);
}

static void add_row(const struct ab_ledger *ledger, uint32_t number, const struct widths *widths,
		    struct ab_strv *ret)
{
	const struct ab_denial *d = &ledger->v[number - 1];
	ab_autofree char *target = target_of(d), *reason = reason_of(d);
	char id[AB_DENIAL_ID];

	ab_ledger_id(ledger, number, id);
	if (d->who)
		ab_strv_addf(ret, "  %-*s  %-*s  %-*s  %s", widths->id, id, widths->target, target,
			     widths->reason, reason, d->who);
	else
		ab_strv_addf(ret, "  %-*s  %-*s  %s", widths->id, id, widths->target, target,
			     reason);
	advise(d, id, widths->id, ret);
}

static void measure(const struct ab_ledger *ledger, uint32_t number, struct widths *widths)
{
	const struct ab_denial *d = &ledger->v[number - 1];
	ab_autofree char *target = target_of(d), *reason = reason_of(d);
	char id[AB_DENIAL_ID];

	ab_ledger_id(ledger, number, id);
	ab_strv_widen(&widths->id, id);
	ab_strv_widen(&widths->target, target);
	ab_strv_widen(&widths->reason, reason);
}

void ab_ledger_summary(const struct ab_ledger *ledger, struct ab_strv *ret)
{
	struct widths widths = { 0 };
	uint32_t rows[ROWS], n = 0, all = ledger->strangers;

	/* What was only asked about has a number, and was not denied. */
	for (uint32_t i = 1; i <= ledger->len; i++) {
		if (!ledger->v[i - 1].count)
			continue;
		if (n < ROWS)
			rows[n++] = i;
		all++;
	}
	if (!all)
		return;
	ab_strv_give(ret, headline(ledger));
	for (uint32_t i = 0; i < n; i++)
		measure(ledger, rows[i], &widths);
	for (uint32_t i = 0; i < n; i++)
		add_row(ledger, rows[i], &widths, ret);
	if (all > n)
		ab_strv_addf(ret, "  and %" PRIu32 " more: agentbox log %s --denied", all - n,
			     ledger->run_id);
}
