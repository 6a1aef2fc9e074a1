/*
 * Theory of operation.
 *
 *	reading		the client's first bytes; the server's are not read
 *	handshake	with both at once; if the client offers HTTP/2, first with the
 *			server, which determines the protocol for both
 *	exchanging	exchange.c or multiplex.c, requests and responses decrypted
 *
 * If the server's certificate is bad, or the server takes too long, the client gets an
 * HTTP response to its first request: a failed handshake would not tell it the reason.
 *
 * Mustn't: send a byte of a request to a server that has not proved its name.
 */

#include "proxy/io/tls.h"
#include "proxy/traffic/exchange.h"
#include "proxy/traffic/multiplex.h"
#include "proxy/traffic/tunnel.h"
#include "proxy/wire/hello.h"

/* It was allowed and failed. */
static void record_failure(struct ab_conn *conn, const char *why)
{
	struct ab_request_record r;

	ab_tunnel_describe(conn, &r);
	r.error = why;
	conn->unrecorded = true;
	ab_conn_record(conn, &r);
	/* No reset: the TLS alert must still reach the client. */
	ab_conn_close(conn, false);
}

static void give_up_server(struct ab_conn *conn, const char *why)
{
	conn->failure = ab_strdup(why);
	ab_side_close(&conn->server, true);
}

static void end_handshakes(struct ab_conn *conn)
{
	if (ab_tls_is_h2(conn->client.tls))
		ab_multiplex_start(conn);
	else
		ab_exchange_start(conn, AB_EXCHANGE_INSPECTED);
}

/* The client's handshake is done. */
static void server_is_late(struct ab_conn *conn)
{
	give_up_server(conn, AB_SERVER_TLS_LATE);
	end_handshakes(conn);
}

static void handshake_with_both(struct ab_conn *conn)
{
	enum ab_tls_end client = ab_tls_handshake(conn->client.tls);
	enum ab_tls_end server = conn->server.tls ? ab_tls_handshake(conn->server.tls) : AB_TLS_OK;

	if (client == AB_TLS_FAILED) {
		if (ab_tls_no_protocol(conn->client.tls))
			ab_tunnel_cut(conn, AB_FAULT_HTTP1, NULL);
		else
			record_failure(conn, ab_tls_why(conn->client.tls));
		return;
	}
	if (server == AB_TLS_FAILED) {
		give_up_server(conn, ab_tls_why(conn->server.tls));
		server = AB_TLS_OK;
	}
	if (client == AB_TLS_OK && server == AB_TLS_OK)
		end_handshakes(conn);
	else if (client == AB_TLS_OK && !conn->late)
		ab_conn_deadline_then(conn, AB_SERVER_TLS_MS, server_is_late);
}

/* The client speaks what the server speaks; HTTP/1.1, if it can, with one whose
 * certificate is bad. */
static unsigned protocols_of(const struct ab_conn *conn)
{
	if (!conn->server.tls)
		return AB_TLS_HTTP1 | AB_TLS_H2;
	return ab_tls_is_h2(conn->server.tls) ? AB_TLS_H2 : AB_TLS_HTTP1;
}

static void handshake_with_client(struct ab_conn *conn, unsigned protocols)
{
	conn->client.tls =
		ab_tls_accept(conn->engine->inspection.site, &conn->client, conn->host, protocols);
	if (!conn->client.tls) {
		record_failure(conn, "cannot set up TLS");
		return;
	}
	conn->intercepted = true;
	ab_conn_deadline(conn, AB_HANDSHAKE_MS);
	conn->step = handshake_with_both;
	handshake_with_both(conn);
}

static void first_server_is_late(struct ab_conn *conn)
{
	give_up_server(conn, AB_SERVER_TLS_LATE);
	handshake_with_client(conn, protocols_of(conn));
}

static void handshake_with_server(struct ab_conn *conn)
{
	switch (ab_tls_handshake(conn->server.tls)) {
	case AB_TLS_WAIT:
		return;
	case AB_TLS_FAILED:
		give_up_server(conn, ab_tls_why(conn->server.tls));
		break;
	case AB_TLS_OK:
		break;
	}
	handshake_with_client(conn, protocols_of(conn));
}

static void open_tls(struct ab_conn *conn, const struct ab_hello *hello)
{
	struct ab_tls_site *site = conn->engine->inspection.site;

	ab_tunnel_note_hello(conn, hello);
	if (hello->has_name && strcmp(hello->name.text, conn->host->text) != 0) {
		ab_tunnel_cut(conn, AB_FAULT_SNI, hello->name.text);
		return;
	}
	conn->server.tls = ab_tls_connect(site, &conn->server, conn->host,
					  hello->h2 ? AB_TLS_HTTP1 | AB_TLS_H2 : AB_TLS_HTTP1);
	if (!conn->server.tls) {
		record_failure(conn, "cannot set up TLS");
		return;
	}
	if (!hello->h2) {
		handshake_with_client(conn, AB_TLS_HTTP1);
		return;
	}
	ab_conn_deadline_then(conn, AB_SERVER_TLS_MS, first_server_is_late);
	conn->step = handshake_with_server;
	handshake_with_server(conn);
}

static void read_first_bytes(struct ab_conn *conn)
{
	struct ab_hello hello;
	enum ab_io io = ab_side_flush(&conn->client);

	while (io == AB_IO_DONE)
		io = ab_side_read(&conn->client, AB_HELLO_MAX);
	if (io == AB_IO_FAILED || (conn->client.eof && !conn->client.in.len)) {
		ab_conn_close(conn, io == AB_IO_FAILED);
		return;
	}
	/* The response to CONNECT goes before any TLS. */
	if (!conn->client.in.len || conn->client.out.len)
		return;
	switch (ab_hello_detect(ab_buf_bytes(&conn->client.in), conn->client.in.len, &hello)) {
	case AB_FIRST_MORE:
		if (conn->client.eof)
			ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
		return;
	case AB_FIRST_TLS:
		open_tls(conn, &hello);
		return;
	case AB_FIRST_HTTP:
		ab_exchange_start(conn, AB_EXCHANGE_INSPECTED);
		return;
	case AB_FIRST_HTTP2:
		/* The library's pointers are relocated with those of TLS. */
		if (conn->engine->inspection.site)
			ab_multiplex_start(conn);
		else
			ab_tunnel_cut(conn, AB_FAULT_HTTP2, NULL);
		return;
	case AB_FIRST_OTHER:
		ab_tunnel_cut(conn, AB_FAULT_OPAQUE, NULL);
		return;
	case AB_FIRST_BAD:
		ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
		return;
	}
}

void ab_tunnel_tls_start(struct ab_conn *conn)
{
	ab_conn_deadline(conn, AB_HANDSHAKE_MS);
	ab_conn_half_open(conn);
	conn->step = read_first_bytes;
	read_first_bytes(conn);
}
