#include "steer/watch/watch_model.h"

#include "audit/read/details.h"
#include "audit/read/query.h"
#include "audit/read/sentences.h"
#include "audit/read/stats.h"
#include "audit/read/words.h"
#include "consent/ask/process_chain.h"
#include "steer/client/json.h"
#include "terminal/key_reader.h"

enum {
	/* Ignore answers to a question that was selected only now: the key was
	 * meant for another one. */
	READ_MS = 750,
	MESSAGE_MS = 6000,
};

static char *name_target(const json_t *object)
{
	struct ab_buf b = { 0 };

	if (*ab_json_text(object, "about"))
		return ab_escape(ab_json_text(object, "about"));
	ab_words_target(&b, ab_json_text(object, "domain"),
			(uint16_t)ab_json_count(object, "port"));
	return ab_buf_take(&b);
}

static void replace_text(char **text, char *with)
{
	free(*text);
	*text = with;
}

struct ab_watch_model *ab_watch_model_new(const char *id, uint64_t now)
{
	struct ab_watch_model *m = ab_alloc(sizeof(*m));

	snprintf(m->id, sizeof(m->id), "%s", id);
	m->hosts = ab_stats_new();
	m->started = now;
	m->status = -1;
	return m;
}

static void free_question(struct ab_watch_question *q)
{
	ab_free_all(q->id, q->target, q->asker, q);
}

static void drop_open(struct ab_watch_model *m)
{
	for (size_t i = 0; i < m->nopen; i++)
		ab_free_all(m->open[i].target, m->open[i].host);
	m->nopen = 0;
}

void ab_watch_model_free(struct ab_watch_model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < AB_WATCH_ROWS; i++)
		ab_free_all(m->rows[i].text, m->rows[i].more);
	ab_stats_free(m->hosts);
	for (size_t i = 0; i < m->nquestions; i++)
		free_question(m->questions[i]);
	drop_open(m);
	ab_free_all(m->name, m->profile, m->command, m->selected, m->message, m);
}

void ab_watch_say(struct ab_watch_model *m, char *text, uint64_t now)
{
	replace_text(&m->message, text);
	m->message_ends = now + MESSAGE_MS;
}

/* --- questions --- */

static size_t find_question(const struct ab_watch_model *m, const char *id)
{
	size_t i = 0;

	while (i < m->nquestions && strcmp(m->questions[i]->id, id) != 0)
		i++;
	return i;
}

long ab_watch_selected(const struct ab_watch_model *m)
{
	size_t i = m->selected ? find_question(m, m->selected) : m->nquestions;

	return i < m->nquestions ? (long)i : -1;
}

static void select_at(struct ab_watch_model *m, size_t i)
{
	replace_text(&m->selected, i < m->nquestions ? ab_strdup(m->questions[i]->id) : NULL);
}

static void add_question(struct ab_watch_model *m, const json_t *packet, uint64_t now)
{
	const char *id = ab_json_text(packet, "id"), *host = ab_json_text(packet, "domain");
	size_t i = find_question(m, id);
	struct ab_watch_question *q;

	if (i == m->nquestions) {
		if (m->nquestions == AB_WATCH_QUESTIONS) {
			m->lost_questions++;
			return;
		}
		q = ab_alloc(sizeof(*q));
		q->id = ab_strdup(id);
		m->questions[m->nquestions++] = q;
	}
	q = m->questions[i];
	replace_text(&q->target, name_target(packet));
	replace_text(&q->asker, ab_process_chain_name(json_object_get(packet, "process")));
	q->doubtful = false;
	q->held = ab_json_is(packet, "why", "held");
	q->punycode = strncmp(host, "xn--", 4) == 0 || strstr(host, ".xn--");
	q->ends = now + ab_json_count(packet, "left_ms");
	if (!m->selected) {
		select_at(m, i);
		m->readable = now + READ_MS;
	}
}

