#pragma once
/*
 * HTTP/1 between a client in the box and a server: one request after another on
 * a kept connection, each judged. Private to lib/proxy.
 *
 * AB_EXCHANGE_PROXY: the client uses a proxy. Requests with an absolute URL are
 * judged, the server is dialled (again if the next request goes elsewhere),
 * hop-by-hop headers are removed. CONNECT starts a tunnel (ab_tunnel_start) and
 * ends the exchange.
 *
 * AB_EXCHANGE_TUNNEL: conn->server is connected to conn->host, and the client
 * knows no proxy. Every request must name that host; heads pass unchanged.
 *
 * AB_EXCHANGE_INSPECTED: the same for an inspected host, with TLS on both sides
 * or on none. Heads are judged by method and path and written anew. As in a
 * request to the gateway (proxy mode), values replace placeholders in requests
 * and placeholders replace values in responses.
 *
 * HTTP/2: each stream is a connection of its own in the form of HTTP/1.1, inspected
 * (proxy/traffic/multiplex.h).
 *
 * Each request is one record. Its byte counts are those of the bodies as sent,
 * with chunk framing; after an upgrade, of everything.
 */
#include "proxy/conn/conn.h"
#include "proxy/wire/socks.h"

enum ab_exchange_mode {
	AB_EXCHANGE_PROXY,
	AB_EXCHANGE_TUNNEL,
	AB_EXCHANGE_INSPECTED,
};

/* Creates conn->http and sets conn->step; begins with conn->client.in. */
void ab_exchange_start(struct ab_conn *conn, enum ab_exchange_mode mode);
/* The server has not processed the request in progress: if it is lost now, reset the
 * client, which repeats the request. */
void ab_exchange_repeat(struct ab_conn *conn);
extern const struct ab_conn_kind ab_exchange_kind;
/* Write the record of the request in progress, free conn->http. */
void ab_exchange_free(struct ab_conn *conn);

/* Append the proxy's own response to a denial or a failure (`r`) to `out`, with
 * "Connection: close". Status: 403, 400, 431, 502, 504 ... */
void ab_exchange_reply(struct ab_buf *out, struct ab_ledger *ledger,
		       const struct ab_request_record *r, int status);
/* What the client is told about a failed (not forbidden) dial. */
struct ab_dial_failure {
	int status; /* of HTTP */
	enum ab_socks_reply socks;
	char why[512]; /* names the upstream proxy if that one failed */
};
void ab_exchange_failure(const struct ab_dialled *result, const struct ab_upstream *upstream,
			 struct ab_dial_failure *ret);

/* A value of this secret has arrived, or could not be got: resume the requests that wait for it. */
void ab_exchange_wake(struct ab_engine *engine, size_t secret);
