#pragma once
/*
 * Tunnels: the host is judged and dialled, and the client's first bytes are
 * judged before they are forwarded. The door determines the reply to the
 * client: 200 or 403 (CONNECT), a SOCKS reply, nothing or a reset
 * (transparent). Private to lib/proxy.
 */
#include "proxy/conn/conn.h"

struct ab_hello;

/* Make the connection a tunnel to this host; neither judges nor dials. */
void ab_tunnel_adopt(struct ab_conn *conn, const struct ab_host *host, uint16_t port);
/* The tunnel's first bytes may already be in conn->client.in. */
void ab_tunnel_start(struct ab_conn *conn, enum ab_door door, const struct ab_host *host,
		     uint16_t port);
/* Both sides are connected: relay bytes without judging them. */
void ab_tunnel_relay(struct ab_conn *conn);
/* Fill a record with its current state: true. */
bool ab_tunnel_describe(const struct ab_conn *conn, struct ab_request_record *ret);
/* The client speaks TLS: keep the name in its hello for the record. */
void ab_tunnel_note_hello(struct ab_conn *conn, const struct ab_hello *hello);
/* Deny an open tunnel for what the client sent in it; `name`: from its hello,
 * or NULL. Recorded with an id; then `then` is called, unless the connection
 * was closed. */
void ab_tunnel_deny(struct ab_conn *conn, enum ab_fault fault, const char *name,
		    void (*then)(struct ab_conn *conn));
/* The same, followed by a reset. */
void ab_tunnel_cut(struct ab_conn *conn, enum ab_fault fault, const char *name);
/* Deny an open tunnel that is no longer allowed; closes it at once. */
void ab_tunnel_break(struct ab_conn *conn, enum ab_fault fault, const struct ab_verdict *verdict);
/* Write the record of an ending tunnel, unless it has one. */
void ab_tunnel_end(struct ab_conn *conn);
/* The box has ended (engine->ending). Is there anything left to deliver? Then
 * the tunnel delivers it and closes. */
bool ab_tunnel_remains(const struct ab_conn *conn);
/* Send client.out to the client, then close. */
void ab_tunnel_finish(struct ab_conn *conn);

/* Look for a key exchange of SSH, if the box may use keys. */
void ab_tunnel_watch_kex(struct ab_conn *conn);
/* Move bytes from the server to the client. */
enum ab_io ab_tunnel_move_down(struct ab_conn *conn);

/* tunnel_first_bytes.c: the server is connected; judge the first bytes. */
void ab_tunnel_read_first(struct ab_conn *conn);

/*
 * tunnel_tls.c, instead of that: a tunnel to an inspected host (proxy/conn/inspected.h). The
 * proxy terminates the client's TLS with a certificate of the run's authority, opens its own TLS
 * to the server and verifies it, and passes the requests to proxy/traffic/exchange.h.
 * Unreadable traffic is denied.
 */
void ab_tunnel_tls_start(struct ab_conn *conn);