static void remove_question(struct ab_watch_model *m, const char *id, uint64_t now)
{
	size_t i = find_question(m, id);
	bool chosen = ab_watch_selected(m) == (long)i;

	if (i == m->nquestions)
		return;
	free_question(m->questions[i]);
	memmove(m->questions + i, m->questions + i + 1,
		(m->nquestions - i - 1) * sizeof(m->questions[0]));
	m->nquestions--;
	if (!chosen)
		return;
	select_at(m, i < m->nquestions || i == 0 ? i : i - 1);
	m->readable = now + READ_MS;
}

void ab_watch_event(struct ab_watch_model *m, const json_t *packet, uint64_t now)
{
	if (ab_json_is(packet, "event", "asked")) {
		add_question(m, packet, now);
	} else if (ab_json_is(packet, "event", "settled")) {
		remove_question(m, ab_json_text(packet, "id"), now);
	} else if (ab_json_is(packet, "event", "said")) {
		ab_watch_say(m, ab_strdup(ab_json_text(packet, "text")), now);
	} else if (ab_json_is(packet, "event", "missed")) {
		for (size_t i = 0; i < m->nquestions; i++)
			m->questions[i]->doubtful = true;
		m->missed = true;
	} else if (ab_json_is(packet, "event", "end")) {
		m->status = (int)ab_json_count(packet, "status");
		ab_watch_gone(m, now);
	}
}

void ab_watch_pending(struct ab_watch_model *m, const json_t *answer, uint64_t now)
{
	const json_t *question;
	size_t i;

	json_array_foreach(json_object_get(answer, "pending"), i, question)
		add_question(m, question, now);
	/* After the last page: remove questions that are no longer open. */
	for (i = json_integer_value(json_object_get(answer, "next")) > 0 ? 0 : m->nquestions;
	     i-- > 0;)
		if (m->questions[i]->doubtful)
			remove_question(m, m->questions[i]->id, now);
}

void ab_watch_gone(struct ab_watch_model *m, uint64_t now)
{
	if (!m->ended)
		m->ended_at = now;
	m->ended = true;
	while (m->nquestions)
		remove_question(m, m->questions[0]->id, now);
	drop_open(m);
}

/* --- status --- */

static void take_open(struct ab_watch_model *m, const json_t *open)
{
	const json_t *one;
	size_t i;

	drop_open(m);
	json_array_foreach(open, i, one)
	{
		if (m->nopen == AB_WATCH_OPEN)
			return;
		m->open[m->nopen++] = (struct ab_watch_open){
			.target = name_target(one),
			.host = ab_strdup(ab_json_text(one, "domain")),
			.up = ab_json_count(one, "bytes_up"),
			.down = ab_json_count(one, "bytes_down"),
			.ms = ab_json_count(one, "ms"),
		};
	}
}

void ab_watch_status(struct ab_watch_model *m, const json_t *answer, uint64_t now)
{
	const json_t *net = json_object_get(answer, "network");
	uint64_t age = ab_json_count(answer, "age_ms");
	const json_t *argv = json_object_get(answer, "command");
	struct ab_buf command = { 0 };

	m->started = now > age ? now - age : 0;
	ab_process_chain_command(&command, argv, AB_WATCH_TEXT);
	if (json_is_array(argv))
		replace_text(&m->command, ab_buf_take(&command));
	if (*ab_json_text(answer, "name"))
		replace_text(&m->name, ab_strdup(ab_json_text(answer, "name")));
	if (*ab_json_text(answer, "profile"))
		replace_text(&m->profile, ab_strdup(ab_json_text(answer, "profile")));
	if (!json_is_object(net))
		return;
	m->allowed = ab_json_count(net, "allowed");
	m->denied = ab_json_count(net, "denied");
	m->failed = ab_json_count(net, "failed");
	m->up = ab_json_count(net, "bytes_up");
	m->down = ab_json_count(net, "bytes_down");
	take_open(m, json_object_get(net, "open"));
}

