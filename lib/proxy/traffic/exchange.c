/*
 * Theory of operation.
 *
 *	reading		a head from the client, with a deadline; a kept server
 *			connection is closed when it ends or sends anything
 *	waiting		proxy mode only, conn/waiting.c: for an answer
 *	dialling	the same; the head stays in client.in, because how it
 *			is written depends on the server reached
 *	passing		exchange_bodies.c: request and response at once
 *	lingering	exchange_end.c: the response is sent; the client's
 *			bytes are discarded until it closes, with a deadline
 *
 * Should: forward each byte at once; own no buffer between requests.
 * Mustn't: begin a request before the previous response is complete; send a
 * head that was not judged; keep a connection whose framing is in doubt; repeat
 * a request that may have had an effect.
 */
#include "proxy/traffic/exchange.h"

#include "proxy/io/tls.h"
#include "proxy/secrets/vault.h"
#include "proxy/traffic/exchange_state.h"
#include "proxy/traffic/tunnel.h"

/* Maximum length of a path in a record. */
enum {
	PATH_MAX_RECORDED = 1024,
	PATH_MAX_INSPECTED = 8 * 1024, /* where paths are judged */
};

/* Without the query. */
static char *copy_path(const struct ab_http_request *head, size_t most)
{
	size_t len = 0;

	while (len < head->path.len && len < most && head->path.s[len] != '?')
		len++;
	return len ? ab_strndup(head->path.s, len) : ab_strdup("/");
}

static bool is_safe(struct ab_http_text method)
{
	static const char *const safe[] = { "GET", "HEAD", "OPTIONS", "TRACE" };

	for (size_t i = 0; i < AB_COUNT(safe); i++)
		if (ab_http_is_exactly(method, safe[i]))
			return true;
	return false;
}

static void store_request(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_exchange_request *rq = ab_exchange_request_new(conn);

	rq->method = ab_strndup(head->method.s, head->method.len);
	rq->path = copy_path(head, conn->http->mode == AB_EXCHANGE_INSPECTED ? PATH_MAX_INSPECTED
									     : PATH_MAX_RECORDED);
	rq->minor = head->head.minor;
	rq->keep = head->head.keep;
	rq->expects = head->head.expect;
	rq->upgrade = head->head.upgrade;
	rq->grpc = ab_http_grpc(&head->head);
	rq->to_head = ab_http_is_exactly(head->method, "HEAD");
	rq->repeatable = head->head.body == AB_HTTP_NONE && is_safe(head->method) && !rq->upgrade;
}

/* Unchanged, but without an upgrade that would hide later requests. */
static void send_raw(struct ab_conn *conn, const struct ab_http_request *head)
{
	bool unjudged = head->head.upgrade_unjudged;
	size_t raw = unjudged ? 0 : head->head.size;

	/* The server already has the method (tunnel_first_bytes.c). */
	if (conn->ahead && unjudged) {
		ab_exchange_cut(conn, "its method was sent alone, and it asks for an upgrade");
		return;
	}
	if (unjudged) {
		ab_http_write_without_upgrade(&conn->server.out, head);
		ab_buf_skip(&conn->client.in, head->head.size);
	}
	if (conn->ahead) {
		ab_buf_skip(&conn->client.in, conn->ahead);
		raw -= conn->ahead;
		conn->ahead = 0;
	}
	ab_exchange_watch_body(conn, &head->head);
	if (conn->http->request->swap && raw) {
		ab_buf_add(&conn->server.out, ab_buf_bytes(&conn->client.in), raw);
		ab_buf_skip(&conn->client.in, raw);
		raw = 0;
	}
	ab_exchange_pass(conn, &head->head, raw);
}

/* Send it to conn->server, then pass the response. */
static void send_request(struct ab_conn *conn, const struct ab_http_request *head)
{
	const struct ab_upstream *upstream = conn->engine->setup->upstream;
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_http_hop hop = {
		.host = &rq->host,
		.port = rq->port,
		.tls = ab_conn_tls(conn),
		.upstream = conn->upstream && !ab_conn_tls(conn) && !ab_exchange_fixed(conn->http),
		.credentials = upstream ? upstream->credentials : NULL,
	};
	struct ab_swapped swapped;

	if (ab_exchange_token(conn, head) || ab_exchange_gather(conn, head) ||
	    !ab_exchange_inspect(conn, head, &hop, &swapped))
		return;
	if (conn->http->mode == AB_EXCHANGE_TUNNEL) {
		ab_swapped_fini(&swapped);
		send_raw(conn, head);
		return;
	}
	if (!ab_exchange_write(conn, &swapped, &hop))
		return;
	if (!ab_exchange_fixed(conn->http) && rq->repeatable)
		rq->head = head->head.size;
	else
		ab_buf_skip(&conn->client.in, head->head.size);
	ab_exchange_pass(conn, &head->head, 0);
}

