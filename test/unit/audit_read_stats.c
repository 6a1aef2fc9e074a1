/*
 * Records counted by host, in bounded memory; amounts in words.
 */
#include "audit/read/stats.h"

#include <stdlib.h>
#include <string.h>

#include "audit/read/words.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

static void add(struct ab_stats *s, const char *line)
{
	ab_stats_add(s, line, strlen(line));
}

static void check_counts(void)
{
	struct ab_stats *s = ab_stats_new();
	struct ab_stats_totals t;
	const struct ab_stats_row *rows;
	size_t n;

	add(s, "{\"kind\":\"request\",\"domain\":\"a\",\"allowed\":true,"
	       "\"bytes_up\":1,\"bytes_down\":2}");
	add(s, "{\"kind\":\"request\",\"domain\":\"b\",\"allowed\":true,"
	       "\"bytes_up\":10,\"bytes_down\":20,\"error\":\"x\"}");
	add(s, "{\"kind\":\"request\",\"domain\":\"b\",\"allowed\":true,"
	       "\"bytes_up\":-5,\"bytes_down\":\"x\"}");
	add(s, "{\"kind\":\"request\",\"domain\":\"c\",\"allowed\":false,"
	       "\"id\":\"x\",\"bytes_up\":100,\"bytes_down\":200}");
	add(s, "{\"kind\":\"violation\",\"id\":\"x\",\"domain\":\"c\","
	       "\"repeated\":7}");
	add(s, "{\"kind\":\"violation\",\"domain\":null,\"protocol\":\"udp\","
	       "\"packets\":9}");
	add(s, "{\"kind\":\"violation\",\"id\":\"x\",\"door\":\"call\"}");
	/* So many after the first, and so many that nothing is known of. */
	add(s, "{\"kind\":\"violation\",\"id\":\"x\",\"door\":\"file\","
	       "\"repeated\":3}");
	add(s, "{\"kind\":\"violation\",\"id\":null,\"door\":\"file\","
	       "\"repeated\":2}");
	add(s, "{\"kind\":\"exec\",\"id\":\"x\"}");
	add(s, "{\"kind\":\"exec\",\"id\":null,\"repeated\":4}");
	add(s, "{\"kind\":\"start\"}");
	ok(!ab_stats_add(s, "{\"kind\"", 7), "a torn line is none");
	ab_stats_totals(s, &t);
	ok(t.lines == 12 && t.requests == 3 && t.failed == 1, "requests");
	ok(t.denied == 19 && t.programs == 5 && t.files == 6 && t.packets == 9,
	   "denials of every kind");
	ok(t.up == 111 && t.down == 222, "bytes, also of what was denied");
	rows = ab_stats_rows(s, &n);
	ok(n == 3 && strcmp(rows[0].host, "b") == 0 && rows[0].requests == 2 &&
		   strcmp(rows[1].host, "a") == 0 && strcmp(rows[2].host, "c") == 0 &&
		   rows[2].denied == 8,
	   "most requests first");
	ab_stats_free(s);
}

static void check_bound(void)
{
	struct ab_stats *s = ab_stats_new();
	struct ab_stats_totals t;
	const struct ab_stats_row *rows;
	ab_autobuf struct ab_buf b = { 0 };
	char line[128];
	size_t n;

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 3 * AB_STATS_HOSTS; i++) {
			snprintf(line, sizeof(line),
				 "{\"kind\":\"request\",\"domain\":\"h%d\","
				 "\"allowed\":true}",
				 i);
			add(s, line);
		}
	rows = ab_stats_rows(s, &n);
	ab_stats_totals(s, &t);
	ok(n == AB_STATS_HOSTS + 1 && !rows[n - 1].host, "one row for others");
	ok(rows[n - 1].requests == 4 * AB_STATS_HOSTS && t.others == 4 * AB_STATS_HOSTS &&
		   t.requests == 6 * AB_STATS_HOSTS,
	   "nothing is lost");
	ok(rows[0].requests == 2, "the first have their own");
	ab_stats_text(s, 80, &b);
	ok(strstr(b.data, "(others) ") && strstr(b.data, "the first 4096"), "the table says so");
	ab_stats_free(s);
}

static void check_text(void)
{
	struct ab_stats *s = ab_stats_new();
	ab_autobuf struct ab_buf b = { 0 }, json = { 0 };

	ab_stats_text(s, 80, &b);
	is_str(b.data, "no request to any host\n", "an empty table");
	b.len = 0;
	add(s, "{\"kind\":\"request\",\"domain\":\"x\\u001b[1m\",\"allowed\":"
	       "true,\"bytes_up\":62464,\"bytes_down\":92274688}");
	ab_stats_text(s, 70, &b);
	is_str(b.data,
	       "HOST      REQUESTS         UP       DOWN   DENIED\n"
	       "x\\x1b[1m         1     61 KiB     88 MiB        0  "
	       "##################\n",
	       "a hostile name, and a bar as wide as the screen lets it");
	ab_stats_json(s, 3, &json);
	ok(strstr(json.data, "\"lost\":3,") && strstr(json.data, "\"host\":\"x\\u001b[1m\""),
	   "the same as JSON");
	ab_stats_free(s);
}

static void check_long_names(void)
{
	struct ab_stats *s = ab_stats_new();
	ab_autobuf struct ab_buf b = { 0 }, line = { 0 };

	ab_buf_puts(&line, "{\"kind\":\"violation\",\"domain\":\"");
	for (int i = 0; i < 300; i++)
		ab_buf_puts(&line, "\xc3\xa9");
	ab_buf_puts(&line, "\"}");
	add(s, line.data);
	ab_stats_text(s, 20, &b);
	ok(strstr(b.data, "...\xc3\xa9") && b.len < 400, "a long name is cut between characters");
	ab_stats_free(s);
}

static void check_amounts(void)
{
	static const struct {
		uint64_t n;
		const char *size, *time;
	} cases[] = {
		{ 0, "0 B", "0 ms" },
		{ 1, "1 B", "1 ms" },
		{ 999, "999 B", "999 ms" },
		{ 1023, "1023 B", "1.0 s" },
		{ 1024, "1.0 KiB", "1.0 s" },
		{ 1536, "1.5 KiB", "1.5 s" },
		{ 10240, "10 KiB", "10.2 s" },
		{ 59999, "59 KiB", "59.9 s" },
		{ 60000, "59 KiB", "1m" },
		{ 250000, "244 KiB", "4m 10s" },
		{ 1048575, "1.0 MiB", "17m 28s" },
		{ 7200000, "6.9 MiB", "2h" },
		{ 7500000, "7.2 MiB", "2h 5m" },
		{ 604800000, "577 MiB", "7d" },
		{ UINT64_MAX, "16.0 EiB", "213503982334d 14h" },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		char size[AB_AMOUNT_ROOM], time[AB_AMOUNT_ROOM];

		is_str(ab_words_size(cases[i].n, size), cases[i].size, "size");
		is_str(ab_words_time(cases[i].n, time), cases[i].time, "time");
	}
}

int main(void)
{
	check_counts();
	check_bound();
	check_text();
	check_long_names();
	check_amounts();
	return done();
}
