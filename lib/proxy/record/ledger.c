/*
 * Theory of operation.
 *
 * A denial is identified by host, port, basis, fault and the words of its reason,
 * without the answer to a question about it. It gets a number when first seen: number
 * n is element n-1 of the table. A box can ask for any number of hosts, so the table
 * remembers only the first REMEMBERED; any other denial gets a new number
 * each time. A question has the number of the denial that it may become, and keeps
 * it if a rule decides instead of an answer.
 *
 * Equal denials are written one by one, up to LINES a minute. Further ones are
 * counted, and the next line that is written has their number ("repeated"), so the
 * sum of all lines is exact. In the same minute these are lines for LINES, twice as
 * many, and so on: the thresholds of denials count lines, so none is later than at
 * twice its number.
 *
 * A denial costs the box nothing, and new log files replace old ones. To keep a box
 * from pushing out old records, all denials together get ALL_LINES a minute, not
 * counting the first of each remembered denial; denials that are not remembered
 * count as equal.
 */
#include "proxy/record/ledger.h"

#include <inttypes.h>

#include "audit/read/summary.h"
#include "audit/read/words.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "policy/model/config.h"
#include "policy/toolchains/host_groups.h"
#include "proxy/filter/budgets.h"
#include "proxy/filter/tree.h"

enum { LINES = 100, ALL_LINES = 2000 };

enum { REMEMBERED = 4096 };

struct denial {
	char *identity;
	char *host, *reason, *hint;
	char *entry; /* of the deny list, or NULL */
	char *from;  /* where it was set, or NULL */
	char *who;   /* the nearest process, or NULL */
	const char *rule;
	enum ab_basis basis;
	enum ab_fault fault;
	enum ab_reply reply;
	bool sought;	   /* its process was asked for */
	enum ab_door door; /* AB_DOOR_COUNT: packets */
	uint16_t port;
	uint32_t number;
	uint64_t count; /* in total; 0: it was only asked about */
	uint64_t held;	/* of these, not written yet */
	uint64_t minute;
	unsigned int lines; /* written in it */
};

struct ab_ledger {
	char run_id[8];
	struct ab_log *log;
	struct ab_buf line; /* reused for each record */
	struct denial **v;
	size_t len;
	void *by_identity;
	struct denial others; /* all denials that are not remembered */
	uint64_t datagrams;   /* held ones among them */
	uint64_t minute;
	unsigned int lines;    /* written in it, of all denials */
	uint32_t last;	       /* number */
	uint32_t unremembered; /* number of denials that are not remembered */
	struct ab_ledger_totals totals;
};

struct ab_ledger *ab_ledger_new(const char *run_id, struct ab_log *log)
{
	struct ab_ledger *ledger = ab_alloc(sizeof(*ledger));

	snprintf(ledger->run_id, sizeof(ledger->run_id), "%s", run_id);
	ledger->log = log;
	return ledger;
}

/* All but its process. */
static void free_texts(struct denial *d)
{
	ab_free_all(d->identity, d->host, d->reason, d->hint, d->entry, d->from);
}

void ab_ledger_free(struct ab_ledger *ledger)
{
	if (!ledger)
		return;
	for (size_t i = 0; i < ledger->len; i++) {
		ab_tree_remove(&ledger->by_identity, ledger->v[i]);
		free_texts(ledger->v[i]);
		ab_free_all(ledger->v[i]->who, ledger->v[i]);
	}
	free(ledger->v);
	ab_buf_fini(&ledger->line);
	free(ledger);
}

void ab_ledger_id(const struct ab_ledger *ledger, uint32_t number, char ret[AB_DENIAL_ID])
{
	snprintf(ret, AB_DENIAL_ID, "%s-%" PRIu32, ledger->run_id, number);
}

/* A line to be written. */
struct line {
	const char *kind;
	const struct ab_request_record *r;
	uint32_t number; /* of the denial; 0: allowed */
	const char *rule;
	const char *reason, *hint; /* or NULL */
	const char *process;	   /* JSON, or NULL */
	const char *protocol;	   /* of packets, or NULL */
	uint64_t packets;
	uint64_t repeated;
};

