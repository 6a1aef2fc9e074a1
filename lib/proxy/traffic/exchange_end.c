#include "proxy/traffic/exchange_state.h"

#include <stdlib.h>

#include "base/data/mem.h"
#include "proxy/traffic/tunnel.h"

enum {
	LINGER_MS = 10000,
	LINGER_MAX = 64 << 20, /* bytes discarded */
	LINGER_ROOM = 16 * 1024,
	LINGER_SHARE = 64, /* reads per turn */
};

struct ab_exchange_request *ab_exchange_request_new(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = ab_alloc(sizeof(*rq));

	rq->begun = conn->engine->loop.now;
	rq->secret = -1;
	/* The server may have the method already (tunnel_first_bytes.c). */
	rq->sent_before = conn->server.sent > conn->ahead ? conn->server.sent - conn->ahead : 0;
	if (ab_exchange_fixed(conn->http)) {
		rq->host = *conn->host;
		rq->port = conn->port;
		rq->verdict = conn->verdict;
		/* The requests' records cover the tunnel, unless the server
		 * sent something before the first one. */
		if (!conn->http->served)
			conn->unrecorded = conn->down.moved == 0;
	}
	conn->http->request = rq;
	return rq;
}

static void free_request(struct ab_exchange_request **rq)
{
	if (!*rq)
		return;
	free((*rq)->entry);
	free((*rq)->method);
	free((*rq)->path);
	free((*rq)->asked);
	free((*rq)->error);
	free((*rq)->target);
	ab_body_filter_free((*rq)->up.filter);
	ab_body_filter_free((*rq)->down.filter);
	ab_scrub_free((*rq)->scrub);
	ab_swap_body_free((*rq)->swap);
	ab_sign_chunks_free((*rq)->chunks);
	free(*rq);
}
#define auto_request __attribute__((cleanup(free_request)))

static void describe_request(const struct ab_conn *conn, const struct ab_exchange_request *rq,
			     struct ab_request_record *ret)
{
	*ret = (struct ab_request_record){
		.door = rq->gateway ? AB_DOOR_GATEWAY : conn->door,
		.host = rq->port ? rq->host.text : "(no host)",
		.port = rq->port,
		.method = rq->method,
		.path = rq->path,
		.sni = rq->asked ? rq->asked : conn->sni,
		/* Without a target it would be the previous request's. */
		.address = rq->port ? conn->address : NULL,
		.secret = ab_inspection_secret(&conn->engine->inspection, rq->secret),
		.error = rq->error,
		.verdict = rq->verdict,
		.fault = rq->fault,
		.status = rq->status,
		.bytes_up = conn->server.sent - rq->sent_before,
		.bytes_down = rq->head_down + ab_pass_bytes(&rq->down, &conn->down),
		.ms = conn->engine->loop.now - rq->begun,
		.intercepted = conn->intercepted,
		.tls = conn->tls,
		.denial = conn->denial, /* if it was denied while it waited */
		.why = conn->engine->cut,
	};
}

void ab_exchange_close_server(struct ab_conn *conn)
{
	ab_flow_fini(&conn->up, conn->engine->pipes);
	ab_flow_fini(&conn->down, conn->engine->pipes);
	ab_side_close(&conn->server, false);
	conn->server.eof = conn->server.shut = false;
	free(ab_take(conn->http->peer));
}

/*
 * Send client.out and half-close. Closing with unread bytes would reset the
 * connection and the client would lose the response, so read them, up to a
 * limit, until the client has closed too.
 */
static void linger_until_closed(struct ab_conn *conn)
{
	struct ab_exchange *x = conn->http;
	enum ab_io io = ab_side_flush(&conn->client);

	if (io == AB_IO_WAIT)
		return;
	ab_side_shut(&conn->client);
	for (int i = 0; io == AB_IO_DONE && i < LINGER_SHARE; i++) {
		io = ab_side_read(&conn->client, LINGER_ROOM);
		x->discarded += conn->client.in.len;
		ab_buf_fini(&conn->client.in);
	}
	if (x->discarded > LINGER_MAX)
		io = AB_IO_FAILED;
	if (io == AB_IO_DONE)
		ab_conn_again(conn);
	else if (io != AB_IO_WAIT)
		ab_conn_close(conn, io == AB_IO_FAILED);
}

void ab_exchange_end(struct ab_conn *conn)
{
	ab_conn_whole(conn);
	ab_exchange_close_server(conn);
	ab_buf_fini(&conn->client.in);
	conn->step = linger_until_closed;
	ab_conn_deadline(conn, LINGER_MS);
	ab_conn_again(conn);
}

/* Record first: without a record there is no response. */
static void record_and_reply(struct ab_conn *conn, struct ab_request_record *r, int status)
{
	r->status = status;
	ab_conn_record(conn, r);
	if (conn->closed)
		return;
	ab_exchange_reply(&conn->client.out, conn->engine->ledger, r, status);
	ab_exchange_end(conn);
}

void ab_exchange_fail(struct ab_conn *conn, int status, const char *why)
{
	auto_request struct ab_exchange_request *rq = NULL;
	struct ab_request_record r;

	rq = ab_take(conn->http->request);
	free(rq->error);
	rq->error = ab_strdup(why);
	describe_request(conn, rq, &r);
	record_and_reply(conn, &r, status);
}

void ab_exchange_answer(struct ab_conn *conn, int status, const struct ab_buf *answer)
{
	auto_request struct ab_exchange_request *rq = ab_take(conn->http->request);
	struct ab_request_record r;

	describe_request(conn, rq, &r);
	r.status = status;
	r.bytes_down = answer->len;
	ab_conn_record(conn, &r);
	if (conn->closed)
		return;
	ab_buf_add(&conn->client.out, answer->data, answer->len);
	ab_exchange_end(conn);
}

