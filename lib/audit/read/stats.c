#include "audit/read/stats.h"

#include <sys/random.h>

#include "audit/read/details.h"
#include "audit/read/find.h"
#include "audit/read/words.h"
#include "base/data/hash.h"

/* The hash table is at most half full. */
enum { SLOTS = 2 * AB_STATS_HOSTS, HOST_MAX = 255 };

struct ab_stats {
	struct ab_stats_totals totals;
	struct ab_stats_row rows[AB_STATS_HOSTS + 1]; /* 0: the others */
	uint32_t hashes[AB_STATS_HOSTS + 1];
	uint16_t slots[SLOTS];
	size_t len; /* rows, without the others */
	uint32_t seed;
	struct ab_stats_row *sorted;
};

/* clang-format off */
#define WANTED(X) \
	X(KIND, "kind") X(ID, "id") X(DOMAIN, "domain") X(ALLOWED, "allowed") X(DOOR, "door") \
	X(BYTES_UP, "bytes_up") X(BYTES_DOWN, "bytes_down") X(ERROR, "error") \
	X(PACKETS, "packets") X(REPEATED, "repeated")
/* clang-format on */
AB_MEMBERS(WANTED)

struct ab_stats *ab_stats_new(void)
{
	struct ab_stats *stats = ab_alloc(sizeof(*stats));

	/* Without a seed the box could choose hosts that collide, which is slow. */
	(void)!getrandom(&stats->seed, sizeof(stats->seed), GRND_NONBLOCK);
	return stats;
}

void ab_stats_free(struct ab_stats *stats)
{
	if (!stats)
		return;
	for (size_t i = 1; i <= stats->len; i++)
		free((char *)(uintptr_t)stats->rows[i].host);
	ab_free_all(stats->sorted, stats);
}

static uint32_t hash_host(const struct ab_stats *stats, const char *text, size_t len)
{
	uint64_t h = ab_hash(AB_HASH_START ^ stats->seed, text, len);

	return (uint32_t)(h * 0xff51afd7ed558ccd >> 32);
}

struct ab_stats_row *ab_stats_row(struct ab_stats *stats, const struct ab_detail *domain)
{
	char host[HOST_MAX + 1];
	size_t len = ab_detail_copy(domain, host, sizeof(host));
	uint32_t hash = hash_host(stats, host, len);
	size_t slot = hash % SLOTS, i;

	if (len == 0)
		return &stats->rows[0];
	for (; (i = stats->slots[slot]) != 0; slot = (slot + 1) % SLOTS)
		if (stats->hashes[i] == hash && strcmp(stats->rows[i].host, host) == 0)
			return &stats->rows[i];
	if (stats->len == AB_STATS_HOSTS)
		return &stats->rows[0];
	i = ++stats->len;
	stats->slots[slot] = (uint16_t)i;
	stats->hashes[i] = hash;
	stats->rows[i].host = ab_strndup(host, len);
	return &stats->rows[i];
}

static void add_bytes(struct ab_stats_row *row, const struct ab_detail m[])
{
	row->up += ab_detail_count(&m[M_BYTES_UP]);
	row->down += ab_detail_count(&m[M_BYTES_DOWN]);
}

static void add_request(struct ab_stats *stats, const struct ab_detail m[])
{
	struct ab_stats_row *row = ab_stats_row(stats, &m[M_DOMAIN]);

	add_bytes(row, m);
	if (m[M_ALLOWED].kind != AB_DETAIL_TRUE)
		return;
	row->requests++;
	row->failed += m[M_ERROR].kind == AB_DETAIL_TEXT;
}

