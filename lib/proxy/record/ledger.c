/*
 * Theory of operation.
 *
 * A denial is identified by host, port, basis, fault and the words of its reason,
 * without the answer to a question about it. It gets a number when first seen: number
 * n is element n-1 of the table. A box can ask for any number of hosts, so the table
 * remembers only the first AB_LEDGER_REMEMBERED; any other denial gets a new number
 * each time. A question has the number of the denial that it may become, and keeps
 * it if a rule decides instead of an answer.
 *
 * Equal denials are written one by one, up to LINES a minute. Further ones are
 * counted, and the next line that is written has their number ("repeated"), so the
 * sum of all lines is exact.
 *
 * A denial costs the box nothing, and new log files replace old ones. To keep a box
 * from pushing out old records, all denials together get ALL_LINES a minute, not
 * counting the first of each remembered denial; denials that are not remembered
 * count as equal.
 */
#include "proxy/record/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/mem.h"
#include "proxy/record/ledger_state.h"

enum { LINES = 100, ALL_LINES = 2000 };

static const char packets_reason[] = "only TCP connections leave the box";

struct ab_ledger *ab_ledger_new(const char *run_id, struct ab_log *log)
{
	struct ab_ledger *ledger = ab_alloc(sizeof(*ledger));

	snprintf(ledger->run_id, sizeof(ledger->run_id), "%s", run_id);
	ledger->log = log;
	/* Without a seed, a box that knows the hash can only make the table slower. */
	(void)!getrandom(&ledger->seed, sizeof(ledger->seed), GRND_NONBLOCK);
	return ledger;
}

