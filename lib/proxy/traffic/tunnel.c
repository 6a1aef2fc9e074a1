/*
 * Theory of operation.
 *
 *	waiting		proxy/conn/waiting.c: for an answer
 *	dialling	the client's first bytes are buffered
 *	first bytes	tunnel_first_bytes.c: which protocol is it?
 *	relaying	both directions, until both have ended
 *
 * Should: keep an idle tunnel open forever.
 * Mustn't: dial before the host was judged; end without a record.
 */
#include "proxy/traffic/tunnel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "proxy/secrets/vault.h"
#include "proxy/traffic/exchange.h"
#include "proxy/wire/hello.h"
#include "proxy/wire/socks.h"

enum {
	WAITING_ROOM = 16 * 1024, /* bytes buffered during the dial */
	FINISH_ROOM = 16 * 1024,
	FINISH_SHARE = 64, /* reads per turn */
};

void ab_tunnel_describe(const struct ab_conn *conn, struct ab_request_record *ret)
{
	*ret = (struct ab_request_record){
		.door = conn->door,
		.host = conn->host->text,
		.port = conn->port,
		.method = conn->door == AB_DOOR_CONNECT ? "CONNECT" : "",
		.sni = conn->sni,
		.address = conn->address,
		.verdict = conn->verdict,
		.bytes_up = conn->server.sent,
		.bytes_down = conn->down.moved,
		.ms = conn->engine->loop.now - conn->begun,
		.denial = conn->denial,
		.why = conn->engine->cut,
		.intercepted = conn->intercepted,
		.tls = conn->tls,
	};
}

void ab_tunnel_note_hello(struct ab_conn *conn, const struct ab_hello *hello)
{
	conn->tls = true;
	if (hello->has_name && !conn->sni)
		conn->sni = ab_strdup(hello->name.text);
}

static bool describe_tunnel(const struct ab_conn *conn, struct ab_request_record *ret)
{
	ab_tunnel_describe(conn, ret);
	return true;
}

static void write_denial(struct ab_conn *conn, struct ab_request_record *r)
{
	if (ab_conn_deny(conn, r) < 0)
		return;
	conn->unrecorded = true;
	ab_conn_record(conn, r);
}

static void deny_now(struct ab_conn *conn, struct ab_request_record *r)
{
	void (*then)(struct ab_conn * conn) = ab_take(conn->then);

	write_denial(conn, r);
	if (!conn->closed)
		then(conn);
}

void ab_tunnel_deny(struct ab_conn *conn, enum ab_fault fault, const char *name,
		    void (*then)(struct ab_conn *conn))
{
	struct ab_request_record r;

	ab_tunnel_describe(conn, &r);
	r.fault = fault;
	if (name)
		r.sni = name;
	conn->then = then;
	if (!ab_waiting_identify(conn, &r, deny_now))
		deny_now(conn, &r);
}

static void reset_conn(struct ab_conn *conn)
{
	ab_conn_close(conn, true);
}

void ab_tunnel_cut(struct ab_conn *conn, enum ab_fault fault, const char *name)
{
	ab_tunnel_deny(conn, fault, name, reset_conn);
}

void ab_tunnel_break(struct ab_conn *conn, enum ab_fault fault, const struct ab_verdict *verdict)
{
	struct ab_request_record r;

	ab_tunnel_describe(conn, &r);
	r.fault = fault;
	r.verdict = *verdict;
	write_denial(conn, &r);
	ab_conn_close(conn, true);
}

void ab_tunnel_end(struct ab_conn *conn)
{
	struct ab_request_record r;

	if (conn->unrecorded)
		return;
	ab_tunnel_describe(conn, &r);
	if (conn->door == AB_DOOR_CONNECT && conn->server.source.fd >= 0)
		r.status = 200;
	conn->unrecorded = true;
	ab_conn_record(conn, &r);
}

void ab_tunnel_adopt(struct ab_conn *conn, const struct ab_host *host, uint16_t port)
{
	static const struct ab_conn_kind kind = {
		.describe = describe_tunnel,
		.break_off = ab_tunnel_break,
		.end = ab_tunnel_end,
	};

	conn->kind = &kind;
	conn->host = ab_alloc(sizeof(*host));
	*conn->host = *host;
	conn->port = port;
}

