/*
 * What does the client of a tunnel speak? The server's bytes pass meanwhile,
 * for in many protocols (ssh, SMTP, MySQL) it speaks first; the client's are
 * held until they are seen to be
 *
 *	TLS	the name in the hello must be the tunnel's. A server may ask
 *		for a second hello and go by that one, so what follows the
 *		first is held until the server's answer is seen
 *	HTTP	every request is judged: proxy/traffic/exchange.h
 *	neither	nothing is to be judged in it
 *
 * A word with nothing behind it may still become an HTTP request, or be all
 * that the client wants to say. It is passed on, because no server can do
 * anything with the method of a request, and looked at again with the rest.
 *
 * Should: hold no byte longer than it must.
 * Mustn't: take what is undecided for harmless.
 */
#include "proxy/traffic/tunnel.h"

#include <ctype.h>
#include <string.h>

#include "proxy/traffic/exchange.h"
#include "proxy/traffic/tunnel_tls.h"
#include "proxy/wire/hello.h"

enum { ANSWER_ROOM = 16 * 1024 }; /* of the server's first bytes */

/* Refused, and said by TLS's own means: the tunnel stands already. */
static void alert(struct ab_conn *conn)
{
	static const uint8_t access_denied[] = { 21, 3, 1, 0, 2, 2, 49 };

	/* Behind other bytes of the server's it would make no sense. */
	if (conn->down.moved == 0)
		ab_buf_add(&conn->client.out, access_denied, sizeof(access_denied));
	ab_tunnel_goodbye(conn);
}

static void refuse_hello(struct ab_conn *conn, const char *name)
{
	ab_tunnel_deny(conn, AB_FAULT_SNI, name, alert);
}

/*
 * May a hello that names `name` go through this tunnel? One to an address has
 * no name to agree with: then the name itself must be allowed.
 */
static bool agrees(struct ab_conn *conn, const struct ab_hello *hello)
{
	struct ab_host copy;
	struct ab_verdict verdict;

	if (!hello->has_name)
		return true;
	if (conn->host->kind == AB_HOST_NAME)
		return strcmp(conn->host->text, hello->name.text) == 0;
	/* By its address it would not be looked into. */
	if (ab_inspection_covers(&conn->engine->inspection, &hello->name, conn->port))
		return false;
	copy = hello->name;
	ab_conn_judge(conn, &copy, conn->port, &verdict);
	return verdict.access == AB_ACCESS_ALLOW;
}

/* false: the connection is closed. */
static bool pass_down(struct ab_conn *conn)
{
	uint64_t all = AB_FLOW_ALL;

	if (conn->client.shut)
		return true;
	switch (ab_flow_move(&conn->down, conn->engine->pipes, &conn->server, &conn->client,
			     &all)) {
	case AB_IO_FAILED:
		ab_conn_close(conn, true);
		return false;
	case AB_IO_YIELD:
		ab_conn_again(conn);
		break;
	case AB_IO_EOF:
		ab_side_shut(&conn->client);
		break;
	case AB_IO_DONE:
	case AB_IO_WAIT:
		break;
	}
	return true;
}

/* Read what the client has, up to the size of a hello. false: it is closed. */
static bool read_client(struct ab_conn *conn)
{
	enum ab_io io;

	do {
		io = ab_side_read(&conn->client, AB_HELLO_MAX);
	} while (io == AB_IO_DONE);
	if (io != AB_IO_FAILED)
		return true;
	ab_conn_close(conn, true);
	return false;
}

/* The server wants another hello: that one is judged as well. */
static void judge_second(struct ab_conn *conn)
{
	struct ab_hello hello;

	if (!pass_down(conn) || !read_client(conn))
		return;
	switch (ab_hello_again(ab_buf_bytes(&conn->client.in), conn->client.in.len, &hello)) {
	case AB_FIRST_TLS:
		if (agrees(conn, &hello))
			ab_tunnel_relay(conn);
		else
			refuse_hello(conn, hello.name.text);
		return;
	case AB_FIRST_MORE:
		if (conn->client.eof)
			ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
		return;
	case AB_FIRST_HTTP:
	case AB_FIRST_HTTP2:
	case AB_FIRST_OTHER:
	case AB_FIRST_BAD:
		ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
		return;
	}
}

