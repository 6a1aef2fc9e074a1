#pragma once
/*
 * HTTP/2 between a client in the box and an inspected host, with TLS on both sides
 * or on none. Each stream becomes a connection of its own (conn->carrier), and its
 * request is judged, changed and recorded by proxy/traffic/exchange.h. Denying one
 * does not end the others. The byte counts of its record are those of the form of
 * HTTP/1.1; limits on bytes (proxy/filter/budgets.h) count the frames as they are
 * sent. Private to lib/proxy.
 */
#include "proxy/conn/conn.h"

/* Creates conn->multiplex and sets conn->step; begins with conn->client.in. With
 * conn->failure there is no server, and every request gets that reply. */
void ab_multiplex_start(struct ab_conn *conn);
