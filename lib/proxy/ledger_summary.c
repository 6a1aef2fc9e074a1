/*
 * What was blocked, for people: told once, when the run is over.
 */
#include "proxy/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proxy/ledger_state.h"

enum {
	ROWS = 10,
	WIDTH = 40, /* of a column; a longer text breaks it */
};

/* "1 request was", "7 requests and 3 packets were" */
static char *headline(const struct ab_ledger *ledger)
{
	uint64_t requests = ledger->totals.denied, packets = ledger->packets;
	struct ab_buf b = { 0 };

	if (requests)
		ab_buf_printf(&b, "%" PRIu64 " request%s", requests,
			      requests == 1 ? "" : "s");
	if (packets)
		ab_buf_printf(&b, "%s%" PRIu64 " packet%s",
			      requests ? " and " : "", packets,
			      packets == 1 ? "" : "s");
	ab_buf_puts(&b,
		    requests + packets == 1 ? " was blocked" : " were blocked");
	return ab_buf_take(&b);
}

/* "x.org:443", "[::1]:80", "udp" */
static char *target_of(const struct ab_denial *d)
{
	bool v6 = d->port && strchr(d->host, ':');

	return d->port ? ab_printf("%s%s%s:%u", v6 ? "[" : "", d->host,
				   v6 ? "]" : "", d->port)
		       : ab_strdup(d->host);
}

static void add_row(const struct ab_ledger *ledger, uint32_t number, int ids,
		    int targets, struct ab_strv *ret)
{
	const struct ab_denial *d = &ledger->v[number - 1];
	ab_autofree char *target = target_of(d);
	char id[AB_DENIAL_ID], times[40] = "";

	ab_ledger_id(ledger, number, id);
	if (d->door == AB_DOOR_COUNT)
		snprintf(times, sizeof(times), ", %" PRIu64 " packet%s",
			 d->count, d->count == 1 ? "" : "s");
	else if (d->count > 1)
		snprintf(times, sizeof(times), ", %" PRIu64 " times", d->count);
	ab_strv_addf(ret, "  %-*s  %-*s  %s%s", ids, id, targets, target,
		     d->reason, times);
	if (d->hint[0])
		ab_strv_addf(ret, "  %-*s  allow it next time:  %s", ids, "",
			     d->hint);
	else if (d->entry)
		ab_strv_addf(ret,
			     "  %-*s  to allow it, take %s off network.deny",
			     ids, "", d->entry);
}

static void widen(int *width, const char *text)
{
	size_t len = strlen(text);

	if (len <= WIDTH && (int)len > *width)
		*width = (int)len;
}

void ab_ledger_summary(const struct ab_ledger *ledger, struct ab_strv *ret)
{
	uint32_t rows = ledger->len < ROWS ? (uint32_t)ledger->len : ROWS;
	int ids = 0, targets = 0;

	if (!ledger->last)
		return;
	ab_strv_give(ret, headline(ledger));
	for (uint32_t n = 1; n <= rows; n++) {
		ab_autofree char *target = target_of(&ledger->v[n - 1]);
		char id[AB_DENIAL_ID];

		ab_ledger_id(ledger, n, id);
		widen(&ids, id);
		widen(&targets, target);
	}
	for (uint32_t n = 1; n <= rows; n++)
		add_row(ledger, n, ids, targets, ret);
	if (ledger->last > rows)
		ab_strv_addf(ret,
			     "  and %" PRIu32 " more: agentbox log %s --denied",
			     ledger->last - rows, ledger->run_id);
}
