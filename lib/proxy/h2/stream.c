/*
 * One stream, as a side sees it: HTTP/1.1 to read and to write.
 *
 * Reading frames the body only as it is read, so that a body in tiny frames takes
 * no more memory than its bytes; the peer's window grows by what was read. Writing
 * parses the head, which exchange.c wrote, and holds a bounded part of the body
 * until the peer's window lets nghttp2 take it.
 */
#include "base/data/list.h"
#include "proxy/h2/state.h"
#include "proxy/io/socket_side.h"

enum {
	CHUNK = 16 * 1024,    /* of a body, framed at once */
	OUT_ROOM = 64 * 1024, /* of a body that waits for the peer */
	HEAD_ROOM = AB_HTTP_HEAD_MAX + 4096,
	UNREAD_MOST = 64 * 1024,
	FIELDS_ROOM = AB_HTTP_FIELDS + 4,
};

struct ab_h2_stream *ab_h2_stream_new(struct ab_h2_session *h, int32_t id)
{
	struct ab_h2_stream *s = ab_alloc(sizeof(*s));
	bool wipe = !h->setup.server;

	s->session = h;
	s->id = id;
	s->out_head.wipe = s->out.wipe = s->out_trailers.wipe = wipe;
	ab_list_push(&h->streams, s);
	h->nstreams++;
	return s;
}

void ab_h2_stream_free(struct ab_h2_stream *s)
{
	ab_list_remove(s);
	s->session->nstreams--;
	ab_h2_head_fini(&s->head);
	ab_buf_fini_all(&s->text, &s->data, &s->trailers, &s->out_head, &s->out, &s->out_trailers);
	free(s);
}

void ab_h2_stream_release(struct ab_h2_stream *s)
{
	if (s->open || s->side)
		return;
	s->session->setup.wake(s->session->setup.arg);
	ab_h2_stream_free(s);
}

void ab_h2_stream_wake(struct ab_h2_stream *s, bool readable, bool writable)
{
	if (!s->side)
		return;
	s->side->readable |= readable;
	s->side->writable |= writable;
	s->ready(s->arg);
}

/* It was closed, or its message cannot be used. */
void ab_h2_stream_fail(struct ab_h2_stream *s, uint32_t code)
{
	if (!s->failed)
		s->code = code;
	s->failed = true;
	ab_h2_stream_wake(s, true, true);
}

/*
 * The client may not have sent all of its request; nobody will read it. A short rest is passed
 * over: a client that is still sending fails at a reset before it reads the response.
 */
static void stop_request(struct ab_h2_stream *s)
{
	if (s->open && s->sent && s->shut && !s->ended && s->unread > UNREAD_MOST)
		nghttp2_submit_rst_stream(s->session->ng, 0, s->id, NGHTTP2_NO_ERROR);
}

void ab_h2_stream_pass_over(struct ab_h2_stream *s, size_t len)
{
	bool stopped = s->unread > UNREAD_MOST;

	s->unread += len;
	if (!stopped)
		stop_request(s);
}

void ab_h2_stream_sent(struct ab_h2_stream *s)
{
	s->sent = true;
	if (s->session->setup.server)
		stop_request(s);
}

static void count_consumed(struct ab_h2_stream *s, size_t n)
{
	if (!n || s->session->lost)
		return;
	nghttp2_session_consume(s->session->ng, s->id, n);
	s->session->setup.wake(s->session->setup.arg);
}

static void frame_chunk(struct ab_h2_stream *s)
{
	size_t n = s->data.len < CHUNK ? s->data.len : CHUNK;

	s->text.wipe = s->data.wipe;
	ab_buf_printf(&s->text, "%zx\r\n", n);
	ab_buf_add(&s->text, s->data.data, n);
	ab_buf_add(&s->text, "\r\n", 2);
	ab_buf_skip(&s->data, n);
	count_consumed(s, n);
}

static void frame_end(struct ab_h2_stream *s)
{
	s->last = true;
	if (s->in != AB_HTTP_CHUNKED)
		return;
	s->text.wipe = s->data.wipe;
	ab_buf_puts(&s->text, "0\r\n");
	ab_buf_add(&s->text, s->trailers.data, s->trailers.len);
	ab_buf_puts(&s->text, "\r\n");
	ab_buf_fini(&s->trailers);
}