static void flush_and_close(struct ab_conn *conn)
{
	enum ab_io io = ab_side_flush(&conn->client);

	if (io == AB_IO_WAIT)
		return;
	ab_side_shut(&conn->client);
	/* Closing with unread bytes would reset the connection, and the client
	 * would lose the reply. */
	for (int i = 0; io == AB_IO_DONE && i < FINISH_SHARE; i++) {
		io = ab_side_read(&conn->client, FINISH_ROOM);
		ab_buf_fini(&conn->client.in);
	}
	if (io == AB_IO_DONE)
		ab_conn_again(conn);
	else if (io != AB_IO_WAIT)
		ab_conn_close(conn, false);
}

void ab_tunnel_finish(struct ab_conn *conn)
{
	ab_conn_whole(conn);
	ab_buf_fini(&conn->client.in);
	ab_side_close(&conn->server, true);
	conn->step = flush_and_close;
	ab_conn_deadline(conn, AB_HANDSHAKE_MS);
	ab_conn_again(conn);
}

/* The reply depends on the door: HTTP, SOCKS or a reset. */
static void record_and_reply(struct ab_conn *conn, struct ab_request_record *r,
			     enum ab_socks_reply reply)
{
	uint8_t answer[10];

	conn->unrecorded = true;
	r->ms = conn->engine->loop.now - conn->begun;
	ab_conn_record(conn, r);
	if (conn->closed)
		return;
	switch ((enum ab_door)conn->door) {
	case AB_DOOR_CONNECT:
		ab_exchange_reply(&conn->client.out, conn->engine->ledger, r, r->status);
		break;
	case AB_DOOR_SOCKS:
		ab_socks_answer(reply, answer);
		ab_buf_add(&conn->client.out, answer, sizeof(answer));
		break;
	case AB_DOOR_HTTP:
	case AB_DOOR_TRANSPARENT:
	case AB_DOOR_DNS:
	case AB_DOOR_PUBLISH:
	case AB_DOOR_HOST_PORT:
	case AB_DOOR_GATEWAY:
	case AB_DOOR_AGENT:
	case AB_DOOR_COUNT:
		ab_conn_close(conn, true);
		return;
	}
	ab_tunnel_finish(conn);
}

static void deny_tunnel(struct ab_conn *conn, struct ab_request_record *r)
{
	if (ab_waiting_identify(conn, r, deny_tunnel) || ab_conn_deny(conn, r) < 0)
		return;
	conn->denial = r->denial;
	r->status = conn->door == AB_DOOR_CONNECT ? 403 : 0;
	record_and_reply(conn, r, AB_SOCKS_NOT_ALLOWED);
}

/* The side in the box. */
static const struct ab_side *box_side(const struct ab_conn *conn)
{
	return conn->door == AB_DOOR_PUBLISH ? &conn->server : &conn->client;
}

/* After the box has ended, its side reads no more. */
static bool is_finished(const struct ab_conn *conn)
{
	bool ending = conn->engine->ending;

	return (conn->client.shut || (ending && &conn->client == box_side(conn))) &&
	       (conn->server.shut || (ending && &conn->server == box_side(conn)));
}

static void relay_bytes(struct ab_conn *conn)
{
	struct ab_pipes *pipes = conn->engine->pipes;
	struct {
		struct ab_flow *flow;
		struct ab_side *from, *to;
	} ways[] = {
		{ &conn->down, &conn->server, &conn->client },
		{ &conn->up, &conn->client, &conn->server },
	};

	for (size_t i = 0; i < AB_COUNT(ways); i++) {
		uint64_t all = AB_FLOW_ALL;
		enum ab_io io;

		if (ways[i].to->shut || (conn->engine->ending && ways[i].to == box_side(conn)))
			continue;
		io = ways[i].flow == &conn->down
			     ? ab_tunnel_move_down(conn)
			     : ab_flow_move(ways[i].flow, pipes, ways[i].from, ways[i].to, &all);
		if (io == AB_IO_FAILED) {
			ab_conn_close(conn, true);
			return;
		}
		if (io == AB_IO_YIELD)
			ab_conn_again(conn);
		if (io == AB_IO_EOF)
			ab_side_shut(ways[i].to);
	}
	if (is_finished(conn))
		ab_conn_close(conn, false);
}

void ab_tunnel_relay(struct ab_conn *conn)
{
	ab_conn_deadline(conn, 0);
	ab_conn_whole(conn);
	conn->step = relay_bytes;
	ab_conn_again(conn);
}

static void confirm_tunnel(struct ab_conn *conn)
{
	static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";
	uint8_t answer[10];

	if (conn->door == AB_DOOR_CONNECT) {
		ab_buf_add(&conn->client.out, established, sizeof(established) - 1);
	} else if (conn->door == AB_DOOR_SOCKS) {
		ab_socks_answer(AB_SOCKS_OK, answer);
		ab_buf_add(&conn->client.out, answer, sizeof(answer));
	}
	ab_tunnel_read_first(conn);
}