static void add_violation(struct ab_stats *stats, const struct ab_detail m[])
{
	uint64_t n = ab_denial_times(&m[M_ID], &m[M_DOOR], &m[M_REPEATED]);

	if (m[M_PACKETS].kind == AB_DETAIL_NUMBER)
		stats->totals.packets += ab_detail_count(&m[M_PACKETS]);
	else if (ab_detail_is(&m[M_DOOR], "file") || ab_detail_is(&m[M_DOOR], "call") ||
		 ab_detail_is(&m[M_DOOR], "quarantine"))
		stats->totals.files += n;
	else if (ab_detail_is(&m[M_DOOR], "container"))
		stats->totals.containers += n;
	else if (ab_detail_is(&m[M_DOOR], "tool"))
		stats->totals.tools += n;
	else
		ab_stats_row(stats, &m[M_DOMAIN])->denied += n;
}

bool ab_stats_add(struct ab_stats *stats, const char *line, size_t len)
{
	struct ab_detail m[M_COUNT];

	if (ab_details_find(line, len, members, M_COUNT, m) < 0)
		return false;
	stats->totals.lines++;
	if (ab_detail_is(&m[M_KIND], "request"))
		add_request(stats, m);
	else if (ab_detail_is(&m[M_KIND], "violation"))
		add_violation(stats, m);
	else if (ab_detail_is(&m[M_KIND], "exec"))
		stats->totals.programs += ab_denial_times(&m[M_ID], &m[M_DOOR], &m[M_REPEATED]);
	return true;
}

/* The row of the others is always the last. */
static int by_requests(const void *a, const void *b)
{
	const struct ab_stats_row *x = a, *y = b;

	if (!x->host || !y->host)
		return (x->host == NULL) - (y->host == NULL);
	if (x->requests != y->requests)
		return x->requests < y->requests ? 1 : -1;
	if (x->denied != y->denied)
		return x->denied < y->denied ? 1 : -1;
	return strcmp(x->host, y->host);
}

static bool is_empty(const struct ab_stats_row *row)
{
	return !row->requests && !row->denied && !row->up && !row->down;
}

const struct ab_stats_row *ab_stats_rows(struct ab_stats *stats, size_t *ret_n)
{
	bool others = !is_empty(&stats->rows[0]);
	size_t n = stats->len + others;

	free(stats->sorted);
	stats->sorted = ab_alloc((n + 1) * sizeof(stats->sorted[0]));
	memcpy(stats->sorted, stats->rows + !others, n * sizeof(stats->rows[0]));
	qsort(stats->sorted, n, sizeof(stats->sorted[0]), by_requests);
	*ret_n = n;
	return stats->sorted;
}

void ab_stats_totals(const struct ab_stats *stats, struct ab_stats_totals *ret)
{
	*ret = stats->totals;
	ret->denied = ret->programs + ret->files + ret->containers + ret->tools;
	for (size_t i = 0; i <= stats->len; i++) {
		const struct ab_stats_row *row = &stats->rows[i];

		ret->requests += row->requests;
		ret->failed += row->failed;
		ret->denied += row->denied;
		ret->up += row->up;
		ret->down += row->down;
	}
	ret->hosts = stats->len;
	ret->others = stats->rows[0].requests + stats->rows[0].denied;
}

enum {
	HOST_WIDTH = 44, /* of the widest column; longer names are cut */
	BAR_MAX = 40,
	NUMBERS = 44, /* the columns of numbers */
};

static char *show_host(const struct ab_stats_row *row)
{
	ab_autofree char *safe = row->host ? ab_escape(row->host) : NULL;

	if (!safe)
		return ab_strdup("(others)");
	if (ab_utf8_count(safe) <= HOST_WIDTH)
		return ab_take(safe);
	/* The end of a name says more than its beginning. */
	return ab_printf("...%s", ab_utf8_tail(safe, HOST_WIDTH - 3));
}

/* "-" if there is nothing. */
static const char *show_size(uint64_t bytes, char buf[AB_AMOUNT_ROOM])
{
	return bytes ? ab_words_size(bytes, buf) : "-";
}

static void add_numbers(struct ab_buf *b, const struct ab_stats_row *row)
{
	char up[AB_AMOUNT_ROOM], down[AB_AMOUNT_ROOM];

	ab_buf_printf(b, " %9llu %10s %10s %8llu", (unsigned long long)row->requests,
		      show_size(row->up, up), show_size(row->down, down),
		      (unsigned long long)row->denied);
}

