#include "proxy/conn/open_conns.h"

#include "proxy/conn/conn.h"

enum { SURVEYED = 64 }; /* connections listed */

/* Connections are closed at the end of the batch: one of them noticed that the
 * limit is reached, and is still at work. */
static void act_on_alarm(struct ab_later *later)
{
	struct ab_engine *engine = later->owner;
	struct ab_open_conns *o = &engine->open_conns;

	if (o->action == AB_ALARM_HOLD)
		ab_waiting_hold(engine, o->alarm);
	else
		ab_open_conns_cut(engine, o->alarm);
}

/* The record comes first: without it nothing more is sent anyway. */
static void handle_crossing(void *arg, const struct ab_threshold_alarm *alarm)
{
	struct ab_engine *engine = arg;
	struct ab_open_conns *o = &engine->open_conns;
	char text[AB_ALARM_ROOM];
	struct ab_error err;

	if (ab_ledger_alarm(engine->ledger, alarm, &err) < 0)
		engine->unrecorded(engine, &err);
	if (engine->setup->crossed)
		engine->setup->crossed(engine->setup->arg, alarm);
	if (alarm->action == AB_ALARM_WARN)
		return;
	ab_alarm_text(alarm, text);
	free(o->alarm);
	o->alarm = ab_strdup(text);
	o->action = alarm->action;
	ab_loop_later(&engine->loop, &o->act);
}

void ab_open_conns_init(struct ab_engine *engine)
{
	struct ab_open_conns *o = &engine->open_conns;

	o->budgets = ab_budgets_new(engine->setup->policy, handle_crossing, engine);
	o->act = (struct ab_later){ .run = act_on_alarm, .owner = engine };
}

void ab_open_conns_fini(struct ab_engine *engine)
{
	ab_budgets_free(engine->open_conns.budgets);
	free(engine->open_conns.alarm);
}

void ab_open_conns_opened(struct ab_conn *conn)
{
	struct ab_open_conns *o = &conn->engine->open_conns;
	struct ab_request_record r;

	if (o->budgets && ab_conn_describe(conn, &r))
		conn->server.allowance = ab_budgets_allowance(o->budgets, r.host);
}

void ab_open_conns_resume(struct ab_engine *engine)
{
	if (!engine->open_conns.budgets)
		return;
	ab_budgets_lift(engine->open_conns.budgets);
	for (struct ab_conn *conn = engine->conns; conn; conn = conn->next)
		if (conn->server.allowance)
			ab_conn_again(conn);
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
		else if (ab_side_is_open(&conn->server) && !conn->waiter)
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

/* Was it denied, or is it no longer allowed? */
static bool is_denied_by_rule(const struct ab_verdict *verdict)
{
	return verdict->access == AB_ACCESS_DENY &&
	       (verdict->basis == AB_BASIS_DENY || verdict->basis == AB_BASIS_GRANT);
}

void ab_open_conns_cut_denied(struct ab_engine *engine, bool all)
{
	for (struct ab_conn *conn = engine->conns; conn; conn = conn->next) {
		struct ab_request_record r;
		struct ab_verdict verdict;
		enum ab_fault fault;

		if (!is_judged_by_lists(conn) || !ab_conn_describe(conn, &r) ||
		    !is_denied(conn, &r, &verdict, &fault) ||
		    (!all && !is_denied_by_rule(&verdict)))
			continue;
		conn->kind->break_off(conn, fault, &verdict);
		engine->open_conns.closed++;
	}
}

char *ab_open_conns_survey(struct ab_engine *engine)
{
	struct ab_ledger_totals t = { 0 };
	struct ab_buf b = { 0 };
	int n = 0;

	if (engine->ledger)
		ab_ledger_totals(engine->ledger, &t);
	ab_buf_jsonf(&b,
		     "{'allowed':%ju,'denied':%ju,'failed':%ju,'bytes_up':%ju,'bytes_down':%ju,"
		     "'closed':%ju,'open':[",
		     t.allowed, t.denied, t.failed, t.bytes_up, t.bytes_down,
		     engine->open_conns.closed);
	engine->open_conns.closed = 0;
	for (const struct ab_conn *conn = engine->conns; conn && n < SURVEYED; conn = conn->next) {
		struct ab_request_record r;

		if (!ab_conn_describe(conn, &r))
			continue;
		n++;
		ab_buf_jsonf(&b,
			     ",{'domain':%s,'port':%u,'door':%s,'bytes_up':%ju,'bytes_down':%ju,"
			     "'ms':%ju}",
			     r.host, r.port, ab_door_names[r.door], r.bytes_up, r.bytes_down, r.ms);
	}
	ab_buf_puts(&b, "]}");
	return ab_buf_take(&b);
}