static int write_entry(struct ab_ledger *ledger, const struct line *e, struct ab_error *err)
{
	const struct ab_request_record *r = e->r;
	struct ab_buf *line = &ledger->line;
	char id[AB_DENIAL_ID] = "";

	if (e->number)
		ab_ledger_id(ledger, e->number, id);
	ab_record_open(line, ledger->run_id, e->kind);
	ab_buf_jsonf(line, ",'id':%s,'domain':%s", ab_text_or_null(id), ab_text_or_null(r->host));
	ab_buf_json_number(line, "port", r->port, r->port);
	ab_buf_jsonf(line, ",'path':%s,'method':%s", ab_text_or_null(r->path),
		     ab_text_or_null(r->method));
	ab_buf_json_number(line, "status", r->status, r->status);
	ab_buf_jsonf(line,
		     ",'allowed':%hhd,'rule':%s,'whitelist_matched':%s,'door':%s,'sni':%s,"
		     "'address':%s,'bytes_up':%ju,'bytes_down':%ju,'ms':%ju?,'upstream':%-s"
		     "?,'tls':%-s?,'intercepted':%-s?,'secret':%s?,'from':%s?,'error':%s"
		     "?,'asked':%s",
		     (bool)!e->number, ab_text_or_null(e->rule),
		     r->verdict.basis == AB_BASIS_ALLOW ? ab_text_or_null(r->verdict.entry) : NULL,
		     r->door < AB_DOOR_COUNT ? ab_door_names[r->door] : NULL,
		     ab_text_or_null(r->sni), ab_text_or_null(r->address), r->bytes_up,
		     r->bytes_down, r->ms, r->upstream ? "true" : NULL, r->tls ? "true" : NULL,
		     r->intercepted ? "true" : NULL, ab_text_or_null(r->secret),
		     e->number && r->verdict.basis == AB_BASIS_DENY ? r->verdict.from : NULL,
		     ab_text_or_null(r->error), ab_text_or_null(r->line));
	if (r->agent)
		ab_buf_jsonf(line, ",'key':%s,'user':%s,'namespace':%s,'route':%s",
			     ab_text_or_null(r->agent->key), ab_text_or_null(r->agent->user),
			     ab_text_or_null(r->agent->name_space),
			     ab_text_or_null(r->agent->route));
	ab_buf_jsonf(line, "?,'process':%-s", e->process);
	if (e->protocol)
		ab_buf_jsonf(line, ",'protocol':%s,'packets':%ju", e->protocol, e->packets);
	ab_buf_jsonf(line, "?,'reason':%s?,'hint':%s", ab_text_or_null(e->reason),
		     ab_text_or_null(e->hint));
	if (e->repeated)
		ab_buf_jsonf(line, ",'repeated':%ju", e->repeated);
	return ab_log_write(ledger->log, line, err);
}

/* What tells it from other denials: no answer to a question. A host has no line end. */
static char *make_identity(const struct ab_request_record *r)
{
	struct ab_request_record bare = *r;
	char cause[AB_REASON_ROOM];

	bare.reply = AB_REPLY_NONE;
	return ab_printf("%u %d %d %d %s\n%s", r->port, r->verdict.basis, r->fault,
			 r->door == AB_DOOR_COUNT, r->host ? r->host : "",
			 ab_ledger_reason(&bare, cause));
}

/* The command that would allow it, "agentbox run --allow x.y -- ...", or "". */
static char *make_hint(const struct ab_request_record *r)
{
	char flags[AB_REASON_ROOM];

	ab_ledger_hint(r, flags);
	return *flags ? ab_printf("agentbox run %s -- ...", flags) : ab_strdup("");
}

/* Everything but its number and what was counted. Takes the identity. */
static void describe_denial(struct denial *d, char *identity, const struct ab_request_record *r)
{
	char reason[AB_REASON_ROOM];

	free_texts(d);
	d->identity = identity;
	d->host = ab_strdup(r->host ? r->host : "");
	d->reason = ab_strdup(ab_ledger_reason(r, reason));
	d->hint = make_hint(r);
	d->rule = ab_ledger_rule(r);
	d->basis = r->verdict.basis;
	d->fault = r->fault;
	d->reply = r->reply;
	d->door = r->door;
	d->port = r->port;
	d->entry = d->fault <= AB_FAULT_ANSWER && d->basis == AB_BASIS_DENY
			   ? ab_strdup(r->verdict.entry)
			   : NULL;
	d->from = d->entry && r->verdict.from ? ab_strdup(r->verdict.from) : NULL;
}

static struct denial *find_denial(struct ab_ledger *ledger, uint32_t number)
{
	return number && number <= ledger->len ? ledger->v[number - 1] : NULL;
}

/* Another question may have become the same denial meanwhile: it is found instead. */
static void leave_tree(struct ab_ledger *ledger, const struct denial *d)
{
	ab_tree_remove(&ledger->by_identity, d);
	for (size_t i = 0; i < ledger->len; i++)
		if (ledger->v[i] != d && strcmp(ledger->v[i]->identity, d->identity) == 0)
			ab_tree_add(&ledger->by_identity, ledger->v[i]);
}