/* The first hello is good, and on its way. What does the server say? */
static void await_server(struct ab_conn *conn)
{
	enum ab_io io = ab_flow_move(&conn->up, conn->engine->pipes, &conn->client, &conn->server,
				     &conn->hello_left);

	if (io == AB_IO_FAILED) {
		ab_conn_close(conn, true);
		return;
	}
	do {
		io = ab_side_read(&conn->server, ANSWER_ROOM);
	} while (io == AB_IO_DONE);
	if (io == AB_IO_FAILED) {
		ab_conn_close(conn, true);
		return;
	}
	switch (ab_hello_retry(ab_buf_bytes(&conn->server.in), conn->server.in.len)) {
	case AB_RETRY_MORE:
		if (io != AB_IO_EOF && conn->server.in.len < ANSWER_ROOM)
			return;
		/* It will ask for nothing any more. */
		ab_tunnel_relay(conn);
		return;
	case AB_RETRY_NO:
		ab_tunnel_relay(conn);
		return;
	case AB_RETRY_YES:
		conn->step = judge_second;
		judge_second(conn);
		return;
	}
}

static void judge_hello(struct ab_conn *conn, const struct ab_hello *hello)
{
	if (!agrees(conn, hello)) {
		refuse_hello(conn, hello->name.text);
		return;
	}
	conn->hello_left = hello->used;
	ab_conn_deadline(conn, 0);
	conn->step = await_server;
	await_server(conn);
}

static bool is_word(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum(data[i]) && (!data[i] || !strchr("!#$%&'*+-.^_`|~", data[i])))
			return false;
	return true;
}

/* Undecided: hold it, unless it is a word. */
static void wait_for_more(struct ab_conn *conn)
{
	struct ab_buf *in = &conn->client.in;
	bool word = is_word(ab_buf_bytes(in), in->len);

	if (conn->client.eof && word) {
		ab_buf_skip(in, conn->ahead);
		ab_tunnel_relay(conn);
	} else if (conn->client.eof) {
		ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
	} else if (word) {
		ab_buf_add(&conn->server.out, ab_buf_bytes(in) + conn->ahead,
			   in->len - conn->ahead);
		conn->up.moved += in->len - conn->ahead;
		conn->ahead = (uint16_t)in->len;
		if (ab_side_flush(&conn->server) == AB_IO_FAILED)
			ab_conn_close(conn, true);
	} else if (!conn->deadline.slot) {
		ab_conn_deadline(conn, AB_HANDSHAKE_MS);
	}
}

static void judge_first(struct ab_conn *conn)
{
	struct ab_hello hello;

	switch (ab_hello_look(ab_buf_bytes(&conn->client.in), conn->client.in.len, &hello)) {
	case AB_FIRST_MORE:
		wait_for_more(conn);
		return;
	case AB_FIRST_TLS:
		judge_hello(conn, &hello);
		return;
	case AB_FIRST_HTTP:
		ab_exchange_start(conn, AB_EXCHANGE_TUNNEL);
		return;
	case AB_FIRST_HTTP2:
		ab_tunnel_cut(conn, AB_FAULT_HTTP2, NULL);
		return;
	case AB_FIRST_OTHER:
		ab_buf_skip(&conn->client.in, conn->ahead);
		ab_tunnel_relay(conn);
		return;
	case AB_FIRST_BAD:
		ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
		return;
	}
}

static void look(struct ab_conn *conn)
{
	if (!pass_down(conn) || !read_client(conn))
		return;
	if (ab_side_flush(&conn->server) == AB_IO_FAILED)
		ab_conn_close(conn, true);
	else if (conn->client.in.len > conn->ahead)
		judge_first(conn);
	else if (conn->client.eof) {
		ab_buf_skip(&conn->client.in, conn->ahead);
		ab_tunnel_relay(conn);
	}
}

void ab_tunnel_look(struct ab_conn *conn)
{
	if (ab_tunnel_tls_wants(conn)) {
		ab_tunnel_tls_start(conn);
		return;
	}
	ab_conn_deadline(conn, 0);
	conn->step = look;
	look(conn);
}