static ssize_t take_out(struct ab_buf *from, void *data, size_t len)
{
	size_t n = from->len < len ? from->len : len;

	if (n)
		memcpy(data, from->data, n);
	ab_buf_skip(from, n);
	return (ssize_t)n;
}

static ssize_t read_stream(void *stream, void *data, size_t len)
{
	struct ab_h2_stream *s = stream;
	ssize_t n;

	if (!s->text.len && s->data.len && s->in == AB_HTTP_CHUNKED)
		frame_chunk(s);
	if (!s->text.len && s->data.len) {
		n = take_out(&s->data, data, len);
		count_consumed(s, (size_t)n);
		return n;
	}
	if (!s->text.len && s->ended && !s->last)
		frame_end(s);
	if (s->text.len)
		return take_out(&s->text, data, len);
	/* After the response nobody reads the rest of a request. */
	if (s->last || (s->shut && s->session->setup.server))
		return 0;
	s->side->readable = false;
	errno = s->failed ? ECONNRESET : EAGAIN;
	return -1;
}

static nghttp2_nv make_field(struct ab_http_text name, struct ab_http_text value)
{
	return (nghttp2_nv){ (uint8_t *)name.s, (uint8_t *)value.s, name.len, value.len,
			     NGHTTP2_NV_FLAG_NONE };
}

static nghttp2_nv make_pseudo(const char *name, struct ab_http_text value)
{
	return make_field(ab_http_text(name), value);
}

/* Is it a field of the message, and not of HTTP/1.1? */
static bool is_carried(const struct ab_h2_stream *s, const struct ab_http_field *f)
{
	switch (f->id) {
	case AB_HTTP_CONNECTION:
	case AB_HTTP_HOP:
	case AB_HTTP_HOST:
	case AB_HTTP_HTTP2_SETTINGS:
	case AB_HTTP_TRANSFER_ENCODING:
	case AB_HTTP_UPGRADE:
		return false;
	case AB_HTTP_TE:
		return ab_http_is(f->value, "trailers");
	case AB_HTTP_CONTENT_LENGTH:
		return !s->no_length;
	case AB_HTTP_EXPECT:
	case AB_HTTP_TRAILER:
	case AB_HTTP_OTHER:
		break;
	}
	return true;
}

/* Fields that are the same in most requests of a client, and never a secret. Others
 * are not kept in the tables of the compression. */
static bool is_common(struct ab_http_text name)
{
	return ab_http_is_one(name,
			      "accept accept-encoding accept-language content-type te user-agent");
}

/* Append the fields to `nv`. Names are written in lower case to `names`, which must
 * have room for all of them. */
static size_t add_fields(const struct ab_h2_stream *s, const struct ab_http_head *head, char *names,
			 nghttp2_nv *nv, size_t n)
{
	for (size_t i = 0; i < head->nfields; i++) {
		const struct ab_http_field *f = &head->fields[i];
		struct ab_http_text name = { names, f->name.len };

		if (!is_carried(s, f))
			continue;
		for (size_t k = 0; k < name.len; k++)
			*names++ = (char)ab_lower(f->name.s[k]);
		nv[n] = make_field(name, f->value);
		if (!is_common(name))
			nv[n].flags = NGHTTP2_NV_FLAG_NO_INDEX;
		n++;
	}
	return n;
}

static bool send_trailers(struct ab_h2_stream *s)
{
	struct ab_http_scan scan = { 0 };
	struct ab_http_response rs;
	ab_autofree char *names = ab_alloc(s->out_trailers.len + 64);
	ab_autobuf struct ab_buf text = { .wipe = s->out_trailers.wipe };
	nghttp2_nv nv[FIELDS_ROOM];
	size_t n;

	/* They have the form of the fields of a head. */
	ab_buf_puts(&text, "HTTP/1.1 200 \r\n");
	ab_buf_add(&text, s->out_trailers.data, s->out_trailers.len);
	if (ab_http_read_response(&scan, text.data, text.len, true, &rs) <= 0)
		return false;
	n = add_fields(s, &rs.head, names, nv, 0);
	return n && nghttp2_submit_trailer(s->session->ng, s->id, nv, n) == 0;
}

