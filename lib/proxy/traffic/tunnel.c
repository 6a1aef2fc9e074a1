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

#include "proxy/conn/agent_terms.h"
#include "proxy/secrets/vault.h"
#include "proxy/traffic/exchange.h"
#include "proxy/wire/hello.h"
#include "proxy/wire/ssh_kex.h"

bool ab_tunnel_describe(const struct ab_conn *conn, struct ab_request_record *ret)
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
	return true;
}

void ab_tunnel_note_hello(struct ab_conn *conn, const struct ab_hello *hello)
{
	conn->tls = true;
	if (hello->has_name && !conn->sni)
		conn->sni = ab_strdup(hello->name.text);
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
		.describe = ab_tunnel_describe,
		.break_off = ab_tunnel_break,
		.end = ab_tunnel_end,
	};

	conn->kind = &kind;
	conn->host = ab_alloc(sizeof(*host));
	*conn->host = *host;
	conn->port = port;
}

void ab_tunnel_finish(struct ab_conn *conn)
{
	ab_side_close(&conn->server, true);
	ab_conn_linger(conn);
}

/* The reply depends on the door: HTTP, SOCKS or a reset. */
static void record_and_reply(struct ab_conn *conn, struct ab_request_record *r,
			     enum ab_socks_reply reply)
{
	conn->unrecorded = true;
	r->ms = conn->engine->loop.now - conn->begun;
	if (!ab_conn_record(conn, r))
		return;
	if (conn->door == AB_DOOR_CONNECT) {
		ab_exchange_reply(&conn->client.out, conn->engine->ledger, r, r->status);
	} else if (conn->door == AB_DOOR_SOCKS) {
		ab_socks_answer(&conn->client.out, reply);
	} else {
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
static bool may_write(const struct ab_conn *conn, const struct ab_side *to)
{
	return !to->shut && !(conn->engine->ending && to == box_side(conn));
}

static void relay_bytes(struct ab_conn *conn)
{
	uint64_t all = AB_FLOW_ALL;
	enum ab_io io;

	if (may_write(conn, &conn->client)) {
		io = ab_tunnel_move_down(conn);
		if (!ab_conn_moved(conn, io, &conn->client))
			return;
	}
	if (may_write(conn, &conn->server)) {
		io = ab_flow_move(&conn->up, conn->engine->pipes, &conn->client, &conn->server,
				  &all);
		if (!ab_conn_moved(conn, io, &conn->server))
			return;
	}
	if (!may_write(conn, &conn->client) && !may_write(conn, &conn->server))
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

	if (conn->door == AB_DOOR_CONNECT)
		ab_buf_add(&conn->client.out, established, sizeof(established) - 1);
	else if (conn->door == AB_DOOR_SOCKS)
		ab_socks_answer(&conn->client.out, AB_SOCKS_OK);
	ab_tunnel_read_first(conn);
}

static void server_dialled(struct ab_conn *conn, const struct ab_dialled *result)
{
	struct ab_dial_failure failure;
	struct ab_request_record r;

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
	ab_exchange_failure(result, conn->engine->setup->upstream, &failure);
	r.error = failure.why;
	/* Other doors do not use HTTP. */
	r.status = conn->door == AB_DOOR_CONNECT ? failure.status : 0;
	record_and_reply(conn, &r, failure.socks);
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
	ab_inspection_trip(inspection, secret, false);
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
	ab_conn_dial(conn, conn->host, conn->port, false, server_dialled);
}

void ab_tunnel_start(struct ab_conn *conn, enum ab_door door, const struct ab_host *host,
		     uint16_t port)
{
	struct ab_request_record r;

	conn->door = (uint8_t)door;
	ab_tunnel_adopt(conn, host, port);
	conn->verdict.entry = "";
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

/* The beginning of an SSH server's stream, on its way to the client: it says which key exchanges
 * pass here (proxy/conn/agent_terms.h). Everything after it is spliced as usual. */

enum { ROOM = 16 * 1024 };

static void note_exchange(void *arg, struct ab_ssh_text host_key, struct ab_ssh_text signature)
{
	const struct ab_conn *conn = arg;

	ab_agent_terms_saw(conn->engine->agent, conn->host->text, conn->port, host_key, signature);
}

void ab_tunnel_watch_kex(struct ab_conn *conn)
{
	if (!conn->engine->agent || conn->kex)
		return;
	conn->kex = ab_alloc(sizeof(*conn->kex));
	conn->kex->signed_by = note_exchange;
	conn->kex->arg = conn;
}

/* Move what was read and looked at, and nothing else. */
static enum ab_io move_seen(struct ab_conn *conn)
{
	struct ab_side *server = &conn->server;
	enum ab_io io, moved;
	uint64_t left;

	do {
		size_t before = server->in.len;

		io = ab_side_read(server, ROOM);
		if (server->in.len > before)
			ab_ssh_kex_feed(conn->kex, ab_buf_bytes(&server->in) + before,
					server->in.len - before);
	} while (io == AB_IO_DONE);
	if (io == AB_IO_FAILED)
		return io;
	left = server->in.len;
	moved = ab_flow_move(&conn->down, conn->engine->pipes, server, &conn->client, &left);
	if (moved != AB_IO_DONE || io == AB_IO_EOF)
		return moved == AB_IO_DONE ? AB_IO_EOF : moved;
	return server->readable || conn->kex->done ? AB_IO_YIELD : AB_IO_WAIT;
}

static void forget_kex(struct ab_conn *conn)
{
	if (!conn->kex)
		return;
	ab_ssh_kex_fini(conn->kex);
	free(ab_take(conn->kex));
}

enum ab_io ab_tunnel_move_down(struct ab_conn *conn)
{
	uint64_t all = AB_FLOW_ALL;

	if (conn->kex && !conn->kex->done && !conn->server.tls)
		return move_seen(conn);
	forget_kex(conn);
	return ab_flow_move(&conn->down, conn->engine->pipes, &conn->server, &conn->client, &all);
}
