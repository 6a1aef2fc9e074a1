#ifndef AB_PROXY_TRAFFIC_TUNNEL_TLS_H
#define AB_PROXY_TRAFFIC_TUNNEL_TLS_H
/*
 * A tunnel to an inspected host (proxy/conn/inspected.h): the proxy terminates
 * the client's TLS with a certificate of the run's authority, opens its own TLS
 * to the server and verifies it, and passes the requests to
 * proxy/traffic/exchange.h. Unreadable traffic is denied. Private to lib/proxy.
 */
#include "proxy/conn/conn.h"

/* Is this tunnel's host inspected? */
bool ab_tunnel_tls_applies(const struct ab_conn *conn);
/* Instead of ab_tunnel_read_first: the server is connected. */
void ab_tunnel_tls_start(struct ab_conn *conn);

#endif
