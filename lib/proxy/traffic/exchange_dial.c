#include <stdlib.h>

#include "base/data/mem.h"
#include "proxy/io/tls.h"
#include "proxy/traffic/exchange_state.h"

ssize_t ab_exchange_read_again(struct ab_conn *conn, struct ab_http_request *ret)
{
	struct ab_http_scan scan = { 0 };

	return ab_http_read_request(&scan, ab_buf_bytes(&conn->client.in), conn->client.in.len,
				    ret);
}

static void server_is_late(struct ab_conn *conn)
{
	ab_exchange_fail(conn, 504, AB_SERVER_TLS_LATE);
}

/* The server behind the gateway must prove its name first. */
static void handshake_with_server(struct ab_conn *conn)
{
	struct ab_http_request head;
	ssize_t len;

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
	len = ab_exchange_read_again(conn, &head);
	if (len > 0)
		ab_exchange_send(conn, &head, (size_t)len);
	else
		ab_conn_close(conn, true);
}

static void server_dialled(struct ab_conn *conn, const struct ab_dialled *result)
{
	struct ab_exchange *x = conn->http;
	struct ab_exchange_request *rq = x->request;
	struct ab_http_request head;
	const char *why;
	ssize_t len;
	int status;

	if (result->address.text[0])
		conn->address = ab_strdup(result->address.text);
	switch (result->result) {
	case AB_DIAL_OK:
		break;
	case AB_DIAL_FORBIDDEN:
		rq->verdict = result->verdict;
		ab_verdict_keep(&rq->verdict, &rq->entry);
		ab_exchange_deny(conn, AB_FAULT_ANSWER);
		return;
	case AB_DIAL_NO_NAME:
	case AB_DIAL_NO_ANSWER:
	case AB_DIAL_FAILED:
	case AB_DIAL_TIMEOUT:
	case AB_DIAL_UPSTREAM:
		status = ab_exchange_failure(result, &why);
		ab_exchange_fail(conn, status, why);
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
	len = ab_exchange_read_again(conn, &head);
	if (len > 0)
		ab_exchange_send(conn, &head, (size_t)len);
	else
		ab_conn_close(conn, true);
}

/* Only notice that the client has closed. */
static void wait_for_dial(struct ab_conn *conn)
{
	if (ab_side_read(&conn->client, AB_HTTP_HEAD_MAX) == AB_IO_FAILED)
		ab_conn_close(conn, true);
}

void ab_exchange_dial(struct ab_conn *conn)
{
	struct ab_exchange_request *rq = conn->http->request;

	ab_exchange_close_server(conn);
	free(ab_take(conn->address));
	rq->reused = false;
	conn->step = wait_for_dial;
	ab_conn_dial(conn, &rq->host, rq->port, !rq->gateway, server_dialled);
}
