/*
 * Theory of operation.
 *
 * The carrier is the connection with the sockets. Its step moves bytes between
 * these and two sessions (proxy/h2/session.h). When a session has a request, a
 * stream gets a connection without sockets: its client's side is the stream of one
 * session, its server's side a new stream of the other. From then on it is an
 * exchange of HTTP/1.1. A session marks its sides ready, and a stream that was
 * read or written wakes the carrier; nothing runs inside of the other.
 *
 *	open		both sides are connected
 *	draining	the server is lost or leaves: the client opens no more streams,
 *			those that exist end, then the carrier closes
 *
 * What may be sent to the host is limited at the carrier's socket
 * (proxy/io/allowance.h), so frames count as they are sent.
 *
 * Should: keep a stream's trouble to the stream.
 * Mustn't: end with a stream that still refers to it.
 */
#include "proxy/traffic/multiplex.h"

#include "proxy/h2/session.h"
#include "proxy/traffic/exchange.h"
#include "proxy/traffic/tunnel.h"

enum {
	IN_ROOM = 64 * 1024,
	OUT_ROOM = 64 * 1024,
	SHARE = 16, /* rounds per turn */
	ROOMY = 32, /* connections with large windows */
};

struct ab_multiplex {
	struct ab_conn *carrier;
	struct ab_h2_session *client, *server;
	size_t nstreams; /* connections */
};

static void wake_carrier(void *arg)
{
	const struct ab_multiplex *m = arg;

	ab_conn_again(m->carrier);
}

static void client_ready(void *arg)
{
	ab_conn_again(arg);
}

static void server_ready(void *arg)
{
	struct ab_conn *conn = arg;

	if (conn->client.ops)
		ab_h2_stream_follow(conn->client.stream, conn->server.stream);
	if (ab_h2_stream_refused(conn->server.stream))
		ab_exchange_repeat(conn);
	ab_conn_again(conn);
}

static void set_idle_deadline(struct ab_multiplex *m)
{
	ab_conn_deadline(m->carrier, m->nstreams ? 0 : AB_IDLE_MS);
}

/* Deny the streams of a carrier that is no longer allowed. */
static void break_streams(struct ab_conn *carrier, enum ab_fault fault,
			  const struct ab_verdict *verdict)
{
	struct ab_engine *engine = carrier->engine;

	for (struct ab_conn *conn = engine->conns; conn; conn = conn->next)
		if (conn->carrier == carrier && !conn->closed && conn->http)
			ab_exchange_kind.break_off(conn, fault, verdict);
}

static void break_stream(struct ab_conn *conn, enum ab_fault fault,
			 const struct ab_verdict *verdict)
{
	struct ab_conn *carrier = conn->carrier;

	break_streams(carrier, fault, verdict);
	ab_conn_close(carrier, true);
}

static bool describe_stream(const struct ab_conn *conn, struct ab_request_record *ret)
{
	return conn->http && ab_exchange_kind.describe(conn, ret);
}

static void end_stream(struct ab_conn *conn)
{
	struct ab_multiplex *m = conn->carrier->multiplex;

	if (conn->http)
		ab_exchange_kind.end(conn);
	m->nstreams--;
	set_idle_deadline(m);
	ab_conn_again(m->carrier);
}

static const struct ab_conn_kind stream_kind = {
	.describe = describe_stream,
	.break_off = break_stream,
	.end = end_stream,
};

static void begin_exchange(struct ab_conn *conn)
{
	ab_exchange_start(conn, AB_EXCHANGE_INSPECTED);
}

/* The tunnel's properties are those of each request in it. */
static void copy_target(struct ab_conn *conn, const struct ab_conn *carrier)
{
	conn->host = ab_alloc(sizeof(*conn->host));
	*conn->host = *carrier->host;
	conn->port = carrier->port;
	conn->verdict = carrier->verdict;
	if (conn->verdict.entry)
		ab_verdict_keep(&conn->verdict, &conn->entry);
	conn->address = carrier->address ? ab_strdup(carrier->address) : NULL;
	conn->sni = carrier->sni ? ab_strdup(carrier->sni) : NULL;
	conn->failure = carrier->failure ? ab_strdup(carrier->failure) : NULL;
	conn->upstream = carrier->upstream;
	conn->intercepted = carrier->intercepted;
	conn->tls = carrier->tls;
	conn->unrecorded = true;
}

static void open_stream(void *arg, struct ab_h2_stream *stream)
{
	struct ab_multiplex *m = arg;
	struct ab_conn *carrier = m->carrier, *conn;
	struct ab_engine *engine = carrier->engine;

	if (carrier->closed || engine->nconns >= engine->max_conns) {
		ab_h2_stream_refuse(stream);
		return;
	}
	conn = ab_conn_new_stream(carrier, begin_exchange);
	copy_target(conn, carrier);
	conn->kind = &stream_kind;
	m->nstreams++;
	/* Its requests have records of their own. */
	carrier->unrecorded = true;
	ab_h2_stream_attach(stream, &conn->client, client_ready, conn);
	if (m->server)
		ab_h2_stream_attach(ab_h2_stream_new(m->server, 0), &conn->server, server_ready,
				    conn);
	set_idle_deadline(m);
	ab_conn_again(conn);
}