static ssize_t give_body(nghttp2_session *ng, int32_t id, uint8_t *data, size_t len,
			 uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct ab_h2_stream *s = source->ptr;
	ssize_t n;

	(void)ng;
	(void)id;
	(void)arg;
	n = take_out(&s->out, data, len);
	if (s->out.len < OUT_ROOM / 2)
		ab_h2_stream_wake(s, false, true);
	if (s->out.len || s->state != AB_H2_OUT_OVER) {
		s->deferred = n == 0;
		return n ? n : NGHTTP2_ERR_DEFERRED;
	}
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (s->out_trailers.len > 2 && send_trailers(s))
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
	return n;
}

static bool send_request(struct ab_h2_stream *s, const struct ab_http_request *rq, char *names)
{
	nghttp2_session *ng = s->session->ng;
	nghttp2_data_provider body = { { .ptr = s }, give_body };
	const char *scheme = s->session->setup.tls ? "https" : "http";
	const struct ab_http_field *host = ab_http_find(&rq->head, "host");
	nghttp2_nv nv[FIELDS_ROOM];
	size_t n = 4;

	nv[0] = make_pseudo(":method", rq->method);
	nv[1] = make_pseudo(":scheme", ab_http_text(scheme));
	nv[2] = make_pseudo(":authority", host ? host->value : ab_http_text(""));
	nv[3] = make_pseudo(":path", rq->target);
	/* It may contain a secret. */
	nv[3].flags = NGHTTP2_NV_FLAG_NO_INDEX;
	n = add_fields(s, &rq->head, names, nv, n);
	s->to_head = ab_http_is_exactly(rq->method, "HEAD");
	s->id = nghttp2_submit_request(ng, NULL, nv, n,
				       rq->head.body == AB_HTTP_NONE ? NULL : &body, s);
	s->open = s->id > 0;
	return s->open;
}

static bool send_response(struct ab_h2_stream *s, const struct ab_http_response *rs, char *names)
{
	nghttp2_session *ng = s->session->ng;
	nghttp2_data_provider body = { { .ptr = s }, give_body };
	nghttp2_nv nv[FIELDS_ROOM];
	char status[8];
	size_t n = 1;

	snprintf(status, sizeof(status), "%d", rs->status);
	nv[0] = make_pseudo(":status", (struct ab_http_text){ status, 3 });
	n = add_fields(s, &rs->head, names, nv, n);
	if (rs->status < 200)
		return nghttp2_submit_headers(ng, NGHTTP2_FLAG_NONE, s->id, NULL, nv, n, NULL) == 0;
	return nghttp2_submit_response(ng, s->id, nv, n,
				       rs->head.body == AB_HTTP_NONE ? NULL : &body) == 0;
}

/* Parse the head and send it. >0: its length; 0: incomplete; -1: it failed. */
static ssize_t send_head(struct ab_h2_stream *s)
{
	bool server = s->session->setup.server;
	ab_autofree char *names = ab_alloc(s->out_head.len + 1);
	struct ab_http_request rq;
	struct ab_http_response rs;
	const struct ab_http_head *head = server ? &rs.head : &rq.head;
	ssize_t n;

	n = server ? ab_http_read_response(&s->scan, s->out_head.data, s->out_head.len, s->to_head,
					   &rs)
		   : ab_http_read_request(&s->scan, s->out_head.data, s->out_head.len, &rq);
	if (n <= 0)
		return n < 0 ? -1 : 0;
	if (!(server ? send_response(s, &rs, names) : send_request(s, &rq, names)))
		return -1;
	s->scan = (struct ab_http_scan){ 0 };
	if (server && rs.status < 200)
		return n;
	s->out_body = head->body;
	s->left = head->length;
	s->state = head->body == AB_HTTP_NONE ? AB_H2_OUT_OVER : AB_H2_OUT_BODY;
	return n;
}

/* Bytes of a body in chunks. false: malformed. */
static bool take_chunks(struct ab_h2_stream *s, const uint8_t *data, size_t len)
{
	bool over;
	ssize_t n = ab_http_chunks_take(&s->chunks, data, len, &s->out, &s->out_trailers, &over);

	if (over)
		s->state = AB_H2_OUT_OVER;
	return n == (ssize_t)len;
}

static bool take_body(struct ab_h2_stream *s, const uint8_t *data, size_t len)
{
	switch (s->out_body) {
	case AB_HTTP_CHUNKED:
		return take_chunks(s, data, len);
	case AB_HTTP_LENGTH:
		if (len > s->left)
			return false;
		s->left -= len;
		if (!s->left)
			s->state = AB_H2_OUT_OVER;
		break;
	case AB_HTTP_CLOSE:
		break;
	case AB_HTTP_NONE:
		return !len;
	}
	ab_buf_add(&s->out, data, len);
	return true;
}