/* --- keys --- */

static void move_selection(struct ab_watch_model *m, int by, uint64_t now)
{
	long before = ab_watch_selected(m), last = (long)m->nquestions - 1;
	long at = before < 0 ? 0 : before + by;

	if (last < 0)
		return;
	at = at < 0 ? 0 : at > last ? last : at;
	if (at == before)
		return;
	select_at(m, (size_t)at);
	/* The box decides which questions come and go, so the selected one may
	 * not even have been on the screen. */
	m->readable = now + READ_MS;
}

static enum ab_watch_do choose_answer(const struct ab_watch_model *m, int key, uint64_t now,
				      const char **ret)
{
	/* Each by its first letter. */
	static const char *const answers[] = { "once", "run", "always", "no" };

	if (ab_watch_selected(m) < 0 || now < m->readable)
		return AB_WATCH_NOTHING;
	for (size_t i = 0; i < AB_COUNT(answers); i++)
		if (answers[i][0] == key) {
			*ret = answers[i];
			return AB_WATCH_ANSWER;
		}
	return AB_WATCH_NOTHING;
}

enum ab_watch_do ab_watch_key(struct ab_watch_model *m, int key, uint64_t now,
			      const char **ret_answer)
{
	/* Any key closes the help, and does nothing else. */
	if (m->help && key != 'q' && key != 3 && key != 26) {
		m->help = false;
		return AB_WATCH_NOTHING;
	}
	switch (key) {
	case 'q':
	case 3: /* Ctrl-C */
		return AB_WATCH_QUIT;
	case 26: /* Ctrl-Z */
		return AB_WATCH_STOP;
	case 'k':
	case AB_KEY_UP:
		move_selection(m, -1, now);
		break;
	case 'j':
	case AB_KEY_DOWN:
		move_selection(m, 1, now);
		break;
	case 'd':
		m->denied_only = !m->denied_only;
		break;
	case 'p':
		m->paused = !m->paused;
		m->paused_at = m->nrows;
		break;
	case '?':
	case 'h':
		m->help = true;
		break;
	default:
		return choose_answer(m, key, now, ret_answer);
	}
	return AB_WATCH_NOTHING;
}

/*
 * From the records of a run's log: rows, hosts, totals.
 */

/* clang-format off */
#define WANTED(X) \
	X(KIND, "kind") X(TIME, "timestamp") X(DOMAIN, "domain") X(ANSWERED, "status") \
	X(ALLOWED, "allowed") X(UP, "bytes_up") X(DOWN, "bytes_down") X(DOOR, "door") \
	X(REPEATED, "repeated") X(COMMAND, "command") X(NAME, "name") \
	X(REQUESTS_ALLOWED, "requests_allowed") X(REQUESTS_DENIED, "requests_denied") \
	X(REQUESTS_FAILED, "requests_failed")
/* clang-format on */
AB_MEMBERS(WANTED)

struct record {
	const char *line;
	size_t len;
	uint64_t now;
	struct ab_detail f[M_COUNT];
};

/* The local time of day. */
static void read_time(const struct record *r, char ret[9])
{
	char stamp[AB_STAMP_ROOM], local[AB_LOCAL_ROOM];

	ab_detail_copy(&r->f[M_TIME], stamp, sizeof(stamp));
	ab_time_local(stamp, local);
	snprintf(ret, 9, "%.8s", ab_time_ms(stamp) < 0 ? "--:--:--" : local + 11);
}

static char *cut_text(struct ab_buf *b)
{
	if (b->len > AB_WATCH_TEXT)
		b->data[AB_WATCH_TEXT] = '\0';
	return ab_buf_take(b);
}

/* --- hosts --- */

