/*
 * From the records of a run's log: rows, hosts, totals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/details.h"
#include "audit/read/query.h"
#include "audit/read/sentences.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "session/ask/process_chain.h"
#include "steer/watch/watch_model.h"

enum {
	M_KIND,
	M_TIME,
	M_DOMAIN,
	M_ANSWERED,
	M_ALLOWED,
	M_UP,
	M_DOWN,
	M_DOOR,
	M_REPEATED,
	M_COMMAND,
	M_REQUESTS_ALLOWED,
	M_REQUESTS_DENIED,
	M_REQUESTS_FAILED,
	M_COUNT,
};

static const char *const members[M_COUNT] = {
	[M_KIND] = "kind",
	[M_TIME] = "timestamp",
	[M_DOMAIN] = "domain",
	[M_ANSWERED] = "status",
	[M_ALLOWED] = "allowed",
	[M_UP] = "bytes_up",
	[M_DOWN] = "bytes_down",
	[M_DOOR] = "door",
	[M_REPEATED] = "repeated",
	[M_COMMAND] = "command",
	[M_REQUESTS_ALLOWED] = "requests_allowed",
	[M_REQUESTS_DENIED] = "requests_denied",
	[M_REQUESTS_FAILED] = "requests_failed",
};

struct record {
	const char *line;
	size_t len;
	uint64_t now;
	struct ab_detail f[M_COUNT];
};

static uint64_t number_of(const struct record *r, int member)
{
	int64_t n = ab_detail_number(&r->f[member], 0);

	return n > 0 ? (uint64_t)n : 0;
}

/* The time of day where we are. */
static void read_time(const struct record *r, char ret[9])
{
	char stamp[AB_STAMP_ROOM], local[AB_LOCAL_ROOM];

	ab_detail_copy(&r->f[M_TIME], stamp, sizeof(stamp));
	ab_time_local(stamp, local);
	snprintf(ret, 9, "%.8s", ab_time_ms(stamp) < 0 ? "--:--:--" : local + 11);
}

static char *shorten(struct ab_buf *b)
{
	if (b->len > AB_WATCH_TEXT)
		b->data[AB_WATCH_TEXT] = '\0';
	return ab_buf_take(b);
}

static bool is_denial(const struct record *r)
{
	return ab_detail_is(&r->f[M_KIND], "violation") || ab_detail_is(&r->f[M_KIND], "exec");
}

/* --- hosts --- */

static struct ab_watch_host *find_host(struct ab_watch_model *m, const char *name)
{
	size_t room = AB_COUNT(m->buckets);
	uint32_t hash = 2166136261u;
	size_t at;

	for (const char *s = name; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619u;
	for (at = hash % room; m->buckets[at]; at = (at + 1) % room) {
		struct ab_watch_host *h = &m->hosts[m->buckets[at] - 1];

		if (strcmp(h->name, name) == 0)
			return h;
	}
	if (m->nhosts == AB_WATCH_HOSTS)
		return NULL;
	m->hosts[m->nhosts].name = ab_strdup(name);
	m->buckets[at] = (uint16_t)++m->nhosts;
	return &m->hosts[m->nhosts - 1];
}

static void count_host(struct ab_watch_model *m, const struct record *r, bool denied)
{
	ab_autofree char *name = ab_detail_dup(&r->f[M_DOMAIN]);
	struct ab_watch_host *host;
	uint64_t times = 1 + number_of(r, M_REPEATED);

	if (!name || !*name)
		return;
	host = find_host(m, name);
	if (!host) {
		m->lost_hosts += times;
		return;
	}
	if (denied)
		host->denied += times;
	else
		host->requests += times;
	host->up += number_of(r, M_UP);
	host->down += number_of(r, M_DOWN);
}

/* --- kinds of records --- */

/* What happened, and the details that a narrow screen leaves out. */
static void add_event(struct ab_watch_model *m, const struct record *r)
{
	struct ab_watch_row *row = &m->rows[m->nrows++ % AB_WATCH_ROWS];
	struct ab_buf text = { 0 }, more = { 0 };

	free(row->text);
	free(row->more);
	row->mark = ab_sentence(&text, AB_ABOUT | AB_SAID, r->line, r->len);
	ab_sentence(&more, AB_MORE, r->line, r->len);
	row->text = shorten(&text);
	row->more = shorten(&more);
	row->denied = is_denial(r);
	read_time(r, row->time);
}

static void take_request(struct ab_watch_model *m, const struct record *r)
{
	/* The violation has told of a request that was denied. */
	if (r->f[M_ALLOWED].kind == AB_DETAIL_FALSE)
		return;
	count_host(m, r, false);
	add_event(m, r);
}

static void take_denial(struct ab_watch_model *m, const struct record *r)
{
	if (ab_detail_is(&r->f[M_DOOR], "file") || ab_detail_is(&r->f[M_DOOR], "call") ||
	    ab_detail_is(&r->f[M_KIND], "exec"))
		m->refused += 1 + number_of(r, M_REPEATED);
	else
		count_host(m, r, true);
	add_event(m, r);
}

static void take_start(struct ab_watch_model *m, const struct record *r)
{
	struct ab_buf command = { 0 };
	json_t *argv;

	if (m->command)
		return;
	argv = json_loadb(r->f[M_COMMAND].at, r->f[M_COMMAND].len, 0, NULL);
	ab_run_process_chain_command(&command, argv, AB_WATCH_TEXT);
	if (json_is_array(argv))
		m->command = ab_buf_take(&command);
	json_decref(argv);
}

static void take_end(struct ab_watch_model *m, const struct record *r)
{
	if (r->f[M_ANSWERED].kind == AB_DETAIL_NUMBER)
		m->status = (int)number_of(r, M_ANSWERED);
	if (r->f[M_REQUESTS_ALLOWED].kind == AB_DETAIL_NUMBER) {
		m->allowed = number_of(r, M_REQUESTS_ALLOWED);
		m->denied = number_of(r, M_REQUESTS_DENIED);
		m->failed = number_of(r, M_REQUESTS_FAILED);
		m->up = number_of(r, M_UP);
		m->down = number_of(r, M_DOWN);
	}
	ab_watch_gone(m, r->now);
}

void ab_watch_record(struct ab_watch_model *m, const char *line, size_t len, uint64_t now)
{
	static const struct {
		const char *kind;
		void (*take)(struct ab_watch_model *m, const struct record *r);
	} kinds[] = {
		{ "request", take_request }, { "violation", take_denial }, { "exec", take_denial },
		{ "question", add_event },   { "grant", add_event },	   { "reload", add_event },
		{ "monitor", add_event },    { "start", take_start },	   { "end", take_end },
	};
	struct record r = { .line = line, .len = len, .now = now };

	if (ab_details_find(line, len, members, M_COUNT, r.f) < 0)
		return;
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (ab_detail_is(&r.f[M_KIND], kinds[i].kind))
			kinds[i].take(m, &r);
}