/* No new requests: the server would not get them. */
static void lose_server(struct ab_multiplex *m)
{
	if (!m->server)
		return;
	ab_h2_session_lose(m->server);
	ab_h2_session_drain(m->client);
	ab_side_close(&m->carrier->server, false);
}

/* Move what has arrived into the session. */
static enum ab_io receive_bytes(struct ab_side *side, struct ab_h2_session *session)
{
	enum ab_io io = side->in.len ? AB_IO_DONE : ab_side_read(side, IN_ROOM);

	if (io != AB_IO_DONE)
		return io;
	if (ab_h2_session_receive(session, ab_buf_bytes(&side->in), side->in.len) < 0)
		io = AB_IO_FAILED;
	ab_buf_fini(&side->in);
	return io;
}

static enum ab_io send_bytes(struct ab_side *side, struct ab_h2_session *session)
{
	enum ab_io io = ab_side_flush(side);

	while (io == AB_IO_DONE) {
		if (ab_h2_session_send(session, &side->out, OUT_ROOM) < 0)
			return AB_IO_FAILED;
		if (!side->out.len)
			return AB_IO_DONE;
		io = ab_side_flush(side);
	}
	return io;
}

/* One round in both directions. DONE: something arrived. */
static enum ab_io serve_side(struct ab_side *side, struct ab_h2_session *session)
{
	enum ab_io in = receive_bytes(side, session);
	enum ab_io out = send_bytes(side, session);

	if (in == AB_IO_FAILED || out == AB_IO_FAILED || in == AB_IO_EOF)
		return AB_IO_FAILED;
	return ab_h2_session_over(session) && out == AB_IO_DONE ? AB_IO_EOF : in;
}

static bool is_done(const struct ab_multiplex *m)
{
	return m->server && ab_h2_session_leaving(m->server) && !m->nstreams &&
	       !ab_h2_session_streams(m->client) && !m->carrier->client.out.len;
}

static void serve_carrier(struct ab_conn *conn)
{
	struct ab_multiplex *m = conn->multiplex;
	bool more = true;

	for (int i = 0; i < SHARE && more; i++) {
		enum ab_io client = serve_side(&conn->client, m->client);
		enum ab_io server = AB_IO_WAIT;

		if (client == AB_IO_FAILED || client == AB_IO_EOF) {
			ab_conn_close(conn, client == AB_IO_FAILED && !conn->client.eof);
			return;
		}
		if (ab_side_is_open(&conn->server)) {
			server = serve_side(&conn->server, m->server);
			if (server == AB_IO_FAILED || server == AB_IO_EOF)
				lose_server(m);
			else if (ab_h2_session_leaving(m->server))
				ab_h2_session_drain(m->client);
		}
		more = client == AB_IO_DONE || server == AB_IO_DONE;
	}
	if (is_done(m))
		ab_conn_close(conn, false);
	else if (more)
		ab_conn_again(conn);
}

/* Its streams tell themselves. */
static bool describe_carrier(const struct ab_conn *conn, struct ab_request_record *ret)
{
	return !conn->multiplex->nstreams && ab_tunnel_describe(conn, ret);
}

static void end_carrier(struct ab_conn *conn)
{
	struct ab_multiplex *m = conn->multiplex;

	for (struct ab_conn *one = conn->engine->conns; one; one = one->next)
		if (one->carrier == conn) {
			ab_conn_close(one, true);
			one->carrier = NULL;
		}
	ab_h2_session_free(m->client);
	ab_h2_session_free(m->server);
	conn->engine->nmultiplex--;
	free(ab_take(conn->multiplex));
	ab_tunnel_end(conn);
}

void ab_multiplex_start(struct ab_conn *conn)
{
	static const struct ab_conn_kind kind = {
		.describe = describe_carrier,
		.break_off = ab_tunnel_break,
		.end = end_carrier,
	};
	struct ab_multiplex *m = ab_alloc(sizeof(*m));
	struct ab_h2_setup setup = {
		.server = true,
		.tls = conn->server.tls != NULL,
		.small = conn->engine->nmultiplex >= ROOMY,
		.now = &conn->engine->loop.now,
		.opened = open_stream,
		.wake = wake_carrier,
		.arg = m,
	};

	m->carrier = conn;
	m->client = ab_h2_session_new(&setup);
	setup.server = false;
	if (ab_side_is_open(&conn->server))
		m->server = ab_h2_session_new(&setup);
	conn->engine->nmultiplex++;
	conn->multiplex = m;
	conn->kind = &kind;
	conn->step = serve_carrier;
	conn->server.out.wipe = true;
	ab_conn_whole(conn);
	set_idle_deadline(m);
	serve_carrier(conn);
}
