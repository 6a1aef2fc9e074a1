/*
 * Any bytes from an HTTP/2 peer, hostile client or hostile server: what a stream
 * gives is HTTP/1.1 that the strict parsers accept, or refuse for its length or
 * target; nothing grows without bound.
 *
 * The first byte: role, size of the pieces, and how much the sides read.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/data/mem.h"
#include "proxy/h2/session.h"
#include "proxy/io/socket_side.h"
#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 64 };

struct reader {
	struct ab_side side;
	struct ab_buf got;
	struct ab_http_scan scan;
	struct ab_http_chunks chunks;
	enum ab_http_body body;
	bool client;  /* it reads responses */
	bool to_head; /* of a HEAD request */
	bool head, over, replied;
};

static struct reader readers[MOST];
static size_t nreaders;
static bool lazy;

static void nothing(void *arg)
{
	(void)arg;
}

static struct reader *new_reader(bool client)
{
	struct reader *r = &readers[nreaders++];

	*r = (struct reader){ .side = { .source = { .fd = -1 } }, .client = client };
	return r;
}

static void open_stream(void *arg, struct ab_h2_stream *stream)
{
	(void)arg;
	if (nreaders == MOST)
		ab_h2_stream_refuse(stream);
	else
		ab_h2_stream_attach(stream, &new_reader(false)->side, nothing, NULL);
}

static void write_text(struct reader *r, const char *text)
{
	ab_buf_puts(&r->side.out, text);
	(void)ab_side_flush(&r->side);
}

/* A whole head was given if any: the parser must not wait for more of it. */
static void check_head(struct reader *r)
{
	const void *data = ab_buf_bytes(&r->got);
	struct ab_http_request rq;
	struct ab_http_response rs;
	ssize_t n = r->client ? ab_http_read_response(&r->scan, data, r->got.len, r->to_head, &rs)
			      : ab_http_read_request(&r->scan, data, r->got.len, &rq);

	if (n == 0)
		return;
	if (n < 0) {
		r->over = true;
		return;
	}
	ab_buf_skip(&r->got, (size_t)n);
	r->scan = (struct ab_http_scan){ 0 };
	if (r->client && rs.status < 200)
		return;
	if (!r->client && (rq.head.upgrade || rq.head.keep))
		abort();
	if (r->client && rs.head.body == AB_HTTP_CLOSE)
		abort();
	r->head = true;
	r->body = r->client ? rs.head.body : rq.head.body;
}

static void check_body(struct reader *r)
{
	bool over;

	if (r->body == AB_HTTP_CHUNKED && ab_http_chunks_take(&r->chunks, ab_buf_bytes(&r->got),
							      r->got.len, NULL, NULL, &over) < 0)
		/* The name of a trailer may be one of framing or too long. */
		r->over = true;
	ab_buf_fini(&r->got);
}

static void serve(struct reader *r)
{
	enum ab_io io = AB_IO_DONE;

	while (io == AB_IO_DONE && !r->over && r->side.ops) {
		io = ab_side_read(&r->side, 1 << 20);
		if (r->side.in.len) {
			ab_buf_add(&r->got, r->side.in.data, r->side.in.len);
			ab_buf_fini(&r->side.in);
		}
		while (!r->head && !r->over && r->got.len) {
			size_t before = r->got.len;

			check_head(r);
			if (r->got.len == before)
				break;
		}
		if (r->head && r->got.len)
			check_body(r);
		if (r->head && !r->client && !r->replied) {
			r->replied = true;
			write_text(r, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				      "5\r\nhello\r\n0\r\nx: y\r\n\r\n");
		}
		if (lazy)
			break;
	}
	if (r->over || io == AB_IO_EOF || io == AB_IO_FAILED)
		ab_side_close(&r->side, r->over);
}

static void send_all(struct ab_h2_session *session)
{
	struct ab_buf out = { 0 };

	(void)ab_h2_session_send(session, &out, 1 << 20);
	ab_buf_fini(&out);
}

static void open_requests(struct ab_h2_session *session)
{
	static const char *const requests[] = {
		"GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"HEAD /c HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n",
		"POST /d HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
	};

	for (size_t i = 0; i < AB_COUNT(requests); i++) {
		struct reader *r = new_reader(true);

		r->to_head = requests[i][0] == 'H';
		ab_h2_stream_attach(ab_h2_stream_new(session, 0), &r->side, nothing, NULL);
		write_text(r, requests[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char magic[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	uint64_t now = 1000;
	struct ab_h2_setup setup = { .now = &now, .opened = open_stream, .wake = nothing };
	struct ab_h2_session *session;
	size_t step;

	if (!size)
		return 0;
	nreaders = 0;
	setup.server = data[0] & 1;
	setup.small = data[0] & 2;
	lazy = data[0] & 4;
	step = data[0] >> 3 ? data[0] >> 3 : size;
	session = ab_h2_session_new(&setup);
	if (setup.server)
		(void)ab_h2_session_receive(session, magic, sizeof(magic) - 1);
	else
		open_requests(session);
	send_all(session);
	for (size_t at = 1; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		if (ab_h2_session_receive(session, data + at, n) < 0)
			break;
		for (size_t i = 0; i < nreaders; i++)
			serve(&readers[i]);
		send_all(session);
		if (ab_h2_session_over(session))
			break;
	}
	for (size_t i = 0; i < nreaders; i++) {
		ab_side_close(&readers[i].side, true);
		ab_buf_fini(&readers[i].got);
	}
	ab_h2_session_free(session);
	return 0;
}