/* Parse the head in client.in again after a wait, and go on with it. */
static void read_again(struct ab_conn *conn,
		       void (*go_on)(struct ab_conn *conn, const struct ab_http_request *head))
{
	struct ab_http_scan scan = { 0 };
	struct ab_http_request head;

	if (ab_http_read_request(&scan, ab_buf_bytes(&conn->client.in), conn->client.in.len,
				 &head) > 0)
		go_on(conn, &head);
	else
		ab_conn_close(conn, true);
}

void ab_exchange_send_again(struct ab_conn *conn)
{
	read_again(conn, send_request);
}

static void server_is_late(struct ab_conn *conn)
{
	ab_exchange_fail(conn, 504, AB_SERVER_TLS_LATE);
}

/* The server behind the gateway must prove its name first. */
static void handshake_with_server(struct ab_conn *conn)
{
	if (ab_side_read(&conn->client, AB_HTTP_HEAD_MAX) == AB_IO_FAILED) {
		ab_conn_close(conn, true);
		return;
	}
	switch (ab_tls_handshake(conn->server.tls)) {
	case AB_TLS_WAIT:
		return;
	case AB_TLS_FAILED:
		ab_exchange_fail(conn, 502, ab_tls_why(conn->server.tls));
		return;
	case AB_TLS_OK:
		break;
	}
	ab_conn_deadline(conn, 0);
	ab_exchange_send_again(conn);
}

static void server_dialled(struct ab_conn *conn, const struct ab_dialled *result)
{
	struct ab_exchange *x = conn->http;
	struct ab_exchange_request *rq = x->request;
	struct ab_dial_failure failure;

	if (result->result == AB_DIAL_FORBIDDEN) {
		rq->verdict = result->verdict;
		ab_verdict_keep(&rq->verdict, &rq->entry);
		ab_exchange_deny(conn, AB_FAULT_ANSWER, 403, NULL);
		return;
	}
	if (result->result != AB_DIAL_OK) {
		ab_exchange_failure(result, conn->engine->setup->upstream, &failure);
		ab_exchange_fail(conn, failure.status, failure.why);
		return;
	}
	x->peer = ab_strdup(rq->host.text);
	x->peer_port = rq->port;
	x->peer_tls = rq->gateway;
	if (rq->gateway) {
		conn->server.tls = ab_tls_connect(conn->engine->inspection.site, &conn->server,
						  &rq->host, AB_TLS_HTTP1);
		if (!conn->server.tls) {
			ab_exchange_fail(conn, 502, "cannot set up TLS");
			return;
		}
		ab_conn_deadline_then(conn, AB_SERVER_TLS_MS, server_is_late);
		conn->step = handshake_with_server;
		handshake_with_server(conn);
		return;
	}
	ab_exchange_send_again(conn);
}

void ab_exchange_dial(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;

	ab_exchange_close_server(conn);
	free(ab_take(conn->address));
	rq->reused = false;
	ab_conn_dial(conn, &rq->host, rq->port, !rq->gateway, server_dialled);
}

/* Is the open connection one to the server of this request? A kept one may be that of
 * the request before. */
static bool has_server(const struct ab_conn *conn)
{
	const struct ab_exchange *x = conn->http;
	const struct ab_exchange_request *rq = x->request;

	return ab_side_is_open(&conn->server) && x->peer && strcmp(x->peer, rq->host.text) == 0 &&
	       x->peer_port == rq->port && x->peer_tls == rq->gateway;
}

/* A length that is declared; chunks are counted as they pass. */
static bool deny_declared_length(struct ab_conn *conn, const struct ab_http_request *head)
{
	uint64_t most = conn->engine->setup->policy->net.max_request_body;

	if (!most || head->head.body != AB_HTTP_LENGTH || head->head.length <= most)
		return false;
	ab_exchange_deny_length(conn);
	return true;
}

