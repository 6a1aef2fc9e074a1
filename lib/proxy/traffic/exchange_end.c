#include "proxy/traffic/exchange_state.h"

#include "proxy/secrets/vault.h"
#include "proxy/traffic/tunnel.h"

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
	ab_free_all((*rq)->entry, (*rq)->method, (*rq)->path, (*rq)->asked, (*rq)->line,
		    (*rq)->error, (*rq)->target);
	ab_body_filter_free((*rq)->up.filter);
	ab_body_filter_free((*rq)->down.filter);
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
		.line = rq->line,
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

void ab_exchange_end(struct ab_conn *conn)
{
	ab_exchange_close_server(conn);
	ab_conn_linger(conn);
}

/* Record first: without a record there is no response. */
static void record_and_reply(struct ab_conn *conn, struct ab_request_record *r, int status)
{
	r->status = status;
	if (!ab_conn_record(conn, r))
		return;
	ab_exchange_reply(&conn->client.out, conn->engine->ledger, r, status);
	ab_exchange_end(conn);
}

bool ab_exchange_fail(struct ab_conn *conn, int status, const char *why)
{
	auto_request struct ab_exchange_request *rq = ab_take(conn->http->request);
	struct ab_request_record r;

	free(rq->error);
	rq->error = ab_strdup(why);
	describe_request(conn, rq, &r);
	record_and_reply(conn, &r, status);
	return false;
}

void ab_exchange_answer(struct ab_conn *conn, int status, const struct ab_buf *answer)
{
	auto_request struct ab_exchange_request *rq = ab_take(conn->http->request);
	struct ab_request_record r;

	describe_request(conn, rq, &r);
	r.status = status;
	r.bytes_down = answer->len;
	if (!ab_conn_record(conn, &r))
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

/* Another host's placeholder, or that of this host where it is not replaced: in clear, or an old one? */
static enum ab_fault find_fault(const struct ab_conn *conn, enum ab_fault fault)
{
	const struct ab_exchange_request *rq = conn->http->request;
	const struct ab_vault *vault = conn->engine->inspection.vault;
	bool tls = conn->intercepted || rq->gateway;
	size_t i = (size_t)rq->secret;

	if ((fault != AB_FAULT_TRIPWIRE && fault != AB_FAULT_RETIRED) || rq->secret < 0)
		return fault;
	if (!tls && ab_vault_has_host(vault, i, &rq->host))
		return AB_FAULT_CLEAR;
	return tls && ab_vault_bound(vault, i, &rq->host, rq->port) ? fault : AB_FAULT_TRIPWIRE;
}

enum ab_fault ab_exchange_tripped(struct ab_conn *conn, int owner)
{
	conn->http->request->secret = owner % AB_SECRETS_MAX;
	return owner < AB_SECRETS_MAX ? AB_FAULT_TRIPWIRE : AB_FAULT_RETIRED;
}

static void trip(const struct ab_conn *conn, enum ab_fault fault, int secret)
{
	if (fault == AB_FAULT_TRIPWIRE || fault == AB_FAULT_CLEAR)
		ab_inspection_trip(&conn->engine->inspection, secret, fault == AB_FAULT_CLEAR);
}

void ab_exchange_deny_record(struct ab_conn *conn, struct ab_request_record *r)
{
	conn->http->request->denial_status = 403;
	deny_with_record(conn, r);
}

bool ab_exchange_describe(const struct ab_conn *conn, struct ab_request_record *ret)
{
	if (!conn->http->request)
		return conn->host && ab_tunnel_describe(conn, ret);
	describe_request(conn, conn->http->request, ret);
	return true;
}

/* The response has begun, so there cannot be another one; or nobody waits for one. */
static void deny_and_close(struct ab_conn *conn, struct ab_request_record *r)
{
	struct ab_exchange_request *rq = ab_take(conn->http->request);

	if (ab_conn_deny(conn, r) == 0) {
		ab_conn_record(conn, r);
		ab_conn_close(conn, true);
	}
	free_request(&rq);
}

static void break_exchange(struct ab_conn *conn, enum ab_fault fault,
			   const struct ab_verdict *verdict)
{
	struct ab_request_record r;

	if (!conn->http->request) {
		ab_tunnel_break(conn, fault, verdict);
		return;
	}
	describe_request(conn, conn->http->request, &r);
	r.fault = fault;
	r.verdict = *verdict;
	deny_and_close(conn, &r);
}

bool ab_exchange_deny(struct ab_conn *conn, enum ab_fault fault, int status, const char *why)
{
	struct ab_exchange_request *rq = conn->http->request;
	int secret = rq->secret;
	struct ab_request_record r;

	fault = find_fault(conn, fault);
	rq->fault = fault;
	rq->denial_status = status;
	describe_request(conn, rq, &r);
	r.error = why;
	if (rq->down.state == AB_PASS_HEAD)
		deny_with_record(conn, &r);
	else
		deny_and_close(conn, &r);
	trip(conn, fault, secret);
	return false;
}

bool ab_exchange_trip(struct ab_conn *conn)
{
	int owner = ab_swap_body_foreign(conn->http->request->swap);

	return ab_exchange_deny(conn, ab_exchange_tripped(conn, owner), 403, NULL);
}

bool ab_exchange_deny_length(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;

	free(rq->error);
	rq->error = ab_printf("more than %ju bytes (network.maxRequestBody)",
			      conn->engine->setup->policy->net.max_request_body);
	return ab_exchange_deny(conn, AB_FAULT_BODY, 413, rq->error);
}

bool ab_exchange_refuse(struct ab_conn *conn, int status, const char *why)
{
	return ab_exchange_deny(conn, AB_FAULT_MALFORMED, status, why);
}

bool ab_exchange_cut(struct ab_conn *conn, const char *why)
{
	struct ab_exchange_request *rq = conn->http->request;

	free(rq->error);
	rq->error = ab_strdup(why);
	ab_conn_close(conn, true);
	return false;
}

void ab_exchange_done(struct ab_conn *conn)
{
	struct ab_exchange *x = conn->http;
	auto_request struct ab_exchange_request *rq = ab_take(x->request);
	struct ab_request_record r;

	describe_request(conn, rq, &r);
	if (!ab_conn_record(conn, &r))
		return;
	if (rq->raw) {
		ab_conn_close(conn, false);
		return;
	}
	if (!rq->keep) {
		ab_exchange_end(conn);
		return;
	}
	if (!rq->server_keep || rq->up.state != AB_PASS_OVER)
		ab_exchange_close_server(conn);
	x->served = true;
	ab_exchange_next(conn);
}

void ab_exchange_free(struct ab_conn *conn)
{
	struct ab_exchange *x = ab_take(conn->http);
	auto_request struct ab_exchange_request *rq = ab_take(x->request);
	struct ab_request_record r;

	ab_free_all(x->peer, x);
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