/* Find or add the denial and return its number; NULL and a new number if the table
 * is full. */
static struct denial *find_or_add(struct ab_ledger *ledger, const struct ab_request_record *r,
				  uint32_t *ret_number)
{
	ab_autofree char *identity = make_identity(r);
	struct denial *d = find_denial(ledger, r->number);

	/* A question that a rule has decided keeps its number, if it was only asked about so far. */
	if (!d || d->count)
		d = ab_tree_find(&ledger->by_identity, identity);
	if (!d && ledger->len == REMEMBERED) {
		*ret_number = r->number ? r->number : ++ledger->last;
		return NULL;
	}
	if (!d) {
		d = ab_alloc(sizeof(*d));
		*ab_append(ledger->v, ledger->len) = d;
		d->number = ++ledger->last;
	}
	*ret_number = d->number;
	if (d->identity && strcmp(d->identity, identity) == 0)
		return d;
	if (d->identity && ab_tree_find(&ledger->by_identity, d->identity) == d)
		leave_tree(ledger, d);
	describe_denial(d, ab_take(identity), r);
	ab_tree_add(&ledger->by_identity, d);
	return d;
}

/* Use up a line of this minute, for `times` equal denials; returns false if none is left. */
static bool take_line(struct ab_ledger *ledger, struct denial *d, uint64_t times)
{
	uint64_t minute = (uint64_t)ab_clock_ms(CLOCK_MONOTONIC_COARSE) / 60000 + 1;

	if (ledger->minute != minute) {
		ledger->minute = minute;
		ledger->lines = 0;
	}
	if (d->minute != minute) {
		d->minute = minute;
		d->lines = 0;
	}
	if ((d->lines >= LINES && times >> (d->lines - LINES) < LINES) ||
	    (d->count > 1 && ledger->lines >= ALL_LINES))
		return false;
	d->lines++;
	ledger->lines++;
	return true;
}

/* How often it happened, written in one line: packets have a number of their own. */
static void set_times(struct line *e, bool packets, uint64_t times)
{
	e->protocol = packets ? "udp" : NULL;
	e->packets = packets ? times : 0;
	e->repeated = packets ? 0 : times - 1;
}

static uint64_t count_times(const struct ab_request_record *r)
{
	return r->packets ? r->packets : 1;
}

static int write_or_hold(struct ab_ledger *ledger, struct denial *d, struct line *e,
			 struct ab_error *err)
{
	bool packets = e->r->packets > 0;
	uint64_t *held = packets && d == &ledger->others ? &ledger->datagrams : &d->held;

	*held += count_times(e->r);
	if (!take_line(ledger, d, *held))
		return 0;
	set_times(e, packets, *held);
	if (write_entry(ledger, e, err) < 0)
		return -1;
	*held = 0;
	return 0;
}

/* A host may be denied first for lack of an answer, then by an answer. */
static void update_reason(struct denial *d, const struct ab_request_record *r)
{
	char reason[AB_REASON_ROOM];

	if (d->reply == r->reply)
		return;
	free(d->reason);
	d->reason = ab_strdup(ab_ledger_reason(r, reason));
	d->reply = r->reply;
}

/* d NULL: the table does not remember it. */
static int write_denial(struct ab_ledger *ledger, struct denial *d, uint32_t number,
			const struct ab_request_record *r, struct ab_error *err)
{
	char reason[AB_REASON_ROOM];
	ab_autofree char *hint = d ? NULL : make_hint(r);
	struct line e = { .kind = "violation",
			  .r = r,
			  .number = number,
			  .rule = ab_ledger_rule(r),
			  .reason = ab_ledger_reason(r, reason),
			  .hint = d ? d->hint : hint,
			  .process = r->process };

	if (d) {
		update_reason(d, r);
	} else {
		d = &ledger->others;
		ledger->unremembered++;
	}
	d->count += count_times(r);
	return write_or_hold(ledger, d, &e, err);
}

int ab_ledger_deny(struct ab_ledger *ledger, const struct ab_request_record *r,
		   uint32_t *ret_number, struct ab_error *err)
{
	uint32_t number;
	struct denial *d = find_or_add(ledger, r, &number);

	ledger->totals.denied += !r->packets;
	ledger->totals.packets += r->packets;
	ledger->totals.unasked +=
		r->fault == AB_FAULT_NONE && r->reply == AB_REPLY_NONE &&
		(r->verdict.basis == AB_BASIS_NONE || r->verdict.basis == AB_BASIS_PORT);
	if (write_denial(ledger, d, number, r, err) < 0)
		return -1;
	*ret_number = number;
	return 0;
}

