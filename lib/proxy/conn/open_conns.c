#include "proxy/conn/open_conns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "proxy/conn/conn.h"
#include "proxy/record/events.h"

enum {
	REPORT_MS = 250,
	SURVEYED = 64,		   /* connections listed */
	SLOTS = 2 * AB_OPENED_MAX, /* a power of two */
};

static void report_upload(struct ab_engine *engine, struct ab_conn *conn,
			  const struct ab_request_record *r)
{
	struct ab_open_conns *o = &engine->open_conns;
	uint64_t sent = r->bytes_up + r->head_up;

	if (sent <= conn->reported)
		return;
	o->sent(o->arg, r->host, sent - conn->reported);
	conn->reported = sent;
}

static void report_uploads(struct ab_timer *timer)
{
	struct ab_engine *engine = timer->owner;

	for (struct ab_conn *conn = engine->conns; conn; conn = conn->next) {
		struct ab_request_record r;

		if (ab_conn_describe(conn, &r) && !conn->kind->is_between(conn))
			report_upload(engine, conn, &r);
	}
	/* The next opened connection sets the timer again. */
	if (engine->conns)
		ab_loop_timer(&engine->loop, timer, REPORT_MS);
}

void ab_open_conns_init(struct ab_engine *engine, const struct ab_proxy_setup *setup)
{
	struct ab_open_conns *o = &engine->open_conns;

	*o = (struct ab_open_conns){ .sent = setup->sent,
				     .opened = setup->opened,
				     .arg = setup->arg,
				     .uploads = setup->sent && setup->watch_uploads,
				     .report = { .fire = report_uploads, .owner = engine } };
}

void ab_open_conns_fini(struct ab_engine *engine)
{
	free(engine->open_conns.hosts);
}

static void make_table(struct ab_open_conns *o)
{
	o->hosts = ab_alloc(SLOTS * sizeof(o->hosts[0]));
	/* Without a seed the box could choose names that collide. */
	(void)!getrandom(&o->seed, sizeof(o->seed), GRND_NONBLOCK);
}

/* true: the host is new. */
static bool remember_host(struct ab_open_conns *o, const char *host)
{
	uint64_t h;
	size_t slot;

	if (!o->hosts)
		make_table(o);
	h = o->seed ^ 0xcbf29ce484222325;
	for (; *host; host++)
		h = (h ^ (unsigned char)*host) * 0x100000001b3;
	h ^= h >> 32;
	h = h ? h : 1;
	for (slot = h & (SLOTS - 1); o->hosts[slot]; slot = (slot + 1) & (SLOTS - 1))
		if (o->hosts[slot] == h)
			return false;
	if (o->nhosts == AB_OPENED_MAX)
		return false;
	o->hosts[slot] = h;
	o->nhosts++;
	return true;
}

void ab_open_conns_opened(struct ab_conn *conn)
{
	struct ab_engine *engine = conn->engine;
	struct ab_open_conns *o = &engine->open_conns;
	struct ab_request_record r;

	if (o->uploads && !o->report.slot)
		ab_loop_timer(&engine->loop, &o->report, REPORT_MS);
	if (o->opened && ab_conn_describe(conn, &r) && remember_host(o, r.host))
		o->opened(o->arg, r.host);
}

void ab_open_conns_recorded(struct ab_conn *conn, const struct ab_request_record *r)
{
	if (conn->engine->open_conns.uploads)
		report_upload(conn->engine, conn, r);
	conn->reported = 0;
}

void ab_open_conns_cut(struct ab_engine *engine, const char *reason)
{
	struct ab_request_record r;

	if (engine->cut)
		return;
	engine->cut = ab_strdup(reason);
	ab_waiting_cut(engine);
	for (struct ab_conn *conn = engine->conns; conn; conn = conn->next)
		if (ab_conn_describe(conn, &r))
			conn->kind->break_off(conn, AB_FAULT_CUT, &r.verdict);
		else if (conn->door == AB_DOOR_PUBLISH && !conn->closed)
			conn->kind->break_off(conn, AB_FAULT_CUT, &conn->verdict);
		else if (conn->server.source.fd >= 0 && !conn->waiter)
			ab_conn_close(conn, true); /* idle */
}

/* The host lists do not apply to ports that the policy forwards. */
static bool is_judged_by_lists(const struct ab_conn *conn)
{
	return conn->door != AB_DOOR_PUBLISH && conn->door != AB_DOOR_HOST_PORT;
}

/*
 * Would this connection be denied now? A host that a person allowed would only
 * be asked about again, so do not cut it.
 */
static bool is_denied(struct ab_conn *conn, const struct ab_request_record *r,
		      struct ab_verdict *ret, enum ab_fault *ret_fault)
{
	struct ab_host host, address;

	*ret_fault = AB_FAULT_NONE;
	if (ab_host_parse(r->host, strlen(r->host), &host, NULL) < 0)
		return false;
	ab_conn_judge(conn, &host, r->port, ret);
	if (ret->access == AB_ACCESS_DENY ||
	    (ret->access == AB_ACCESS_ASK && r->verdict.basis != AB_BASIS_GRANT))
		return true;
	if (conn->upstream || !r->address || host.kind != AB_HOST_NAME ||
	    ab_host_parse(r->address, strlen(r->address), &address, NULL) < 0)
		return false;
	*ret_fault = AB_FAULT_ANSWER;
	return !ab_conn_reachable(conn->engine, &address, r->port, ret);
}

void ab_open_conns_cut_denied(struct ab_engine *engine)
{
	for (struct ab_conn *conn = engine->conns; conn; conn = conn->next) {
		struct ab_request_record r;
		struct ab_verdict verdict;
		enum ab_fault fault;

		if (is_judged_by_lists(conn) && ab_conn_describe(conn, &r) &&
		    is_denied(conn, &r, &verdict, &fault))
			conn->kind->break_off(conn, fault, &verdict);
	}
}

char *ab_open_conns_survey(const struct ab_engine *engine)
{
	struct ab_ledger_totals t = { 0 };
	struct ab_buf b = { 0 };
	int n = 0;

	if (engine->ledger)
		ab_ledger_totals(engine->ledger, &t);
	ab_buf_printf(&b,
		      "{\"allowed\":%" PRIu64 ",\"denied\":%" PRIu64 ",\"failed\":%" PRIu64
		      ",\"bytes_up\":%" PRIu64 ",\"bytes_down\":%" PRIu64 ",\"open\":[",
		      t.allowed, t.denied, t.failed, t.bytes_up, t.bytes_down);
	for (const struct ab_conn *conn = engine->conns; conn && n < SURVEYED; conn = conn->next) {
		struct ab_request_record r;

		if (!ab_conn_describe(conn, &r))
			continue;
		ab_buf_puts(&b, n++ ? ",{\"domain\":" : "{\"domain\":");
		ab_buf_json(&b, r.host);
		ab_buf_printf(&b,
			      ",\"port\":%u,\"door\":\"%s\",\"bytes_up\":%" PRIu64
			      ",\"bytes_down\":%" PRIu64 ",\"ms\":%" PRIu64 "}",
			      r.port, ab_door_names[r.door], r.bytes_up, r.bytes_down, r.ms);
	}
	ab_buf_puts(&b, "]}");
	return ab_buf_take(&b);
}