static void send_or_dial(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_swapped swapped;

	if (deny_declared_length(conn, head))
		return;
	/* Do not dial for a request that will not be sent. */
	if (!ab_exchange_inspect(conn, head, NULL, &swapped))
		return;
	ab_swapped_fini(&swapped);
	/* The server may close a kept connection before the request arrives, so use one
	 * only for requests that can be sent again. */
	if (has_server(conn) && conn->http->request->repeatable) {
		conn->http->request->reused = true;
		send_request(conn, head);
		return;
	}
	ab_exchange_dial(conn);
}

void ab_exchange_resume(struct ab_conn *conn)
{
	bool connected = ab_exchange_fixed(conn->http) || has_server(conn);

	read_again(conn, connected ? send_request : send_or_dial);
}

static bool is_allowed(const struct ab_request_record *r)
{
	return r->fault == AB_FAULT_NONE && r->verdict.access == AB_ACCESS_ALLOW;
}

static void deny_request(struct ab_conn *conn, struct ab_request_record *r)
{
	free(ab_take(conn->address));
	conn->http->request->fault = r->fault;
	ab_exchange_deny_record(conn, r);
}

/* After ab_waiting_begin. */
static void resume_request(struct ab_conn *conn, struct ab_request_record *r)
{
	struct ab_exchange_request *rq = conn->http->request;

	if (!is_allowed(r)) {
		deny_request(conn, r);
		return;
	}
	rq->verdict = r->verdict;
	ab_verdict_keep(&rq->verdict, &rq->entry);
	read_again(conn, send_or_dial);
}

static void handle_proxy_request(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_exchange_request *rq = conn->http->request;
	struct ab_request_record r;

	if (head->form != AB_HTTP_ABSOLUTE && !ab_exchange_route(conn, head)) {
		ab_exchange_refuse(conn, 400,
				   "this is a proxy: use absolute URLs, http://host/path");
		return;
	}
	if (!rq->gateway) {
		rq->host = head->host;
		rq->port = head->port ? head->port : 80;
	}
	if (ab_exchange_trips(conn, head))
		return;
	ab_conn_judge(conn, &rq->host, rq->port, &rq->verdict);
	ab_verdict_keep(&rq->verdict, &rq->entry);
	ab_exchange_describe(conn, &r);
	r.address = NULL;
	if (ab_waiting_begin(conn, &rq->host, &r, resume_request)) {
		/* A kept server must not send anything meanwhile. */
		ab_exchange_close_server(conn);
		free(ab_take(conn->address));
	} else if (!is_allowed(&r)) {
		deny_request(conn, &r);
	} else {
		send_or_dial(conn, head);
	}
}

/*
 * Does the request name the tunnel's target? It may omit the port: clients
 * differ about when to name it. A tunnel to an address has no name to compare:
 * then the requested name itself must be allowed.
 */
static bool matches_tunnel(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_verdict verdict;
	struct ab_host host;

	if (!head->has_host)
		return true;
	if (head->port && head->port != conn->port)
		return false;
	host = head->host;
	if (strcmp(host.text, conn->host->text) == 0)
		return true;
	ab_conn_judge(conn, &host, conn->port, &verdict);
	if (strcmp(host.text, conn->host->text) == 0)
		return true;
	return conn->host->kind != AB_HOST_NAME &&
	       !ab_inspection_covers(&conn->engine->inspection, &host, conn->port) &&
	       verdict.access == AB_ACCESS_ALLOW;
}

static void handle_tunnel_request(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_exchange_request *rq = conn->http->request;

	if (head->form == AB_HTTP_AUTHORITY) {
		ab_exchange_refuse(conn, 400, "CONNECT is not possible inside a tunnel");
		return;
	}
	if (head->has_host && strcmp(head->host.text, rq->host.text) != 0)
		rq->asked = ab_strdup(head->host.text);
	if (ab_exchange_trips(conn, head))
		return;
	if (!matches_tunnel(conn, head))
		ab_exchange_deny(conn, AB_FAULT_AUTHORITY, 403, NULL);
	else if (conn->failure)
		ab_exchange_fail(conn, 502, conn->failure);
	else if (!deny_declared_length(conn, head))
		send_request(conn, head);
}

