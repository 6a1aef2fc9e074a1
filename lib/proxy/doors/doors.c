#include "proxy/doors/doors.h"

#include "proxy/dial/hosts_file.h"
#include "proxy/secrets/vault.h"
#include "proxy/traffic/exchange.h"
#include "proxy/traffic/tunnel.h"
#include "proxy/wire/hello.h"
#include "proxy/wire/socks.h"

static void flush_and_close(struct ab_conn *conn)
{
	enum ab_io io = ab_side_flush(&conn->client);

	if (io != AB_IO_WAIT)
		ab_conn_close(conn, io == AB_IO_FAILED);
}

/* The request does not name a usable target: record it, reply, close. `secret`:
 * whose placeholder is in it; or -1. */
static void refuse_socks(struct ab_conn *conn, enum ab_socks_reply reply, int secret)
{
	const struct ab_inspection *inspection = &conn->engine->inspection;
	struct ab_request_record r = { .door = AB_DOOR_SOCKS,
				       .host = "(not a host)",
				       .verdict = { .entry = "" },
				       .secret = ab_inspection_secret(inspection, secret),
				       .fault = secret < 0 ? AB_FAULT_MALFORMED
							   : AB_FAULT_TRIPWIRE };
	if (ab_conn_deny(conn, &r) < 0)
		return;
	ab_conn_record(conn, &r);
	ab_inspection_trip(inspection, secret, false);
	if (conn->closed)
		return;
	ab_socks_answer(&conn->client.out, reply);
	conn->step = flush_and_close;
	flush_and_close(conn);
}

/* Read more from the client. false: it must wait, or it was closed. */
static bool read_more(struct ab_conn *conn)
{
	enum ab_io io = ab_side_read(&conn->client, AB_HELLO_MAX);

	if (io == AB_IO_EOF || io == AB_IO_FAILED)
		ab_conn_close(conn, true);
	return io == AB_IO_DONE;
}

static void read_socks_request(struct ab_conn *conn)
{
	struct ab_buf *in = &conn->client.in;
	const struct ab_vault *vault = conn->engine->inspection.vault;
	struct ab_socks_request request;
	int secret = -1;
	ssize_t n;

	if (ab_side_flush(&conn->client) == AB_IO_FAILED) {
		ab_conn_close(conn, true);
		return;
	}
	do {
		n = ab_socks_request(ab_buf_bytes(in), in->len, &request);
	} while (n == 0 && read_more(conn));
	if (n < 0)
		ab_conn_close(conn, true);
	if (n <= 0)
		return;
	if (vault && request.reply != AB_SOCKS_OK)
		secret = ab_vault_find(vault, ab_buf_bytes(in), (size_t)n);
	ab_buf_skip(in, (size_t)n);
	if (request.reply != AB_SOCKS_OK)
		refuse_socks(conn, request.reply, secret);
	else
		ab_tunnel_start(conn, AB_DOOR_SOCKS, &request.host, request.port);
}

static void read_socks_greeting(struct ab_conn *conn)
{
	struct ab_buf *in = &conn->client.in;
	uint8_t answer[2] = { 5 };
	ssize_t n;

	do {
		n = ab_socks_greeting(ab_buf_bytes(in), in->len, &answer[1]);
	} while (n == 0 && read_more(conn));
	if (n < 0)
		ab_conn_close(conn, true);
	if (n <= 0)
		return;
	ab_buf_skip(in, (size_t)n);
	ab_buf_add(&conn->client.out, answer, sizeof(answer));
	conn->step = answer[1] ? flush_and_close : read_socks_request;
	conn->step(conn);
}

static void read_first_byte(struct ab_conn *conn)
{
	if (!read_more(conn))
		return;
	if (ab_buf_bytes(&conn->client.in)[0] == 5) {
		conn->door = AB_DOOR_SOCKS;
		conn->step = read_socks_greeting;
		read_socks_greeting(conn);
	} else {
		ab_exchange_start(conn, AB_EXCHANGE_PROXY);
	}
}

void ab_door_open_explicit(struct ab_engine *engine, int fd, uint16_t port)
{
	struct ab_conn *conn = ab_conn_new(engine, AB_DOOR_HTTP, fd, read_first_byte);

	(void)port;
	if (!conn)
		return;
	ab_conn_deadline(conn, AB_HANDSHAKE_MS);
	ab_conn_half_open(conn);
}

static void ignore_events(struct ab_conn *conn)
{
	(void)conn;
}

void ab_door_open_captured(struct ab_engine *engine, int fd, const struct ab_destination *to)
{
	struct ab_host host;
	struct ab_conn *conn = ab_conn_new(engine, AB_DOOR_TRANSPARENT, fd, ignore_events);

	if (!conn)
		return;
	if (to)
		ab_host_from_addr(to->v6, to->addr, &host);
	/* Loopback traffic is not captured, so this client connected to the
	 * listener directly and has no target. */
	if (!to || ab_host_is_local(&host))
		ab_conn_close(conn, true);
	else
		ab_tunnel_start(conn, AB_DOOR_TRANSPARENT, &host, to->port);
}

void ab_door_open_transparent(struct ab_engine *engine, int fd, uint16_t port)
{
	struct ab_destination dst;
	bool known = ab_original_destination(fd, engine->setup->network.capture, &dst) == 0;

	(void)port;
	ab_door_open_captured(engine, fd, known ? &dst : NULL);
}

/* A tunnel between the loopbacks of host and box, for a port in the policy. */
static struct ab_conn *open_port_tunnel(struct ab_engine *engine, enum ab_door door, int fd,
					uint16_t port, const char *entry)
{
	static const struct ab_host localhost = { .text = "localhost" };
	struct ab_conn *conn = ab_conn_new(engine, door, fd, ignore_events);

	if (!conn)
		return NULL;
	ab_tunnel_adopt(conn, &localhost, port);
	conn->verdict = (struct ab_verdict){ .access = AB_ACCESS_ALLOW,
					     .basis = AB_BASIS_ALLOW,
					     .entry = entry };
	return conn;
}

void ab_door_open_host_port(struct ab_engine *engine, int fd, uint16_t port)
{
	struct ab_conn *conn =
		open_port_tunnel(engine, AB_DOOR_HOST_PORT, fd, port, "network.hostPorts");
	int host;

	if (!conn)
		return;
	if (engine->cut) {
		ab_tunnel_break(conn, AB_FAULT_CUT, &conn->verdict);
	} else if (engine->setup->dial_host(port, &host) != 0 || ab_conn_attach(conn, host) < 0) {
		ab_conn_close(conn, true);
	} else {
		ab_open_conns_opened(conn);
		ab_tunnel_relay(conn);
	}
}

struct ab_conn *ab_door_open_published(struct ab_engine *engine, int fd, uint16_t port)
{
	struct ab_conn *conn =
		open_port_tunnel(engine, AB_DOOR_PUBLISH, fd, port, "network.publish");

	if (conn && engine->cut) {
		ab_tunnel_break(conn, AB_FAULT_CUT, &conn->verdict);
		return NULL;
	}
	if (conn)
		ab_conn_deadline(conn, AB_HANDSHAKE_MS);
	return conn;
}
