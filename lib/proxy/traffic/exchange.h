#ifndef AB_PROXY_TRAFFIC_EXCHANGE_H
#define AB_PROXY_TRAFFIC_EXCHANGE_H
/*
 * HTTP/1 between a client of the box and a server: one request after another
 * on a kept connection, each one judged. Private to lib/proxy.
 *
 * AB_EXCHANGE_PROXY: the client speaks to a proxy. Requests in absolute form
 * are judged, the server is dialled (again, when the next request goes
 * elsewhere), hop-by-hop headers are removed. CONNECT becomes a tunnel
 * (ab_tunnel_start) and ends the exchange.
 *
 * AB_EXCHANGE_TUNNEL: the client believes that it speaks to conn->host, and
 * conn->server is connected to it. The authority of every request must be
 * that host; heads are passed as they are.
 *
 * AB_EXCHANGE_LOOKED: the same for a host that is looked into, with TLS on
 * both sides or on none; or a request to the gateway, in proxy mode. Heads are
 * judged by method and path and written anew, with values for placeholders,
 * and answers have placeholders for values.
 *
 * Each request is one record. Its bytes are those of the bodies as they were
 * sent, chunk framing included, and after an upgrade everything.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/conn/conn.h"

enum ab_exchange_mode {
	AB_EXCHANGE_PROXY,
	AB_EXCHANGE_TUNNEL,
	AB_EXCHANGE_LOOKED,
};

/* Makes conn->http and sets conn->step; begins with conn->client.in. */
void ab_exchange_start(struct ab_conn *conn, enum ab_exchange_mode mode);
/* Write the record of a request that is under way, free conn->http. */
void ab_exchange_free(struct ab_conn *conn);

/* The text of a refusal or a failure, for any door that speaks HTTP: appended
 * to `out`, "Connection: close". `r` says who and why; status 403, 400, 431,
 * 502, 504 ... `run_id` names the denial (r->denial). */
void ab_exchange_answer(struct ab_buf *out, struct ab_ledger *ledger,
			const struct ab_request_record *r, int status);
/* The status for a dial that failed (not: was forbidden), and why. */
int ab_exchange_failure(const struct ab_dialled *result, const char **ret_words);

#endif
