#ifndef AB_PROXY_TRAFFIC_TUNNEL_TLS_H
#define AB_PROXY_TRAFFIC_TUNNEL_TLS_H
/*
 * A tunnel to a host that is looked into (proxy/conn/inspected.h): its TLS is opened,
 * towards the client with a certificate of the run's own, towards the server
 * as a client that checks; what is inside goes through proxy/traffic/exchange.h. What
 * cannot be read does not pass. Private to lib/proxy.
 */
#include "proxy/conn/conn.h"

/* Is this tunnel one of them? */
bool ab_tunnel_tls_wants(const struct ab_conn *conn);
/* In place of ab_tunnel_look: the server is connected. */
void ab_tunnel_tls_start(struct ab_conn *conn);

#endif