static ssize_t fail_write(struct ab_h2_stream *s)
{
	ab_h2_stream_fail(s, NGHTTP2_INTERNAL_ERROR);
	return ab_errno(EPROTO);
}

/* Heads, and what follows them. false: it failed. */
static bool take_heads(struct ab_h2_stream *s)
{
	while (s->state == AB_H2_OUT_HEAD && s->out_head.len) {
		ssize_t n = send_head(s);

		if (n <= 0)
			return n == 0;
		ab_buf_skip(&s->out_head, (size_t)n);
	}
	if (!s->out_head.len)
		return true;
	if (!take_body(s, ab_buf_bytes(&s->out_head), s->out_head.len))
		return false;
	ab_buf_fini(&s->out_head);
	return true;
}

static ssize_t write_stream(void *stream, const void *data, size_t len)
{
	struct ab_h2_stream *s = stream;
	size_t room = s->out.len < OUT_ROOM ? OUT_ROOM - s->out.len : 0;
	bool good;

	if (s->failed || s->session->lost)
		return ab_errno(ECONNRESET);
	if (s->state == AB_H2_OUT_HEAD) {
		ab_buf_add(&s->out_head, data, len);
		good = take_heads(s) && s->out_head.len <= HEAD_ROOM;
	} else {
		if (!room) {
			s->side->writable = false;
			return ab_errno(EAGAIN);
		}
		len = len < room ? len : room;
		good = s->state == AB_H2_OUT_BODY && take_body(s, data, len);
	}
	if (!good)
		return fail_write(s);
	if (s->deferred) {
		s->deferred = false;
		nghttp2_session_resume_data(s->session->ng, s->id);
	}
	s->session->setup.wake(s->session->setup.arg);
	return (ssize_t)len;
}

static void reset_stream(struct ab_h2_stream *s)
{
	uint32_t code = s->session->setup.server ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_CANCEL;

	if (!s->open)
		return;
	nghttp2_submit_rst_stream(s->session->ng, 0, s->id, s->reset ? s->reset : code);
	s->session->setup.wake(s->session->setup.arg);
}

static void shut_stream(void *stream)
{
	struct ab_h2_stream *s = stream;

	s->shut = true;
	if (s->state == AB_H2_OUT_BODY && s->out_body == AB_HTTP_CLOSE) {
		s->state = AB_H2_OUT_OVER;
		if (s->open && s->deferred)
			nghttp2_session_resume_data(s->session->ng, s->id);
	} else if (s->state != AB_H2_OUT_OVER) {
		reset_stream(s);
	} else if (s->session->setup.server) {
		stop_request(s);
	}
	s->session->setup.wake(s->session->setup.arg);
}

static void close_stream(void *stream, bool reset)
{
	struct ab_h2_stream *s = stream;
	bool whole = s->state == AB_H2_OUT_OVER && (s->ended || s->session->setup.server);

	s->side = NULL;
	if (reset || !whole)
		reset_stream(s);
	/* What is left of it is not read any more. */
	s->shut = true;
	if (s->session->setup.server) {
		s->unread += s->data.len;
		stop_request(s);
	}
	count_consumed(s, s->data.len);
	ab_buf_fini(&s->data);
	ab_h2_stream_release(s);
}

void ab_h2_stream_attach(struct ab_h2_stream *s, struct ab_side *side, void (*ready)(void *arg),
			 void *arg)
{
	static const struct ab_side_stream ops = { read_stream, write_stream, shut_stream,
						   close_stream };

	s->side = side;
	s->ready = ready;
	s->arg = arg;
	side->ops = &ops;
	side->stream = s;
	side->readable = side->writable = true;
}

void ab_h2_stream_refuse(struct ab_h2_stream *s)
{
	s->reset = NGHTTP2_REFUSED_STREAM;
	reset_stream(s);
}

bool ab_h2_stream_refused(const struct ab_h2_stream *s)
{
	return s->failed && s->code == NGHTTP2_REFUSED_STREAM && !s->has_head;
}

void ab_h2_stream_follow(struct ab_h2_stream *s, const struct ab_h2_stream *server)
{
	s->no_length = server->added;
	if (server->failed && server->code)
		s->reset = server->code;
}
