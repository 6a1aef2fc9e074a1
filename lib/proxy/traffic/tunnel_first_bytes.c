/*
 * Which protocol does the client of a tunnel use? The server's bytes pass
 * meanwhile, because in many protocols (ssh, SMTP, MySQL) it speaks first. The
 * client's bytes are held until they are known to be
 *
 *	TLS	the name in the hello must be the tunnel's. A server may ask
 *		for a second hello and use that one, so what follows the first
 *		is held until the server has replied
 *	HTTP	every request is judged: proxy/traffic/exchange.h; not RTSP
 *	neither	there is nothing to judge
 *
 * A token with nothing after it may become an HTTP request, or be all that the
 * client sends. It is forwarded, because a method alone has no effect on a
 * server, and judged again with the rest. One that is too long for a method, such as
 * a stream of base64, passes; a blank after it would make it a request for some
 * servers, and ends the tunnel.
 *
 * Should: hold no byte longer than it must.
 * Mustn't: treat undecided bytes as harmless.
 */
#include "proxy/traffic/tunnel.h"

#include "proxy/traffic/exchange.h"
#include "proxy/wire/hello.h"
#include "proxy/wire/http.h"

enum {
	REPLY_ROOM = 16 * 1024, /* for the server's first bytes */
	WORD_MAX = 8192,	/* a longer token is not a method */
};

/* The tunnel is open, so only a TLS alert can report the denial. */
static void send_alert(struct ab_conn *conn)
{
	static const uint8_t access_denied[] = { 21, 3, 1, 0, 2, 2, 49 };

	/* After other bytes from the server it would be garbage. */
	if (conn->down.moved == 0)
		ab_buf_add(&conn->client.out, access_denied, sizeof(access_denied));
	ab_tunnel_finish(conn);
}

/* A tunnel to an address has no name to compare: then the hello's name itself
 * must be allowed. */
static bool matches_tunnel(struct ab_conn *conn, const struct ab_hello *hello)
{
	struct ab_host copy;
	struct ab_verdict verdict;

	if (!hello->has_name)
		return true;
	if (conn->host->kind == AB_HOST_NAME)
		return strcmp(conn->host->text, hello->name.text) == 0;
	/* Dialled by its address, the host would escape inspection. */
	if (ab_inspection_covers(&conn->engine->inspection, &hello->name, conn->port))
		return false;
	copy = hello->name;
	ab_conn_judge(conn, &copy, conn->port, &verdict);
	return verdict.access == AB_ACCESS_ALLOW;
}

/* May this hello go through the tunnel? false: it was denied. */
static bool check_hello(struct ab_conn *conn, const struct ab_hello *hello)
{
	const struct ab_policy *policy = conn->engine->setup->policy;
	enum ab_fault fault = AB_FAULT_NONE;

	if (!matches_tunnel(conn, hello))
		fault = AB_FAULT_SNI;
	else if (policy->net.require_sni && !hello->has_name)
		fault = AB_FAULT_NO_SNI;
	else if (policy->net.deny_ech && hello->ech)
		fault = AB_FAULT_ECH;
	if (fault == AB_FAULT_NONE)
		return true;
	ab_tunnel_deny(conn, fault, hello->has_name ? hello->name.text : NULL, send_alert);
	return false;
}

/* false: the connection was closed. */
static bool pass_down(struct ab_conn *conn)
{
	return conn->client.shut || ab_conn_moved(conn, ab_tunnel_move_down(conn), &conn->client);
}

/* false: the connection was closed. */
static bool read_side(struct ab_conn *conn, struct ab_side *side, size_t most)
{
	enum ab_io io;

	do {
		io = ab_side_read(side, most);
	} while (io == AB_IO_DONE);
	if (io == AB_IO_FAILED)
		ab_conn_close(conn, true);
	return io != AB_IO_FAILED;
}

/* Read up to the size of a hello. */
static bool read_client(struct ab_conn *conn)
{
	return read_side(conn, &conn->client, AB_HELLO_MAX);
}

/* Nothing is to be judged: send what the server does not have yet, and all that follows. */
static void pass_rest(struct ab_conn *conn)
{
	ab_buf_skip(&conn->client.in, conn->ahead);
	ab_tunnel_relay(conn);
}

/* The server asked for another hello: judge that one too. */
static void judge_second_hello(struct ab_conn *conn)
{
	struct ab_hello hello;
	enum ab_first first;

	if (!pass_down(conn) || !read_client(conn))
		return;
	first = ab_hello_again(ab_buf_bytes(&conn->client.in), conn->client.in.len, &hello);
	if (first == AB_FIRST_TLS && check_hello(conn, &hello))
		ab_tunnel_relay(conn);
	else if (first != AB_FIRST_TLS && (first != AB_FIRST_MORE || conn->client.eof))
		ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
}

/* Send the first hello and wait for the server's reply. */
static void wait_for_server_hello(struct ab_conn *conn)
{
	enum ab_io io = ab_flow_move(&conn->up, conn->engine->pipes, &conn->client, &conn->server,
				     &conn->hello_left);
	enum ab_retry retry;

	if (io == AB_IO_FAILED) {
		ab_conn_close(conn, true);
		return;
	}
	if (!read_side(conn, &conn->server, REPLY_ROOM))
		return;
	retry = ab_hello_retry(ab_buf_bytes(&conn->server.in), conn->server.in.len);
	if (retry == AB_RETRY_YES) {
		conn->step = judge_second_hello;
		judge_second_hello(conn);
	} else if (retry == AB_RETRY_NO || conn->server.eof || conn->server.in.len >= REPLY_ROOM) {
		/* It cannot ask for another hello any more. */
		ab_tunnel_relay(conn);
	}
}

