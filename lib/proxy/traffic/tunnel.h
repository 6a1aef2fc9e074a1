#ifndef AB_PROXY_TRAFFIC_TUNNEL_H
#define AB_PROXY_TRAFFIC_TUNNEL_H
/*
 * Tunnels: the host is judged, dialled at once, and the client's first bytes
 * are looked at before they are passed. The door says how success and failure
 * are told: 200 or 403 (CONNECT), a SOCKS reply, nothing or a reset
 * (transparent). Private to lib/proxy.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proxy/conn/conn.h"

/* The connection is a tunnel to this host from now on; nothing is judged or dialled. */
void ab_tunnel_adopt(struct ab_conn *conn, const struct ab_host *host, uint16_t port);
/* Bytes of the client that are already in conn->client.in are its first. */
void ab_tunnel_start(struct ab_conn *conn, enum ab_door door, const struct ab_host *host,
		     uint16_t port);
/* Both sides are there, and nothing is to be looked at (any more). */
void ab_tunnel_relay(struct ab_conn *conn);
/* What is known of it so far. */
void ab_tunnel_describe(const struct ab_conn *conn, struct ab_request_record *ret);
/* It stood, and is refused for what the client says in it, or for the name in
 * its hello (else NULL): recorded, with an id. `then` comes after that, if the
 * connection is still there. */
void ab_tunnel_deny(struct ab_conn *conn, enum ab_fault fault, const char *name,
		    void (*then)(struct ab_conn *conn));
/* The same, and the client sees a broken connection. */
void ab_tunnel_cut(struct ab_conn *conn, enum ab_fault fault, const char *name);
/* It stood, and may not any more: at once. */
void ab_tunnel_break(struct ab_conn *conn, enum ab_fault fault, const struct ab_verdict *verdict);
/* Write the record of a tunnel that ends, unless it has one. */
void ab_tunnel_end(struct ab_conn *conn);
/* The box is gone (engine->ending). Is anything left of what it has said? Then
 * the tunnel passes it on and ends. */
bool ab_tunnel_remains(const struct ab_conn *conn);
/* Let the client have what is in client.out, then end. */
void ab_tunnel_goodbye(struct ab_conn *conn);

/* tunnel_first_bytes.c: the connection is made; look at what the client sends. */
void ab_tunnel_look(struct ab_conn *conn);

#endif