static enum ab_socks_reply socks_reply_to(const struct ab_dialled *result)
{
	switch (result->result) {
	case AB_DIAL_NO_NAME:
	case AB_DIAL_NO_ANSWER:
		return AB_SOCKS_HOST_UNREACHABLE;
	case AB_DIAL_TIMEOUT:
		return AB_SOCKS_TTL;
	case AB_DIAL_FORBIDDEN:
		return AB_SOCKS_NOT_ALLOWED;
	case AB_DIAL_OK:
	case AB_DIAL_UPSTREAM:
		return AB_SOCKS_FAILURE;
	case AB_DIAL_FAILED:
		break;
	}
	switch (result->errnum) {
	case ECONNREFUSED:
		return AB_SOCKS_REFUSED;
	case ENETUNREACH:
		return AB_SOCKS_NET_UNREACHABLE;
	case EHOSTUNREACH:
		return AB_SOCKS_HOST_UNREACHABLE;
	case ETIMEDOUT:
		return AB_SOCKS_TTL;
	default:
		return AB_SOCKS_FAILURE;
	}
}

static void server_dialled(struct ab_conn *conn, const struct ab_dialled *result)
{
	struct ab_request_record r;

	if (result->address.text[0])
		conn->address = ab_strdup(result->address.text);
	if (result->result == AB_DIAL_OK) {
		confirm_tunnel(conn);
		return;
	}
	ab_tunnel_describe(conn, &r);
	if (result->result == AB_DIAL_FORBIDDEN) {
		r.verdict = result->verdict;
		r.fault = AB_FAULT_ANSWER;
		deny_tunnel(conn, &r);
		return;
	}
	r.status = ab_exchange_failure(result, &r.error);
	if (conn->door != AB_DOOR_CONNECT)
		r.status = 0; /* this door does not use HTTP */
	record_and_reply(conn, &r, socks_reply_to(result));
}

/* Buffer the client's bytes, and notice that it failed. */
static void wait_for_dial(struct ab_conn *conn)
{
	if (ab_side_read(&conn->client, WAITING_ROOM) == AB_IO_FAILED)
		ab_conn_close(conn, true);
}

/* A placeholder in the request for the tunnel, or in the host name, would leak
 * to another host. */
static bool deny_placeholder(struct ab_conn *conn)
{
	const struct ab_inspection *inspection = &conn->engine->inspection;
	struct ab_request_record r;
	int secret;

	if (!inspection->vault)
		return false;
	secret = conn->trips ? conn->trips - 1
			     : ab_vault_find_in_name(inspection->vault, conn->host->text);
	if (secret < 0)
		return false;
	ab_tunnel_describe(conn, &r);
	r.fault = AB_FAULT_TRIPWIRE;
	r.secret = ab_inspection_secret(inspection, secret);
	deny_tunnel(conn, &r);
	ab_inspection_trip(inspection, secret);
	return true;
}

/* Judged by the lists, or by an answer. */
static void dial_if_allowed(struct ab_conn *conn, struct ab_request_record *r)
{
	if (r->fault != AB_FAULT_NONE || r->verdict.access != AB_ACCESS_ALLOW) {
		deny_tunnel(conn, r);
		return;
	}
	conn->verdict = r->verdict;
	ab_verdict_keep(&conn->verdict, &conn->entry);
	conn->step = wait_for_dial;
	ab_conn_dial(conn, conn->host, conn->port, false, server_dialled);
}

void ab_tunnel_start(struct ab_conn *conn, enum ab_door door, const struct ab_host *host,
		     uint16_t port)
{
	struct ab_request_record r;

	conn->door = (uint8_t)door;
	ab_tunnel_adopt(conn, host, port);
	conn->verdict.entry = "";
	conn->step = wait_for_dial;
	ab_conn_deadline(conn, 0);
	ab_conn_whole(conn);
	if (deny_placeholder(conn))
		return;
	ab_conn_judge(conn, conn->host, port, &conn->verdict);
	ab_verdict_keep(&conn->verdict, &conn->entry);
	ab_tunnel_describe(conn, &r);
	if (!ab_waiting_begin(conn, conn->host, &r, dial_if_allowed))
		dial_if_allowed(conn, &r);
}

bool ab_tunnel_remains(const struct ab_conn *conn)
{
	if (conn->closed || conn->http || conn->multiplex || !conn->host || conn->denial)
		return false;
	return conn->dial ? conn->client.in.len > 0 : conn->server.source.fd >= 0;
}