static void judge_hello(struct ab_conn *conn, const struct ab_hello *hello)
{
	ab_tunnel_note_hello(conn, hello);
	if (!check_hello(conn, hello))
		return;
	conn->hello_left = hello->used;
	ab_conn_deadline(conn, 0);
	ab_conn_whole(conn);
	conn->step = wait_for_server_hello;
	wait_for_server_hello(conn);
}

static size_t token_length(const uint8_t *data, size_t len)
{
	size_t i = 0;

	while (i < len && ab_http_tchar(data[i]))
		i++;
	return i;
}

static bool is_token(const uint8_t *data, size_t len)
{
	return token_length(data, len) == len;
}

/* A blank and more after the word: that may be a request. A line may end there. */
static void judge_after_word(struct ab_conn *conn, size_t word)
{
	const uint8_t *data = ab_buf_bytes(&conn->client.in);
	size_t len = conn->client.in.len, i = word;

	while (i < len && ab_hello_blank(data[i]))
		i++;
	if (i > word && i < len && data[i] != '\n')
		ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
	else if (i < len || conn->client.eof)
		ab_tunnel_relay(conn);
}

static void pass_long_word(struct ab_conn *conn)
{
	struct ab_buf *in = &conn->client.in;
	uint64_t word;
	enum ab_io io;

	if (!pass_down(conn) || !read_client(conn))
		return;
	word = token_length(ab_buf_bytes(in), in->len);
	if (word < in->len || conn->client.eof) {
		judge_after_word(conn, (size_t)word);
		return;
	}
	io = ab_flow_move(&conn->up, conn->engine->pipes, &conn->client, &conn->server, &word);
	if (io == AB_IO_FAILED)
		ab_conn_close(conn, true);
	else if (io == AB_IO_YIELD || (io == AB_IO_DONE && conn->client.readable))
		ab_conn_again(conn);
}

/* Undecided: hold the bytes, unless they are a token. */
static void wait_for_more(struct ab_conn *conn)
{
	struct ab_buf *in = &conn->client.in;
	bool token = is_token(ab_buf_bytes(in), in->len);

	ab_conn_half_open(conn);
	if (conn->client.eof && token) {
		pass_rest(conn);
	} else if (conn->client.eof) {
		ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
	} else if (token) {
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

/*
 * RTSP looks like HTTP, and some HTTP servers accept its version (proxy/wire/hello.c).
 * It passes only on its own ports, which an entry must name.
 */
static bool speaks_rtsp(const struct ab_conn *conn)
{
	static const uint16_t ports[] = { 322, 554, 8554 };
	const char *line = (const char *)ab_buf_bytes(&conn->client.in);
	const char *end = memchr(line, '\n', conn->client.in.len);
	size_t len = end ? (size_t)(end - line) : conn->client.in.len;

	for (size_t i = 0; i < AB_COUNT(ports); i++)
		if (conn->port == ports[i])
			return memmem(line, len, " RTSP/", 6) && !memmem(line, len, " HTTP/", 6);
	return false;
}

static void judge_first_bytes(struct ab_conn *conn)
{
	struct ab_hello hello;

	if (conn->client.in.len >= WORD_MAX && is_token(ab_buf_bytes(&conn->client.in), WORD_MAX)) {
		ab_buf_skip(&conn->client.in, conn->ahead);
		conn->ahead = 0;
		ab_conn_whole(conn);
		conn->step = pass_long_word;
		pass_long_word(conn);
		return;
	}
	switch (ab_hello_detect(ab_buf_bytes(&conn->client.in), conn->client.in.len, &hello)) {
	case AB_FIRST_MORE:
		wait_for_more(conn);
		return;
	case AB_FIRST_TLS:
		judge_hello(conn, &hello);
		return;
	case AB_FIRST_HTTP:
		if (!speaks_rtsp(conn)) {
			ab_exchange_start(conn, AB_EXCHANGE_TUNNEL);
			return;
		}
		pass_rest(conn);
		return;
	case AB_FIRST_HTTP2:
		ab_tunnel_cut(conn, AB_FAULT_HTTP2, NULL);
		return;
	case AB_FIRST_OTHER:
		pass_rest(conn);
		return;
	case AB_FIRST_BAD:
		ab_tunnel_cut(conn, AB_FAULT_MALFORMED, NULL);
		return;
	}
}

static void read_first_bytes(struct ab_conn *conn)
{
	if (!pass_down(conn) || !read_client(conn))
		return;
	if (ab_side_flush(&conn->server) == AB_IO_FAILED)
		ab_conn_close(conn, true);
	else if (conn->client.in.len > conn->ahead)
		judge_first_bytes(conn);
	else if (conn->client.eof)
		pass_rest(conn);
}

void ab_tunnel_read_first(struct ab_conn *conn)
{
	if (ab_inspection_covers(&conn->engine->inspection, conn->host, conn->port)) {
		ab_tunnel_tls_start(conn);
		return;
	}
	ab_tunnel_watch_kex(conn);
	ab_conn_deadline(conn, 0);
	conn->step = read_first_bytes;
	read_first_bytes(conn);
}
