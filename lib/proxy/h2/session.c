/*
 * Theory of operation.
 *
 * nghttp2 checks frames, windows and the fields of a message, and calls back. The
 * callbacks only fill the buffers of a stream and mark its side: whatever acts on
 * them runs later, so no session is used or freed from inside nghttp2.
 *
 * What nghttp2 does not bound is counted here: the size of a head, CONTINUATION
 * frames, resets (a request that is reset at once costs the proxy more than the
 * client), and frames that change nothing.
 */
#include "proxy/h2/session.h"

#include "proxy/h2/state.h"

enum {
	HEAD_MOST = 4 * AB_HTTP_HEAD_MAX, /* decoded bytes of a head */
	CONTINUATIONS = 16,		  /* of one head */
	RESETS = 1000,			  /* at once */
	RESETS_PER_SECOND = 33,
	IDLE = 10000, /* frames without effect */
	IDLE_PER_SECOND = 1000,
	QUEUED = 4096, /* frames that the peer does not read */
	/* Of a callback: too much of something. */
	END_SESSION = NGHTTP2_ERR_CALLBACK_FAILURE,
};

/* The memory of nghttp2 is erased when it is freed. */
struct block {
	size_t len;
	max_align_t data[];
};

static void *allocate(size_t len, void *arg)
{
	struct block *b = ab_alloc(sizeof(*b) + len);

	(void)arg;
	b->len = len;
	return b->data;
}

static struct block *block_of(void *data)
{
	return (struct block *)((char *)data - offsetof(struct block, data));
}

static void release(void *data, void *arg)
{
	struct block *b;

	(void)arg;
	if (!data)
		return;
	b = block_of(data);
	explicit_bzero(b->data, b->len);
	free(b);
}

static void *allocate_array(size_t n, size_t size, void *arg)
{
	size_t len;

	return __builtin_mul_overflow(n, size, &len) ? NULL : allocate(len, arg);
}

static void *reallocate(void *data, size_t len, void *arg)
{
	void *fresh = allocate(len, arg);
	size_t old = data ? block_of(data)->len : 0;

	if (old)
		memcpy(fresh, data, old < len ? old : len);
	release(data, arg);
	return fresh;
}

static int count_reset(struct ab_h2_session *h)
{
	return ab_bucket_take(&h->resets, *h->setup.now, RESETS, RESETS_PER_SECOND) ? 0
										    : END_SESSION;
}

static struct ab_h2_stream *find_stream(const struct ab_h2_session *h, int32_t id)
{
	struct ab_h2_stream *s = h->streams;

	while (s && s->id != id)
		s = s->next;
	return s;
}

static struct ab_h2_stream *stream_of(struct ab_h2_session *h, int32_t id)
{
	return nghttp2_session_get_stream_user_data(h->ng, id);
}

static int begin_frame(nghttp2_session *ng, const nghttp2_frame_hd *hd, void *arg)
{
	struct ab_h2_session *h = arg;

	(void)ng;
	if (hd->type == NGHTTP2_CONTINUATION)
		return ++h->continuations > CONTINUATIONS ? END_SESSION : 0;
	h->continuations = 0;
	if (hd->type == NGHTTP2_HEADERS || hd->type == NGHTTP2_WINDOW_UPDATE ||
	    hd->type == NGHTTP2_RST_STREAM ||
	    (hd->type == NGHTTP2_DATA && (hd->length || hd->flags & NGHTTP2_FLAG_END_STREAM)))
		return 0;
	return ab_bucket_take(&h->idle, *h->setup.now, IDLE, IDLE_PER_SECOND) ? 0 : END_SESSION;
}

