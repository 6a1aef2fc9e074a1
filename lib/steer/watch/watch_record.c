/*
 * Records of a run's log for the eyes: rows, hosts, totals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/details.h"
#include "audit/read/query.h"
#include "audit/read/words.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "session/ask/process_chain.h"
#include "steer/watch/watch_model.h"

enum {
	M_KIND,
	M_TIME,
	M_ID,
	M_DOMAIN,
	M_PORT,
	M_METHOD,
	M_PATH,
	M_ANSWERED,
	M_ALLOWED,
	M_UP,
	M_DOWN,
	M_ERROR,
	M_DOOR,
	M_REPEATED,
	M_COMMAND,
	M_ENTRY,
	M_BY,
	M_ANSWER,
	M_THRESHOLD,
	M_ACTION,
	M_REQUESTS_ALLOWED,
	M_REQUESTS_DENIED,
	M_REQUESTS_FAILED,
	M_COUNT,
};

static const char *const members[M_COUNT] = {
	[M_KIND] = "kind",
	[M_TIME] = "timestamp",
	[M_ID] = "id",
	[M_DOMAIN] = "domain",
	[M_PORT] = "port",
	[M_METHOD] = "method",
	[M_PATH] = "path",
	[M_ANSWERED] = "status",
	[M_ALLOWED] = "allowed",
	[M_UP] = "bytes_up",
	[M_DOWN] = "bytes_down",
	[M_ERROR] = "error",
	[M_DOOR] = "door",
	[M_REPEATED] = "repeated",
	[M_COMMAND] = "command",
	[M_ENTRY] = "entry",
	[M_BY] = "by",
	[M_ANSWER] = "answer",
	[M_THRESHOLD] = "threshold",
	[M_ACTION] = "action",
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
static void tell_time(const struct record *r, char ret[9])
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

static void add_row(struct ab_watch_model *m, const struct record *r, enum ab_watch_kind kind,
		    struct ab_buf *text, struct ab_buf *more)
{
	struct ab_watch_row *row = &m->rows[m->nrows++ % AB_WATCH_ROWS];

	free(row->text);
	free(row->more);
	*row = (struct ab_watch_row){ .kind = kind, .text = shorten(text) };
	if (more && more->len)
		row->more = shorten(more);
	tell_time(r, row->time);
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

static void add_target(struct ab_buf *b, const struct record *r)
{
	ab_autofree char *host = ab_detail_dup(&r->f[M_DOMAIN]);

	ab_words_target(b, host ? host : "?", (uint16_t)number_of(r, M_PORT));
}

static void add_amount(struct ab_buf *b, const struct record *r)
{
	char up[AB_AMOUNT_ROOM], down[AB_AMOUNT_ROOM];

	if (number_of(r, M_ANSWERED))
		ab_buf_printf(b, "%llu  ", (unsigned long long)number_of(r, M_ANSWERED));
	ab_buf_printf(b, "%s up, %s down", ab_words_size(number_of(r, M_UP), up),
		      ab_words_size(number_of(r, M_DOWN), down));
}

static void take_request(struct ab_watch_model *m, const struct record *r)
{
	bool failed = r->f[M_ERROR].kind == AB_DETAIL_TEXT;
	struct ab_buf text = { 0 };
	ab_autobuf struct ab_buf more = { 0 };

	/* Its violation has told of it. */
	if (r->f[M_ALLOWED].kind == AB_DETAIL_FALSE)
		return;
	count_host(m, r, false);
	if (r->f[M_METHOD].kind == AB_DETAIL_TEXT) {
		ab_detail_add(&r->f[M_METHOD], &text);
		ab_buf_puts(&text, " ");
	}
	add_target(&text, r);
	ab_detail_add(&r->f[M_PATH], &text);
	if (failed)
		ab_detail_add(&r->f[M_ERROR], &more);
	else
		add_amount(&more, r);
	add_row(m, r, failed ? AB_WATCH_FAILED : AB_WATCH_ALLOWED, &text, &more);
}

/* What it is about and why, and the id to ask about. */
static void take_denial(struct ab_watch_model *m, const struct record *r)
{
	struct ab_buf text = { 0 };
	ab_autobuf struct ab_buf more = { 0 };

	if (ab_detail_is(&r->f[M_DOOR], "file") || ab_detail_is(&r->f[M_DOOR], "call") ||
	    ab_detail_is(&r->f[M_KIND], "exec"))
		m->refused += 1 + number_of(r, M_REPEATED);
	else
		count_host(m, r, true);
	ab_words_denial(&text, r->line, r->len);
	ab_detail_add(&r->f[M_ID], &more);
	add_row(m, r, AB_WATCH_DENIED, &text, &more);
}

static void take_question(struct ab_watch_model *m, const struct record *r)
{
	struct ab_buf text = { 0 };

	ab_buf_puts(&text, "asked about ");
	add_target(&text, r);
	ab_buf_puts(&text, ": ");
	ab_detail_add(&r->f[M_ANSWER], &text);
	ab_buf_puts(&text, " (");
	ab_detail_add(&r->f[M_BY], &text);
	ab_buf_puts(&text, ")");
	add_row(m, r, AB_WATCH_NOTE, &text, NULL);
}

static void take_grant(struct ab_watch_model *m, const struct record *r)
{
	struct ab_buf text = { 0 };

	ab_detail_add(&r->f[M_ENTRY], &text);
	ab_buf_puts(&text, r->f[M_ALLOWED].kind == AB_DETAIL_FALSE ? ": denied in this run ("
								   : ": allowed in this run (");
	ab_detail_add(&r->f[M_BY], &text);
	ab_buf_puts(&text, ")");
	add_row(m, r, AB_WATCH_NOTE, &text, NULL);
}

static void take_reload(struct ab_watch_model *m, const struct record *r)
{
	struct ab_buf text = { 0 };

	ab_buf_puts(&text, "the settings were read again");
	if (r->f[M_ERROR].kind == AB_DETAIL_TEXT) {
		ab_buf_puts(&text, ": ");
		ab_detail_add(&r->f[M_ERROR], &text);
	}
	add_row(m, r, AB_WATCH_NOTE, &text, NULL);
}

static void take_monitor(struct ab_watch_model *m, const struct record *r)
{
	struct ab_buf text = { 0 };

	ab_buf_puts(&text, "threshold ");
	ab_detail_add(&r->f[M_THRESHOLD], &text);
	ab_buf_puts(&text, " crossed: ");
	ab_detail_add(&r->f[M_ACTION], &text);
	add_row(m, r, AB_WATCH_NOTE, &text, NULL);
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
		{ "request", take_request }, { "violation", take_denial },
		{ "exec", take_denial },     { "question", take_question },
		{ "grant", take_grant },     { "reload", take_reload },
		{ "monitor", take_monitor }, { "start", take_start },
		{ "end", take_end },
	};
	struct record r = { .line = line, .len = len, .now = now };

	if (ab_details_find(line, len, members, M_COUNT, r.f) < 0)
		return;
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (ab_detail_is(&r.f[M_KIND], kinds[i].kind))
			kinds[i].take(m, &r);
}