void ab_ledger_free(struct ab_ledger *ledger)
{
	if (!ledger)
		return;
	for (size_t i = 0; i < ledger->len; i++) {
		free(ledger->v[i].host);
		free(ledger->v[i].cause);
		free(ledger->v[i].reason);
		free(ledger->v[i].hint);
		free(ledger->v[i].entry);
		free(ledger->v[i].from);
		free(ledger->v[i].who);
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
struct entry {
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

/* null if unknown. */
static void put_number(struct ab_buf *line, const char *key, int value)
{
	if (value)
		ab_record_number(line, key, value);
	else
		ab_record_json(line, key, "null");
}

static int write_entry(struct ab_ledger *ledger, const struct entry *e, struct ab_error *err)
{
	const struct ab_request_record *r = e->r;
	struct ab_buf *line = &ledger->line;
	char id[AB_DENIAL_ID] = "";

	if (e->number)
		ab_ledger_id(ledger, e->number, id);
	ab_record_open(line, ledger->run_id, e->kind);
	ab_record_maybe(line, "id", id);
	ab_record_maybe(line, "domain", r->host);
	put_number(line, "port", r->port);
	ab_record_maybe(line, "path", r->path);
	ab_record_maybe(line, "method", r->method);
	put_number(line, "status", r->status);
	ab_record_json(line, "allowed", e->number ? "false" : "true");
	ab_record_maybe(line, "rule", e->rule);
	ab_record_maybe(line, "whitelist_matched",
			r->verdict.basis == AB_BASIS_ALLOW ? r->verdict.entry : NULL);
	ab_record_maybe(line, "door", r->door < AB_DOOR_COUNT ? ab_door_names[r->door] : NULL);
	ab_record_maybe(line, "sni", r->sni);
	ab_record_maybe(line, "address", r->address);
	ab_record_number(line, "bytes_up", (int64_t)r->bytes_up);
	ab_record_number(line, "bytes_down", (int64_t)r->bytes_down);
	ab_record_number(line, "ms", (int64_t)r->ms);
	if (r->upstream)
		ab_record_json(line, "upstream", "true");
	if (r->tls)
		ab_record_json(line, "tls", "true");
	if (r->intercepted)
		ab_record_json(line, "intercepted", "true");
	if (r->secret && *r->secret)
		ab_record_text(line, "secret", r->secret);
	if (e->number && r->verdict.basis == AB_BASIS_DENY && r->verdict.from)
		ab_record_text(line, "from", r->verdict.from);
	if (r->error && *r->error)
		ab_record_text(line, "error", r->error);
	if (r->agent) {
		ab_record_maybe(line, "key", r->agent->key);
		ab_record_maybe(line, "user", r->agent->user);
		ab_record_maybe(line, "namespace", r->agent->name_space);
		ab_record_maybe(line, "route", r->agent->route);
	}
	if (e->process)
		ab_record_json(line, "process", e->process);
	if (e->protocol) {
		ab_record_text(line, "protocol", e->protocol);
		ab_record_number(line, "packets", (int64_t)e->packets);
	}
	if (e->reason && *e->reason)
		ab_record_text(line, "reason", e->reason);
	if (e->hint && *e->hint)
		ab_record_text(line, "hint", e->hint);
	if (e->repeated)
		ab_record_number(line, "repeated", (int64_t)e->repeated);
	return ab_log_write(ledger->log, line, err);
}

/* Its reason without the answer to a question. */
static const char *make_cause(const struct ab_request_record *r, char ret[AB_REASON_ROOM])
{
	struct ab_request_record bare = *r;

	if (r->door == AB_DOOR_COUNT)
		return packets_reason;
	bare.reply = AB_REPLY_NONE;
	return ab_ledger_reason(&bare, ret);
}

static uint64_t mix_text(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3;
	return h;
}

static uint64_t hash_request(const struct ab_ledger *ledger, const struct ab_request_record *r,
			     const char *cause)
{
	uint64_t h = ledger->seed ^ 0xcbf29ce484222325;

	h = mix_text(mix_text(h, r->host), cause);
	h ^= (uint64_t)r->port | (uint64_t)r->verdict.basis << 16 | (uint64_t)r->fault << 24 |
	     (uint64_t)(r->door == AB_DOOR_COUNT) << 32;
	h *= 0xff51afd7ed558ccd;
	return h ^ h >> 32;
}

static bool is_same_denial(const struct ab_denial *d, const struct ab_request_record *r,
			   const char *cause)
{
	return d->port == r->port && d->basis == r->verdict.basis && d->fault == r->fault &&
	       (d->door == AB_DOOR_COUNT) == (r->door == AB_DOOR_COUNT) &&
	       strcmp(d->host, r->host ? r->host : "") == 0 && strcmp(d->cause, cause) == 0;
}

/* The command that would allow it, "agentbox run --allow x.y -- ...", or "". */
static char *make_hint(const struct ab_request_record *r)
{
	char flags[AB_REASON_ROOM];

	ab_ledger_hint(r, flags);
	return *flags ? ab_printf("agentbox run %s -- ...", flags) : ab_strdup("");
}

/* Everything but its number and what was counted. */
static void describe_denial(struct ab_denial *d, uint64_t hash, const struct ab_request_record *r,
			    const char *cause)
{
	char reason[AB_REASON_ROOM];
	bool packets = r->door == AB_DOOR_COUNT;

	free(d->host);
	free(d->cause);
	free(d->reason);
	free(d->hint);
	free(d->entry);
	free(d->from);
	d->hash = hash;
	d->host = ab_strdup(r->host ? r->host : "");
	d->cause = ab_strdup(cause);
	d->reason = ab_strdup(packets ? packets_reason : ab_ledger_reason(r, reason));
	d->hint = packets ? ab_strdup("") : make_hint(r);
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

static struct ab_denial *add_denial(struct ab_ledger *ledger)
{
	struct ab_denial *d;

	if (ledger->len == ledger->room) {
		ledger->room = ledger->room ? 2 * ledger->room : 16;
		ledger->v = ab_realloc(ledger->v, ledger->room * sizeof(ledger->v[0]));
	}
	d = &ledger->v[ledger->len++];
	*d = (struct ab_denial){ 0 };
	return d;
}

/* The number of a question that a rule has decided: was it only asked about so far? */
static bool is_open_question(const struct ab_ledger *ledger, const struct ab_request_record *r)
{
	return r->number && r->number <= ledger->len && !ledger->v[r->number - 1].count;
}

/* Find or add the denial and return its number; NULL and a new number if the table
 * is full. */
static struct ab_denial *find_or_add(struct ab_ledger *ledger, const struct ab_request_record *r,
				     uint32_t *ret_number)
{
	char text[AB_REASON_ROOM];
	const char *cause = make_cause(r, text);
	uint64_t hash = hash_request(ledger, r, cause);
	size_t slot = hash & (AB_LEDGER_SLOTS - 1);
	bool keeps = is_open_question(ledger, r);
	struct ab_denial *d;

	for (; ledger->slots[slot]; slot = (slot + 1) & (AB_LEDGER_SLOTS - 1)) {
		d = &ledger->v[ledger->slots[slot] - 1];
		if (d->hash == hash && is_same_denial(d, r, cause) &&
		    (!keeps || ledger->slots[slot] == r->number)) {
			*ret_number = ledger->slots[slot];
			return d;
		}
	}
	/* A third of the slots stays free, so that a search ends soon. */
	if (ledger->nslots > AB_LEDGER_SLOTS / 3 * 2)
		keeps = false;
	if (!keeps && ledger->len == AB_LEDGER_REMEMBERED) {
		*ret_number = r->number ? r->number : ++ledger->last;
		return NULL;
	}
	*ret_number = keeps ? r->number : ++ledger->last;
	d = keeps ? &ledger->v[r->number - 1] : add_denial(ledger);
	ledger->slots[slot] = (uint16_t)*ret_number;
	ledger->nslots++;
	describe_denial(d, hash, r, cause);
	return d;
}

static uint64_t get_minute(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec / 60 + 1;
}

/* Use up a line of this minute; returns false if none is left. */
static bool take_line(struct ab_ledger *ledger, struct ab_denial *d)
{
	uint64_t minute = get_minute();

	if (ledger->minute != minute) {
		ledger->minute = minute;
		ledger->lines = 0;
	}
	if (d->minute != minute) {
		d->minute = minute;
		d->lines = 0;
	}
	if (d->lines >= LINES || (d->count > 1 && ledger->lines >= ALL_LINES))
		return false;
	d->lines++;
	ledger->lines++;
	return true;
}

static int write_or_hold(struct ab_ledger *ledger, struct ab_denial *d, const struct entry *e,
			 struct ab_error *err)
{
	if (!take_line(ledger, d)) {
		d->held++;
		return 0;
	}
	if (write_entry(ledger, e, err) < 0)
		return -1;
	d->held = 0;
	return 0;
}

/* A host may be denied first for lack of an answer, then by an answer. */
static void update_reason(struct ab_denial *d, const struct ab_request_record *r)
{
	char reason[AB_REASON_ROOM];

	if (d->reply == r->reply)
		return;
	free(d->reason);
	d->reason = ab_strdup(ab_ledger_reason(r, reason));
	d->reply = r->reply;
}

static int write_denial(struct ab_ledger *ledger, struct ab_denial *d, uint32_t number,
			const struct ab_request_record *r, struct ab_error *err)
{
	struct entry e = { .kind = "violation",
			   .r = r,
			   .number = number,
			   .rule = d->rule,
			   .hint = d->hint,
			   .process = r->process,
			   .repeated = d->held };

	update_reason(d, r);
	e.reason = d->reason;
	return write_or_hold(ledger, d, &e, err);
}

/* A denial that the table does not remember. */
static int write_unremembered(struct ab_ledger *ledger, uint32_t number,
			      const struct ab_request_record *r, struct ab_error *err)
{
	char reason[AB_REASON_ROOM];
	ab_autofree char *hint = make_hint(r);
	struct entry e = { .kind = "violation",
			   .r = r,
			   .number = number,
			   .rule = ab_ledger_rule(r),
			   .reason = ab_ledger_reason(r, reason),
			   .hint = hint,
			   .process = r->process,
			   .repeated = ledger->others.held };

	ledger->others.count++;
	ledger->unremembered++;
	return write_or_hold(ledger, &ledger->others, &e, err);
}

int ab_ledger_deny(struct ab_ledger *ledger, const struct ab_request_record *r,
		   uint32_t *ret_number, struct ab_error *err)
{
	uint32_t number;
	struct ab_denial *d = find_or_add(ledger, r, &number);

	ledger->totals.denied++;
	ledger->totals.unasked +=
		r->fault == AB_FAULT_NONE && r->reply == AB_REPLY_NONE &&
		(r->verdict.basis == AB_BASIS_NONE || r->verdict.basis == AB_BASIS_PORT);
	if (d)
		d->count++;
	if ((d ? write_denial(ledger, d, number, r, err)
	       : write_unremembered(ledger, number, r, err)) < 0)
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
	struct entry e = {
		.kind = "request", .r = r, .number = r->denial, .rule = ab_ledger_rule(r)
	};

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
	if (r->denial &&
	    (r->denial <= ledger->len ? ledger->v[r->denial - 1].held : ledger->others.held))
		return 0;
	return write_entry(ledger, &e, err);
}

int ab_ledger_packets(struct ab_ledger *ledger, const char *kind, uint64_t n, struct ab_error *err)
{
	/* The table uses the kind as the host; the record must not. */
	struct ab_request_record key = { .door = AB_DOOR_COUNT, .host = kind };
	struct ab_request_record none = { .door = AB_DOOR_COUNT };
	struct entry e = { .kind = "violation",
			   .r = &none,
			   .rule = "network.mode",
			   .protocol = kind,
			   .packets = n,
			   .reason = packets_reason };
	struct ab_denial *d;

	if (n == 0)
		return 0;
	ledger->packets += n;
	d = find_or_add(ledger, &key, &e.number);
	if (d)
		d->count += n;
	else
		ledger->unremembered++;
	return write_entry(ledger, &e, err);
}

/* Held denials that are not remembered have no common host or reason. */
static int flush_others(struct ab_ledger *ledger, struct ab_error *err)
{
	struct ab_request_record r = { .door = AB_DOOR_COUNT };
	struct entry e = { .kind = "violation",
			   .r = &r,
			   .number = ledger->last,
			   .reason = "too many hosts to name each",
			   .repeated = ledger->others.held - 1 };

	if (!ledger->others.held)
		return 0;
	if (write_entry(ledger, &e, err) < 0)
		return -1;
	ledger->others.held = 0;
	return 0;
}

int ab_ledger_flush(struct ab_ledger *ledger, struct ab_error *err)
{
	for (size_t i = 0; i < ledger->len; i++) {
		struct ab_denial *d = &ledger->v[i];
		struct ab_request_record r = { .door = d->door, .host = d->host, .port = d->port };
		struct entry e = { .kind = "violation",
				   .r = &r,
				   .number = (uint32_t)i + 1,
				   .rule = d->rule,
				   .reason = d->reason,
				   .hint = d->hint,
				   .repeated = d->held - 1 };

		if (!d->held)
			continue;
		if (write_entry(ledger, &e, err) < 0)
			return -1;
		d->held = 0;
	}
	return flush_others(ledger, err);
}

void ab_ledger_totals(const struct ab_ledger *ledger, struct ab_ledger_totals *ret)
{
	*ret = ledger->totals;
}