static int begin_headers(nghttp2_session *ng, const nghttp2_frame *frame, void *arg)
{
	struct ab_h2_session *h = arg;
	int32_t id = frame->hd.stream_id;
	struct ab_h2_stream *s = stream_of(h, id);

	if (frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	if (h->setup.server && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
		s = ab_h2_stream_new(h, id);
		s->open = true;
		nghttp2_session_set_stream_user_data(ng, id, s);
	}
	if (s) {
		ab_h2_head_fini(&s->head);
		s->head.wipe = !h->setup.server;
	}
	return 0;
}

static int take_field(nghttp2_session *ng, const nghttp2_frame *frame, const uint8_t *name,
		      size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		      void *arg)
{
	struct ab_h2_session *h = arg;
	struct ab_h2_stream *s = stream_of(h, frame->hd.stream_id);

	(void)ng;
	(void)flags;
	if (!s)
		return 0;
	ab_h2_head_add(&s->head, (struct ab_http_text){ (const char *)name, name_len },
		       (struct ab_http_text){ (const char *)value, value_len });
	/* A short frame can decode to very much. */
	return s->head.size > HEAD_MOST ? END_SESSION : 0;
}

static void end_message(struct ab_h2_stream *s)
{
	s->ended = true;
	ab_h2_stream_wake(s, true, false);
}

static void reject_message(struct ab_h2_session *h, struct ab_h2_stream *s)
{
	nghttp2_submit_rst_stream(h->ng, 0, s->id, NGHTTP2_PROTOCOL_ERROR);
	ab_h2_stream_fail(s, NGHTTP2_PROTOCOL_ERROR);
}

static void take_request(struct ab_h2_session *h, struct ab_h2_stream *s, bool ended)
{
	s->to_head = ab_http_is_exactly(
		(struct ab_http_text){ s->head.method.data, s->head.method.len }, "HEAD");
	if (!ab_h2_head_request(&s->head, ended, &s->text, &s->in)) {
		nghttp2_submit_rst_stream(h->ng, 0, s->id, NGHTTP2_PROTOCOL_ERROR);
		return;
	}
	s->has_head = true;
	s->ended = ended;
	h->setup.opened(h->setup.arg, s);
}

static void take_response(struct ab_h2_session *h, struct ab_h2_stream *s, bool ended)
{
	s->text.wipe = true;
	/* Interim heads that nobody reads are not gathered. */
	if (s->text.len > AB_HTTP_HEAD_MAX ||
	    !ab_h2_head_response(&s->head, ended, s->to_head, &s->text, &s->in, &s->added)) {
		reject_message(h, s);
		return;
	}
	s->has_head = s->head.status >= 200;
	if (ended)
		end_message(s);
	else
		ab_h2_stream_wake(s, true, false);
}

/* nghttp2 accepts them only at the end. */
static void take_trailers(struct ab_h2_session *h, struct ab_h2_stream *s)
{
	s->trailers.wipe = !h->setup.server;
	if (ab_h2_head_trailers(&s->head, &s->trailers))
		end_message(s);
	else
		reject_message(h, s);
}

static int frame_received(nghttp2_session *ng, const nghttp2_frame *frame, void *arg)
{
	struct ab_h2_session *h = arg;
	struct ab_h2_stream *s = stream_of(h, frame->hd.stream_id);
	bool ended = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;

	(void)ng;
	switch (frame->hd.type) {
	case NGHTTP2_HEADERS:
		if (!s || s->failed)
			break;
		if (s->has_head)
			take_trailers(h, s);
		else if (h->setup.server)
			take_request(h, s, ended);
		else
			take_response(h, s, ended);
		ab_h2_head_fini(&s->head);
		break;
	case NGHTTP2_DATA:
		if (s && ended)
			end_message(s);
		break;
	case NGHTTP2_RST_STREAM:
		return count_reset(h);
	case NGHTTP2_GOAWAY:
		h->leaving = true;
		break;
	}
	return 0;
}

static int frame_invalid(nghttp2_session *ng, const nghttp2_frame *frame, int error, void *arg)
{
	(void)ng;
	(void)frame;
	(void)error;
	return count_reset(arg);
}

static int take_data(nghttp2_session *ng, uint8_t flags, int32_t id, const uint8_t *data,
		     size_t len, void *arg)
{
	struct ab_h2_session *h = arg;
	struct ab_h2_stream *s = stream_of(h, id);

	/* After its response nobody reads a request. */
	bool unread = !s || s->failed || !s->side || (h->setup.server && s->shut);

	(void)flags;
	if (unread || s->in == AB_HTTP_NONE) {
		nghttp2_session_consume(ng, id, len);
		if (s && h->setup.server && s->shut)
			ab_h2_stream_pass_over(s, len);
		return 0;
	}
	s->data.wipe = !h->setup.server;
	ab_buf_add(&s->data, data, len);
	ab_h2_stream_wake(s, true, false);
	return 0;
}

static int stream_closed(nghttp2_session *ng, int32_t id, uint32_t code, void *arg)
{
	struct ab_h2_stream *s = stream_of(arg, id);

	if (!s)
		return 0;
	nghttp2_session_set_stream_user_data(ng, id, NULL);
	s->open = false;
	ab_h2_stream_fail(s, code);
	ab_h2_stream_release(s);
	return 0;
}

static int frame_sent(nghttp2_session *ng, const nghttp2_frame *frame, void *arg)
{
	struct ab_h2_session *h = arg;
	struct ab_h2_stream *s = stream_of(h, frame->hd.stream_id);

	(void)ng;
	/* The peer can also cause the proxy to reset a stream. */
	if (frame->hd.type == NGHTTP2_RST_STREAM &&
	    frame->rst_stream.error_code == NGHTTP2_PROTOCOL_ERROR)
		return count_reset(h);
	if (s && (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
	    frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		ab_h2_stream_sent(s);
	return 0;
}

/* A request that cannot be sent: the server leaves. */
static int frame_not_sent(nghttp2_session *ng, const nghttp2_frame *frame, int error, void *arg)
{
	struct ab_h2_stream *s = find_stream(arg, frame->hd.stream_id);

	(void)error;
	if (!s || frame->hd.type != NGHTTP2_HEADERS || !s->open ||
	    nghttp2_session_get_stream_user_data(ng, s->id) == s)
		return 0;
	s->open = false;
	ab_h2_stream_fail(s, NGHTTP2_REFUSED_STREAM);
	ab_h2_stream_release(s);
	return 0;
}

static void set_callbacks(nghttp2_session_callbacks *c)
{
	nghttp2_session_callbacks_set_on_begin_frame_callback(c, begin_frame);
	nghttp2_session_callbacks_set_on_begin_headers_callback(c, begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(c, take_field);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, frame_received);
	nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(c, frame_invalid);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, take_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, stream_closed);
	nghttp2_session_callbacks_set_on_frame_send_callback(c, frame_sent);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(c, frame_not_sent);
}

/* nghttp2 fails only without memory, and then the program has ended. */
static void make_session(struct ab_h2_session *h)
{
	nghttp2_mem mem = { NULL, allocate, release, allocate_array, reallocate };
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;

	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_option_new(&option);
	set_callbacks(callbacks);
	nghttp2_option_set_no_auto_window_update(option, 1);
	nghttp2_option_set_no_closed_streams(option, 1);
	nghttp2_option_set_max_reserved_remote_streams(option, 0);
	nghttp2_option_set_peer_max_concurrent_streams(option, AB_H2_STREAMS);
	if (h->setup.server)
		nghttp2_session_server_new3(&h->ng, callbacks, h, option, &mem);
	else
		nghttp2_session_client_new3(&h->ng, callbacks, h, option, &mem);
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(callbacks);
}

struct ab_h2_session *ab_h2_session_new(const struct ab_h2_setup *setup)
{
	struct ab_h2_session *h = ab_alloc(sizeof(*h));
	uint32_t window = setup->small ? AB_H2_WINDOW_SMALL : AB_H2_WINDOW;
	nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, AB_HTTP_HEAD_MAX },
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, setup->server ? AB_H2_STREAMS : 0 },
		/* Of the two ends each sends one. */
		{ setup->server ? NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES
				: NGHTTP2_SETTINGS_ENABLE_PUSH,
		  setup->server ? 1 : 0 },
	};

	h->setup = *setup;
	h->resets = (struct ab_bucket){ RESETS * 1000, *setup->now };
	h->idle = (struct ab_bucket){ IDLE * 1000, *setup->now };
	make_session(h);
	nghttp2_submit_settings(h->ng, NGHTTP2_FLAG_NONE, settings, AB_COUNT(settings));
	if (!setup->small)
		nghttp2_session_set_local_window_size(h->ng, NGHTTP2_FLAG_NONE, 0,
						      AB_H2_WINDOW_ALL);
	return h;
}