static void count_host(struct ab_watch_model *m, const struct record *r, bool denied)
{
	const struct ab_detail *name = &r->f[M_DOMAIN];
	uint64_t times = 1 + ab_detail_count(&r->f[M_REPEATED]);
	struct ab_stats_row *host;

	if (name->kind != AB_DETAIL_TEXT || !name->len)
		return;
	host = ab_stats_row(m->hosts, name);
	if (denied)
		host->denied += times;
	else
		host->requests += times;
	host->up += ab_detail_count(&r->f[M_UP]);
	host->down += ab_detail_count(&r->f[M_DOWN]);
}

/* --- kinds of records --- */

/* What happened, and the details that a narrow screen leaves out. */
static void add_row(struct ab_watch_model *m, const struct record *r)
{
	struct ab_watch_row *row = &m->rows[m->nrows++ % AB_WATCH_ROWS];
	struct ab_buf text = { 0 }, more = { 0 };

	ab_free_all(row->text, row->more);
	row->mark = ab_sentence(&text, AB_ABOUT | AB_SAID, r->line, r->len);
	ab_sentence(&more, AB_MORE, r->line, r->len);
	row->text = cut_text(&text);
	row->more = cut_text(&more);
	row->denied =
		ab_detail_is(&r->f[M_KIND], "violation") || ab_detail_is(&r->f[M_KIND], "exec");
	read_time(r, row->time);
}

static void take_request(struct ab_watch_model *m, const struct record *r)
{
	/* The violation stands for a denied request. */
	if (r->f[M_ALLOWED].kind == AB_DETAIL_FALSE)
		return;
	count_host(m, r, false);
	add_row(m, r);
}

static void take_denial(struct ab_watch_model *m, const struct record *r)
{
	if (ab_detail_is(&r->f[M_DOOR], "file") || ab_detail_is(&r->f[M_DOOR], "call") ||
	    ab_detail_is(&r->f[M_DOOR], "container") || ab_detail_is(&r->f[M_DOOR], "tool") ||
	    ab_detail_is(&r->f[M_KIND], "exec"))
		m->refused += 1 + ab_detail_count(&r->f[M_REPEATED]);
	else
		count_host(m, r, true);
	add_row(m, r);
}

static void take_start(struct ab_watch_model *m, const struct record *r)
{
	struct ab_buf command = { 0 };
	json_auto_t *argv = NULL;

	if (m->command)
		return;
	if (r->f[M_NAME].kind == AB_DETAIL_TEXT && r->f[M_NAME].len)
		replace_text(&m->name, ab_detail_dup(&r->f[M_NAME]));
	argv = json_loadb(r->f[M_COMMAND].at, r->f[M_COMMAND].len, 0, NULL);
	ab_process_chain_command(&command, argv, AB_WATCH_TEXT);
	if (json_is_array(argv))
		m->command = ab_buf_take(&command);
}

static void take_end_record(struct ab_watch_model *m, const struct record *r)
{
	if (r->f[M_ANSWERED].kind == AB_DETAIL_NUMBER)
		m->status = (int)ab_detail_count(&r->f[M_ANSWERED]);
	if (r->f[M_REQUESTS_ALLOWED].kind == AB_DETAIL_NUMBER) {
		m->allowed = ab_detail_count(&r->f[M_REQUESTS_ALLOWED]);
		m->denied = ab_detail_count(&r->f[M_REQUESTS_DENIED]);
		m->failed = ab_detail_count(&r->f[M_REQUESTS_FAILED]);
		m->up = ab_detail_count(&r->f[M_UP]);
		m->down = ab_detail_count(&r->f[M_DOWN]);
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
		{ "exec", take_denial },     { "question", add_row },
		{ "grant", add_row },	     { "reload", add_row },
		{ "monitor", add_row },	     { "start", take_start },
		{ "end", take_end_record },
	};
	struct record r = { .line = line, .len = len, .now = now };

	if (ab_details_find(line, len, members, M_COUNT, r.f) < 0)
		return;
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (ab_detail_is(&r.f[M_KIND], kinds[i].kind))
			kinds[i].take(m, &r);
}