/* May be called again later, once the process is identified. */
static void deny_with_record(struct ab_conn *conn, struct ab_request_record *r)
{
	auto_request struct ab_exchange_request *rq = NULL;

	if (ab_waiting_identify(conn, r, deny_with_record))
		return;
	rq = ab_take(conn->http->request);
	if (ab_conn_deny(conn, r) < 0)
		return;
	record_and_reply(conn, r, rq->denial_status);
}

static void deny_with_status(struct ab_conn *conn, enum ab_fault fault, int status, const char *why)
{
	struct ab_exchange_request *rq = conn->http->request;
	int secret = rq->secret;
	struct ab_request_record r;

	rq->fault = fault;
	rq->denial_status = status;
	describe_request(conn, rq, &r);
	r.error = why;
	deny_with_record(conn, &r);
	if (fault == AB_FAULT_TRIPWIRE)
		ab_inspection_trip(&conn->engine->inspection, secret);
}

void ab_exchange_deny_record(struct ab_conn *conn, struct ab_request_record *r)
{
	conn->http->request->denial_status = 403;
	deny_with_record(conn, r);
}

bool ab_exchange_describe(const struct ab_conn *conn, struct ab_request_record *ret)
{
	if (conn->http->request)
		describe_request(conn, conn->http->request, ret);
	else if (conn->host)
		ab_tunnel_describe(conn, ret);
	else
		return false;
	return true;
}

static void break_exchange(struct ab_conn *conn, enum ab_fault fault,
			   const struct ab_verdict *verdict)
{
	auto_request struct ab_exchange_request *rq = ab_take(conn->http->request);
	struct ab_request_record r;

	if (!rq) {
		ab_tunnel_break(conn, fault, verdict);
		return;
	}
	describe_request(conn, rq, &r);
	r.fault = fault;
	r.verdict = *verdict;
	if (ab_conn_deny(conn, &r) < 0)
		return;
	ab_conn_record(conn, &r);
	ab_conn_close(conn, true);
}

void ab_exchange_deny(struct ab_conn *conn, enum ab_fault fault)
{
	deny_with_status(conn, fault, 403, NULL);
}

/* Deny a request for its body. */
static void deny_body(struct ab_conn *conn, enum ab_fault fault, const char *why)
{
	auto_request struct ab_exchange_request *rq = NULL;
	struct ab_request_record r;

	if (conn->http->request->down.state == AB_PASS_HEAD) {
		deny_with_status(conn, fault, 403, why);
		return;
	}
	/* The response has begun, so there cannot be another one. */
	rq = ab_take(conn->http->request);
	rq->fault = fault;
	describe_request(conn, rq, &r);
	r.error = why;
	if (ab_conn_deny(conn, &r) < 0)
		return;
	ab_conn_record(conn, &r);
	ab_conn_close(conn, true);
	if (fault == AB_FAULT_TRIPWIRE)
		ab_inspection_trip(&conn->engine->inspection, rq->secret);
}

void ab_exchange_trip(struct ab_conn *conn)
{
	conn->http->request->secret = ab_swap_body_foreign(conn->http->request->swap);
	deny_body(conn, AB_FAULT_TRIPWIRE, NULL);
}

void ab_exchange_deny_token(struct ab_conn *conn, const char *why)
{
	deny_with_status(conn, AB_FAULT_TOKEN, 403, why);
}

void ab_exchange_unsigned(struct ab_conn *conn, const char *why)
{
	deny_body(conn, AB_FAULT_SIGNATURE, why);
}

void ab_exchange_refuse(struct ab_conn *conn, int status, const char *why)
{
	deny_with_status(conn, AB_FAULT_MALFORMED, status, why);
}

void ab_exchange_cut(struct ab_conn *conn, const char *why)
{
	struct ab_exchange_request *rq = conn->http->request;

	free(rq->error);
	rq->error = ab_strdup(why);
	ab_conn_close(conn, true);
}

void ab_exchange_done(struct ab_conn *conn)
{
	struct ab_exchange *x = conn->http;
	auto_request struct ab_exchange_request *rq = NULL;
	bool whole;
	struct ab_request_record r;

	rq = ab_take(x->request);
	whole = rq->up.state == AB_PASS_OVER;
	describe_request(conn, rq, &r);
	ab_conn_record(conn, &r);
	if (conn->closed)
		return;
	if (rq->raw) {
		ab_conn_close(conn, false);
		return;
	}
	if (!rq->keep) {
		ab_exchange_end(conn);
		return;
	}
	if (!rq->server_keep || !whole)
		ab_exchange_close_server(conn);
	x->served = true;
	ab_exchange_next(conn);
}

void ab_exchange_free(struct ab_conn *conn)
{
	struct ab_exchange *x = ab_take(conn->http);
	auto_request struct ab_exchange_request *rq = NULL;
	struct ab_request_record r;

	rq = ab_take(x->request);
	free(x->peer);
	free(x);
	if (!rq)
		return;
	describe_request(conn, rq, &r);
	if (!r.error)
		r.error = "the request ended before it was complete";
	ab_conn_record(conn, &r);
}

static void end_exchange(struct ab_conn *conn)
{
	ab_exchange_free(conn);
	if (conn->host)
		ab_tunnel_end(conn);
}

const struct ab_conn_kind ab_exchange_kind = {
	.describe = ab_exchange_describe,
	.break_off = break_exchange,
	.end = end_exchange,
};