uint32_t ab_ledger_number(struct ab_ledger *ledger, const struct ab_request_record *r)
{
	uint32_t number;

	(void)find_or_add(ledger, r, &number);
	return number;
}

int ab_ledger_request(struct ab_ledger *ledger, const struct ab_request_record *r,
		      struct ab_error *err)
{
	struct line e = {
		.kind = "request", .r = r, .number = r->denial, .rule = ab_ledger_rule(r)
	};
	const struct denial *d = find_denial(ledger, r->denial);

	/* The requests of other doors have no process. */
	if (r->agent)
		e.process = r->process;

	ledger->totals.bytes_up += r->bytes_up;
	ledger->totals.bytes_down += r->bytes_down;
	if (!r->denial && r->error && *r->error)
		ledger->totals.failed++;
	else if (!r->denial)
		ledger->totals.allowed++;
	/* While its denial is only counted, do not write the request either. */
	if (r->denial && (d ? d->held : ledger->others.held))
		return 0;
	return write_entry(ledger, &e, err);
}

int ab_ledger_packets(struct ab_ledger *ledger, const char *kind, uint64_t n, struct ab_error *err)
{
	/* The table uses the kind as the host; the record must not. */
	struct ab_request_record key = { .door = AB_DOOR_COUNT,
					 .host = kind,
					 .fault = AB_FAULT_NOT_TCP };
	char reason[AB_REASON_ROOM];
	struct ab_request_record none = { .door = AB_DOOR_COUNT };
	struct line e = { .kind = "violation",
			  .r = &none,
			  .rule = ab_ledger_rule(&key),
			  .protocol = kind,
			  .packets = n,
			  .reason = ab_ledger_reason(&key, reason) };
	struct denial *d;

	if (n == 0)
		return 0;
	ledger->totals.packets += n;
	d = find_or_add(ledger, &key, &e.number);
	if (d)
		d->count += n;
	else
		ledger->unremembered++;
	return write_entry(ledger, &e, err);
}

/* What is held of one. */
static int flush_denial(struct ab_ledger *ledger, struct denial *d, uint32_t number,
			struct ab_error *err)
{
	struct ab_request_record r = { .door = d->door, .host = d->host, .port = d->port };
	struct line e = { .kind = "violation",
			  .r = &r,
			  .number = number,
			  .rule = d->rule,
			  .reason = d->reason,
			  .hint = d->hint };

	if (!d->held)
		return 0;
	set_times(&e, d->door == AB_DOOR_UDP, d->held);
	if (write_entry(ledger, &e, err) < 0)
		return -1;
	d->held = 0;
	return 0;
}

int ab_ledger_flush(struct ab_ledger *ledger, struct ab_error *err)
{
	static char unknown[] = "too many hosts to name each";
	struct denial datagrams = { .door = AB_DOOR_UDP,
				    .reason = unknown,
				    .held = ledger->datagrams };

	for (size_t i = 0; i < ledger->len; i++)
		if (flush_denial(ledger, ledger->v[i], ledger->v[i]->number, err) < 0)
			return -1;
	/* Those that are not remembered have no common host or reason. */
	ledger->others.door = AB_DOOR_COUNT;
	ledger->others.reason = unknown;
	if (flush_denial(ledger, &ledger->others, ledger->last, err) < 0 ||
	    flush_denial(ledger, &datagrams, ledger->last, err) < 0)
		return -1;
	ledger->datagrams = 0;
	return 0;
}

void ab_ledger_totals(const struct ab_ledger *ledger, struct ab_ledger_totals *ret)
{
	*ret = ledger->totals;
}

/* Records of questions, grants and alarms during a run. */

bool ab_ledger_seeks(struct ab_ledger *ledger, uint32_t number)
{
	struct denial *d = find_denial(ledger, number);

	if (!d || d->sought)
		return false;
	d->sought = true;
	return true;
}

void ab_ledger_who(struct ab_ledger *ledger, uint32_t number, const char *nearest)
{
	struct denial *d = find_denial(ledger, number);

	if (!d || d->who)
		return;
	d->who = ab_strdup(nearest);
}

int ab_ledger_question(struct ab_ledger *ledger, const struct ab_question_record *q,
		       struct ab_error *err)
{
	struct ab_buf *line = &ledger->line;
	char id[AB_DENIAL_ID] = "";