static void add_row(struct ab_buf *b, const struct ab_stats_row *row, size_t width, size_t bar,
		    uint64_t most)
{
	ab_autofree char *host = show_host(row);
	size_t n = most ? (size_t)((__uint128_t)row->requests * bar / most) : 0;

	ab_buf_printf(b, "%s%*s", host, (int)(width - ab_utf8_count(host)), "");
	add_numbers(b, row);
	/* Even one request has a bar. */
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
	add_sentence(b, t->programs, "program was denied", "programs were denied");
	add_sentence(b, t->files, "file or call was denied", "files or calls were denied");
	add_sentence(b, t->containers, "request to the container engine was denied",
		     "requests to the container engine were denied");
	add_sentence(b, t->tools, "call of a host tool was denied",
		     "calls of host tools were denied");
	add_sentence(b, t->packets, "non-TCP packet was denied", "non-TCP packets were denied");
	add_sentence(b, t->failed, "request failed", "requests failed");
	if (t->hosts == AB_STATS_HOSTS && t->others)
		ab_buf_printf(b, "(others) are all hosts after the first %d\n", AB_STATS_HOSTS);
}

void ab_stats_text(struct ab_stats *stats, size_t width, struct ab_buf *b)
{
	size_t n, column = strlen("HOST"), bar = 0;
	const struct ab_stats_row *rows = ab_stats_rows(stats, &n);
	struct ab_stats_totals t;
	uint64_t most = 0;

	ab_stats_totals(stats, &t);
	for (size_t i = 0; i < n; i++) {
		ab_autofree char *host = show_host(&rows[i]);

		column = ab_utf8_count(host) > column ? ab_utf8_count(host) : column;
		most = rows[i].requests > most ? rows[i].requests : most;
	}
	if (width > column + NUMBERS)
		bar = width - column - NUMBERS;
	bar = bar > BAR_MAX ? BAR_MAX : bar;
	if (n) {
		ab_buf_printf(b, "%-*s %9s %10s %10s %8s\n", (int)column, "HOST", "REQUESTS", "UP",
			      "DOWN", "DENIED");
		for (size_t i = 0; i < n; i++)
			add_row(b, &rows[i], column, bar, most);
	} else {
		ab_buf_puts(b, "no request to any host\n");
	}
	if (n > 1) {
		struct ab_stats_row all = { .requests = t.requests,
					    .denied = t.denied - t.programs - t.files -
						      t.containers - t.tools,
					    .up = t.up,
					    .down = t.down };

		ab_buf_printf(b, "%-*s", (int)column, "");
		add_numbers(b, &all);
		ab_buf_puts(b, "\n");
	}
	add_rest(b, &t);
}

void ab_stats_json(struct ab_stats *stats, uint64_t lost, struct ab_buf *b)
{
	size_t n;
	const struct ab_stats_row *rows = ab_stats_rows(stats, &n);
	struct ab_stats_totals t;

	ab_stats_totals(stats, &t);
	ab_buf_jsonf(b,
		     "{'records':%ju,'lost':%ju,'requests':%ju,'failed':%ju,'denied':%ju,"
		     "'programs_denied':%ju,'files_denied':%ju,'containers_denied':%ju,"
		     "'tools_denied':%ju,'packets_denied':%ju,'bytes_up':%ju,'bytes_down':%ju,"
		     "'hosts':[",
		     t.lines, lost, t.requests, t.failed, t.denied, t.programs, t.files,
		     t.containers, t.tools, t.packets, t.up, t.down);
	for (size_t i = 0; i < n; i++)
		ab_buf_jsonf(b,
			     ",{'host':%s,'requests':%ju,'failed':%ju,'denied':%ju,'bytes_up':%ju,"
			     "'bytes_down':%ju}",
			     rows[i].host, rows[i].requests, rows[i].failed, rows[i].denied,
			     rows[i].up, rows[i].down);
	ab_buf_puts(b, "]}");
}
