#include "audit/read/stats.h"

#include <stdio.h>
#include <string.h>

#include "audit/read/words.h"
#include "base/data/buf.h"
#include "base/data/mem.h"

enum {
	HOST_WIDTH = 44, /* of the widest column; longer names are cut */
	BAR_MAX = 40,
	NUMBERS = 44, /* the columns of numbers */
};

/* An escaped text has one column for each character; wide ones spoil the look
 * of a table, and no more. */
static size_t columns(const char *safe)
{
	size_t n = 0;

	for (; *safe; safe++)
		n += (*safe & 0xc0) != 0x80;
	return n;
}

static char *shown_host(const struct ab_stats_row *row)
{
	ab_autofree char *safe = row->host ? ab_escape(row->host) : NULL;
	size_t cut = 0, n = 0;

	if (!safe)
		return ab_strdup("(others)");
	if (columns(safe) <= HOST_WIDTH)
		return ab_take(safe);
	/* The end of a name says more than its beginning. */
	n = columns(safe) - HOST_WIDTH + 3;
	while (n > 0 || (safe[cut] & 0xc0) == 0x80)
		n -= (safe[cut++] & 0xc0) != 0x80;
	return ab_printf("...%s", safe + cut);
}

/* "-" where nothing was let through. */
static const char *size_or_dash(uint64_t bytes, char buf[AB_AMOUNT_ROOM])
{
	return bytes ? ab_words_size(bytes, buf) : "-";
}

static void add_numbers(struct ab_buf *b, const struct ab_stats_row *row)
{
	char up[AB_AMOUNT_ROOM], down[AB_AMOUNT_ROOM];

	ab_buf_printf(b, " %9llu %10s %10s %8llu", (unsigned long long)row->requests,
		      size_or_dash(row->up, up), size_or_dash(row->down, down),
		      (unsigned long long)row->denied);
}

static void add_row(struct ab_buf *b, const struct ab_stats_row *row, size_t width, size_t bar,
		    uint64_t most)
{
	ab_autofree char *host = shown_host(row);
	size_t n = most ? (size_t)((__uint128_t)row->requests * bar / most) : 0;

	ab_buf_printf(b, "%s%*s", host, (int)(width - columns(host)), "");
	add_numbers(b, row);
	/* One request is something. */
	n = row->requests && n == 0 ? 1 : n;
	if (n)
		ab_buf_puts(b, "  ");
	while (n-- > 0)
		ab_buf_puts(b, "#");
	ab_buf_puts(b, "\n");
}

static void add_sentence(struct ab_buf *b, uint64_t n, const char *one, const char *several)
{
	if (n)
		ab_buf_printf(b, "%llu %s\n", (unsigned long long)n, n == 1 ? one : several);
}

static void add_rest(struct ab_buf *b, const struct ab_stats_totals *t)
{
	add_sentence(b, t->programs, "program was not started", "programs were not started");
	add_sentence(b, t->files, "file or call was refused", "files or calls were refused");
	add_sentence(b, t->packets, "packet that is not TCP was refused",
		     "packets that are not TCP were refused");
	add_sentence(b, t->failed, "of the requests failed", "of the requests failed");
	if (t->hosts == AB_STATS_HOSTS && t->others)
		ab_buf_printf(b, "(others) are all hosts but the first %d\n", AB_STATS_HOSTS);
}

void ab_stats_text(struct ab_stats *stats, size_t width, struct ab_buf *b)
{
	size_t n, column = strlen("HOST"), bar = 0;
	const struct ab_stats_row *rows = ab_stats_rows(stats, &n);
	struct ab_stats_totals t;
	uint64_t most = 0;

	ab_stats_totals(stats, &t);
	for (size_t i = 0; i < n; i++) {
		ab_autofree char *host = shown_host(&rows[i]);

		column = columns(host) > column ? columns(host) : column;
		most = rows[i].requests > most ? rows[i].requests : most;
	}
	if (width > column + NUMBERS)
		bar = width - column - NUMBERS;
	bar = bar > BAR_MAX ? BAR_MAX : bar;
	if (n) {
		ab_buf_printf(b, "%-*s %9s %10s %10s %8s\n", (int)column, "HOST", "REQUESTS", "UP",
			      "DOWN", "BLOCKED");
		for (size_t i = 0; i < n; i++)
			add_row(b, &rows[i], column, bar, most);
	} else {
		ab_buf_puts(b, "no request to any host\n");
	}
	if (n > 1) {
		struct ab_stats_row all = { .requests = t.requests,
					    .denied = t.denied - t.programs - t.files,
					    .up = t.up,
					    .down = t.down };

		ab_buf_printf(b, "%-*s", (int)column, "");
		add_numbers(b, &all);
		ab_buf_puts(b, "\n");
	}
	add_rest(b, &t);
}

static void add_member(struct ab_buf *b, const char *before, const char *key, uint64_t value)
{
	ab_buf_printf(b, "%s\"%s\":%llu", before, key, (unsigned long long)value);
}

void ab_stats_json(struct ab_stats *stats, uint64_t lost, struct ab_buf *b)
{
	size_t n;
	const struct ab_stats_row *rows = ab_stats_rows(stats, &n);
	struct ab_stats_totals t;

	ab_stats_totals(stats, &t);
	add_member(b, "{", "records", t.lines);
	add_member(b, ",", "lost", lost);
	add_member(b, ",", "requests", t.requests);
	add_member(b, ",", "failed", t.failed);
	add_member(b, ",", "denied", t.denied);
	add_member(b, ",", "programs_denied", t.programs);
	add_member(b, ",", "files_denied", t.files);
	add_member(b, ",", "packets_denied", t.packets);
	add_member(b, ",", "bytes_up", t.up);
	add_member(b, ",", "bytes_down", t.down);
	ab_buf_puts(b, ",\"hosts\":[");
	for (size_t i = 0; i < n; i++) {
		ab_buf_puts(b, i ? ",{\"host\":" : "{\"host\":");
		if (rows[i].host)
			ab_buf_json(b, rows[i].host);
		else
			ab_buf_puts(b, "null");
		add_member(b, ",", "requests", rows[i].requests);
		add_member(b, ",", "failed", rows[i].failed);
		add_member(b, ",", "denied", rows[i].denied);
		add_member(b, ",", "bytes_up", rows[i].up);
		add_member(b, ",", "bytes_down", rows[i].down);
		ab_buf_puts(b, "}");
	}
	ab_buf_puts(b, "]}");
}