void ab_h2_session_free(struct ab_h2_session *h)
{
	if (!h)
		return;
	while (h->streams)
		ab_h2_stream_free(h->streams);
	nghttp2_session_del(h->ng);
	free(h);
}

int ab_h2_session_receive(struct ab_h2_session *h, const void *data, size_t len)
{
	ssize_t n = nghttp2_session_mem_recv(h->ng, data, len);

	return n < 0 || nghttp2_session_get_outbound_queue_size(h->ng) > QUEUED ? -1 : 0;
}

int ab_h2_session_send(struct ab_h2_session *h, struct ab_buf *out, size_t room)
{
	while (out->len < room) {
		const uint8_t *data;
		ssize_t n = nghttp2_session_mem_send(h->ng, &data);

		if (n <= 0)
			return n < 0 ? -1 : 0;
		ab_buf_add(out, data, (size_t)n);
	}
	return 0;
}

bool ab_h2_session_over(const struct ab_h2_session *h)
{
	return h->lost || (!nghttp2_session_want_read(h->ng) && !nghttp2_session_want_write(h->ng));
}

bool ab_h2_session_leaving(const struct ab_h2_session *h)
{
	return h->leaving || h->lost;
}

void ab_h2_session_drain(struct ab_h2_session *h)
{
	if (h->drained || h->lost)
		return;
	h->drained = true;
	nghttp2_submit_goaway(h->ng, NGHTTP2_FLAG_NONE,
			      nghttp2_session_get_last_proc_stream_id(h->ng), NGHTTP2_NO_ERROR,
			      NULL, 0);
}

void ab_h2_session_lose(struct ab_h2_session *h)
{
	struct ab_h2_stream *next;

	h->lost = true;
	for (struct ab_h2_stream *s = h->streams; s; s = next) {
		next = s->next;
		s->open = false;
		ab_h2_stream_fail(s, NGHTTP2_INTERNAL_ERROR);
		ab_h2_stream_release(s);
	}
}

size_t ab_h2_session_streams(const struct ab_h2_session *h)
{
	return h->nstreams;
}