	if (q->number)
		ab_ledger_id(ledger, q->number, id);
	ab_record_open(line, ledger->run_id, "question");
	ab_buf_jsonf(line, ",'id':%s,'domain':%s", ab_text_or_null(id), ab_text_or_null(q->host));
	ab_buf_json_number(line, "port", q->port, q->port);
	ab_buf_jsonf(
		line,
		",'door':%s,'answer':%s,'by':%s?,'reason':%s,'waiting':%ju,'ms':%ju?,'process':"
		"%-s",
		q->door < AB_DOOR_COUNT ? ab_door_names[q->door] : NULL, q->answer,
		ab_text_or_null(q->by), ab_text_or_null(q->why), (uintmax_t)q->waiting,
		(uintmax_t)q->ms, q->process);
	return ab_log_write(ledger->log, line, err);
}

int ab_ledger_grant(struct ab_ledger *ledger, const char *entry, bool allowed, uint64_t for_ms,
		    bool taken, const char *by, struct ab_error *err)
{
	struct ab_buf *line = &ledger->line;

	ab_record_open(line, ledger->run_id, "grant");
	ab_buf_jsonf(line, ",'entry':%s,'allowed':%hhd,'by':%s,'for_ms':%ju?,'error':%s", entry,
		     allowed, ab_text_or_null(by), for_ms,
		     taken ? NULL : "the run has too many grants");
	return ab_log_write(ledger->log, line, err);
}

int ab_ledger_alarm(struct ab_ledger *ledger, const struct ab_threshold_alarm *alarm,
		    struct ab_error *err)
{
	struct ab_buf *line = &ledger->line;

	ab_record_open(line, ledger->run_id, "monitor");
	ab_alarm_members(alarm, line);
	return ab_log_write(ledger->log, line, err);
}

/* The denials of the proxy, for the summary at the end of a run. */

/* A host that was only asked about has a number but was not denied, and hosts of network.quiet are
 * not told. */
static bool is_told(const struct denial *d)
{
	return d->count && d->basis != AB_BASIS_QUIET;
}

/* "1 request was denied", "7 requests and 3 packets were denied" */
static char *make_headline(const struct ab_ledger *ledger)
{
	uint64_t requests = ledger->totals.denied, packets = ledger->totals.packets;
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < ledger->len; i++)
		if (!is_told(ledger->v[i]))
			requests -= ledger->v[i]->count;
	if (requests)
		ab_buf_printf(&b, "%" PRIu64 " request%s", requests, requests == 1 ? "" : "s");
	if (packets)
		ab_buf_printf(&b, "%s%" PRIu64 " packet%s", requests ? " and " : "", packets,
			      packets == 1 ? "" : "s");
	ab_buf_puts(&b, requests + packets == 1 ? " was denied" : " were denied");
	return ab_buf_take(&b);
}

/* "x.org:443", "[::1]:80", "3 udp packets" */
static char *name_target(const struct denial *d)
{
	struct ab_buf b = { 0 };

	if (d->door == AB_DOOR_COUNT)
		return ab_printf("%" PRIu64 " %s packet%s", d->count, d->host,
				 d->count == 1 ? "" : "s");
	if (d->door == AB_DOOR_AGENT)
		ab_buf_puts(&b, d->host[0] ? "an ssh key for " : "the ssh agent");
	if (d->door == AB_DOOR_UDP)
		ab_buf_puts(&b, "udp to ");
	if (d->host[0])
		ab_words_target(&b, d->host, d->port);
	return ab_buf_take(&b);
}

/* Its tool needs the other hosts of a group, too. */
static bool is_on_no_list(const struct denial *d)
{
	return d->fault == AB_FAULT_NONE && d->basis == AB_BASIS_NONE && ab_port_usual(d->port);
}

static void fill_row(const struct ab_ledger *ledger, const struct denial *d,
		     struct ab_summary_row *row)
{
	struct ab_request_record r = { .verdict = { .basis = d->basis }, .fault = d->fault };
	const char *group = ab_group_of(d->host);

	ab_ledger_id(ledger, d->number, row->id);
	row->about = name_target(d);
	row->reason = ab_strdup(d->reason);
	row->more = d->who		     ? ab_strdup(d->who)
		    : d->door == AB_DOOR_UDP ? ab_strdup("process not known")
					     : NULL;
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

	for (size_t i = 0; i < ledger->len; i++) {
		struct ab_summary_row *row =
			is_told(ledger->v[i]) ? ab_summary_add(&summary, 1) : NULL;

		if (row)
			fill_row(ledger, ledger->v[i], row);
	}
	ab_summary_end(&summary, headline, ret);
}