static void open_tunnel(struct ab_conn *conn, const struct ab_http_request *head)
{
	struct ab_vault *vault = conn->engine->inspection.vault;

	if (vault)
		conn->trips = (uint16_t)(1 + ab_vault_find(vault, ab_buf_bytes(&conn->client.in),
							   head->head.size));
	ab_buf_skip(&conn->client.in, head->head.size);
	ab_exchange_close_server(conn);
	free(ab_take(conn->address));
	ab_exchange_free(conn);
	conn->kind = NULL;
	conn->begun = conn->engine->loop.now;
	conn->up.moved = conn->down.moved = 0;
	conn->server.sent = 0;
	ab_tunnel_start(conn, AB_DOOR_CONNECT, &head->host, head->port);
}

static void begin_request(struct ab_conn *conn, const struct ab_http_request *head)
{
	bool proxy = conn->http->mode == AB_EXCHANGE_PROXY;

	ab_conn_deadline(conn, 0);
	ab_conn_whole(conn);
	if (proxy && head->form == AB_HTTP_AUTHORITY) {
		open_tunnel(conn, head);
		return;
	}
	store_request(conn, head);
	if (proxy)
		handle_proxy_request(conn, head);
	else
		handle_tunnel_request(conn, head);
}

/* Bytes that a server sends before a request would be taken for the response to
 * the next one. */
static bool server_is_quiet(struct ab_conn *conn)
{
	if (!ab_side_is_open(&conn->server) ||
	    (!conn->server.in.len && ab_side_read(&conn->server, AB_HTTP_HEAD_MAX) == AB_IO_WAIT))
		return true;
	if (conn->http->mode == AB_EXCHANGE_PROXY) {
		ab_exchange_close_server(conn);
		return true;
	}
	ab_exchange_end(conn);
	return false;
}

static void refuse_head(struct ab_conn *conn, int status)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_conn_whole(conn);
	ab_http_put_asked(&line, conn->client.in.data, conn->client.in.len);
	ab_exchange_request_new(conn)->line = ab_buf_take(&line);
	if (!ab_exchange_trips_unread(conn))
		ab_exchange_refuse(conn, status, conn->http->scan.why);
}

static void read_request(struct ab_conn *conn)
{
	struct ab_exchange *x = conn->http;
	struct ab_side *client = &conn->client;
	struct ab_http_request head;

	if (!server_is_quiet(conn))
		return;
	for (;;) {
		size_t have = client->in.len;
		ssize_t len = have ? ab_http_read_request(&x->scan, ab_buf_bytes(&client->in), have,
							  &head)
				   : 0;
		enum ab_io io;

		if (len > 0) {
			begin_request(conn, &head);
			return;
		}
		if (len < 0) {
			refuse_head(conn, (int)-len);
			return;
		}
		if (have && !x->head_begun) {
			x->head_begun = true;
			ab_conn_half_open(conn);
			if (x->served)
				ab_conn_deadline(conn, AB_HEAD_MS);
		}
		io = ab_side_read(client, AB_HTTP_HEAD_MAX);
		if (io == AB_IO_WAIT)
			return;
		if (io != AB_IO_DONE) {
			ab_conn_close(conn, io == AB_IO_FAILED);
			return;
		}
	}
}

void ab_exchange_next(struct ab_conn *conn)
{
	struct ab_exchange *x = conn->http;

	x->scan = (struct ab_http_scan){ 0 };
	x->head_begun = false;
	conn->step = read_request;
	ab_conn_deadline(conn, AB_IDLE_MS);
	ab_conn_again(conn);
}

void ab_exchange_repeat(struct ab_conn *conn)
{
	if (conn->http)
		conn->http->served = true;
}

void ab_exchange_start(struct ab_conn *conn, enum ab_exchange_mode mode)
{
	conn->http = ab_alloc(sizeof(*conn->http));
	conn->http->mode = mode;
	if (!conn->carrier)
		conn->kind = &ab_exchange_kind;
	conn->step = read_request;
	ab_conn_deadline(conn, AB_HANDSHAKE_MS);
	/* Bytes in flight belong to no request. */
	if (conn->up.held || conn->down.held)
		ab_conn_close(conn, true);
	else
		read_request(conn);
}
