/*
 * Theory of operation.
 *
 * Bytes arrive in from->in; decode_body() moves the payload into `plain`, which
 * is scrubbed in place or swapped. Final bytes go, framed, into to->out, which
 * is flushed before more is read: memory holds at most one read plus what is
 * held back.
 *
 * A response without chunks, such as a big download, is scrubbed in place in
 * from->in and written from there. So are WebSocket messages of one frame:
 * bytes that may begin a value are not held back past the end of a message,
 * because the next one may come much later. The fragments of a longer message
 * are one text: their payload goes through `plain` and into frames of our own,
 * so that a value cannot hide across their borders.
 *
 * A gRPC message is such a unit too: its sender may wait for the answer before it
 * sends the next one, so nothing is held back past its end.
 */
#include "proxy/conn/body_filter.h"

#include "proxy/wire/http_chunks.h"

enum {
	/* Read at once, after what is held back: both in 64 KiB, unless that is long. */
	ROOM = 60 * 1024,
	SHARE = 64, /* rounds per turn */
};

struct ab_body_filter {
	struct ab_body_filter_setup setup;
	struct ab_http_chunks chunks;
	struct ab_buf plain;
	struct ab_buf fresh;	/* of gRPC messages, before `plain` */
	uint8_t prefix[5];	/* of the message: a flag, and its length */
	uint8_t prefixed;	/* bytes of that */
	uint32_t message;	/* bytes to come of it */
	struct ab_buf trailers; /* of a response, with the empty line that ends them */
	uint64_t left;		/* bytes to come: AB_HTTP_LENGTH, or the frame */
	size_t clean;		/* bytes of from->in that are final, to be written */
	size_t held;		/* bytes after them: searched, not final */
	bool ended;		/* the whole body has arrived */
	bool over;		/* and was passed on */
	bool fragment;		/* the frame is a part of a message: `left` is its payload */
	uint8_t first;		/* flags and opcode for our next frame of the message */
	bool last;		/* the fragment ends the message */
	struct ab_body_fault fault;
};

struct ab_body_filter *ab_body_filter_new(const struct ab_body_filter_setup *setup)
{
	struct ab_body_filter *s = ab_alloc(sizeof(*s));

	s->setup = *setup;
	s->left = setup->length;
	s->ended = setup->in == AB_HTTP_NONE || (setup->in == AB_HTTP_LENGTH && !s->left);
	s->over = s->ended && setup->out != AB_HTTP_CHUNKED;
	s->plain.wipe = s->trailers.wipe = s->fresh.wipe = true;
	return s;
}

void ab_body_filter_free(struct ab_body_filter *s)
{
	if (!s)
		return;
	ab_buf_fini_all(&s->plain, &s->trailers, &s->fresh);
	free(s);
}

const struct ab_body_fault *ab_body_filter_fault(const struct ab_body_filter *s)
{
	return &s->fault;
}

/* Is the end of the unit that is searched known? */
static bool is_bounded(const struct ab_body_filter *s)
{
	return s->setup.in == AB_HTTP_LENGTH || (s->setup.frames && !s->ended);
}

/* How many of these bytes belong to a body without chunks. */
static size_t limit_to_body(const struct ab_body_filter *s, size_t have)
{
	return is_bounded(s) && have > s->left ? (size_t)s->left : have;
}

static void count_down(struct ab_body_filter *s, size_t n)
{
	if (!is_bounded(s))
		return;
	s->left -= n;
	if (!s->setup.frames)
		s->ended = s->left == 0;
}

enum { FRAME_FIN = 0x80, FRAME_OPCODE = 0x0f, FRAME_CONTROL = 0x08, FRAME_MASK = 0x80 };

/* The length of a frame including its head (RFC 6455, 5.2); 0: the head is
 * incomplete. */
static uint64_t frame_length(const uint8_t *data, size_t len, size_t *ret_head)
{
	size_t head = 2, more;
	uint64_t n;

	if (len < head)
		return 0;
	n = data[1] & 0x7f;
	more = n == 127 ? 8 : n == 126 ? 2 : 0;
	if (len < head + more)
		return 0;
	if (more)
		n = 0;
	for (size_t i = 0; i < more; i++)
		n = n << 8 | data[head + i];
	head += more + (data[1] & FRAME_MASK ? 4 : 0);
	*ret_head = head;
	/* Treat an impossible length as endless. */
	return n < UINT64_MAX - head ? head + n : UINT64_MAX;
}

/* Is it one of several frames of a message? Control frames may be between them. */
static bool is_fragment(uint8_t head)
{
	return !(head & FRAME_CONTROL) && (!(head & FRAME_FIN) || !(head & FRAME_OPCODE));
}

/* A frame begins: read its head, if it is there. */
static void begin_frame(struct ab_body_filter *s, struct ab_buf *in)
{
	const uint8_t *data = ab_buf_bytes(in);
	size_t head = 0;

	s->left = frame_length(data, in->len, &head);
	s->fragment = s->left && is_fragment(data[0]);
	if (!s->fragment)
		return;
	/* A server never masks; a payload with a mask could not be searched. */
	if (s->left == UINT64_MAX || (data[1] & FRAME_MASK)) {
		s->fault.malformed = true;
		return;
	}
	s->last = data[0] & FRAME_FIN;
	if (data[0] & FRAME_OPCODE)
		s->first = (uint8_t)(data[0] & ~FRAME_FIN);
	s->left -= head;
	ab_buf_skip(in, head);
}

/* How many of these bytes are searched as one unit. */
static size_t measure_unit(struct ab_body_filter *s, struct ab_buf *in)
{
	if (s->setup.frames && !s->left && !s->fragment && !s->ended && !s->fault.malformed)
		begin_frame(s, in);
	return limit_to_body(s, in->len);
}

static bool decode_chunks(struct ab_body_filter *s, struct ab_buf *in)
{
	ssize_t n = ab_http_chunks_take(&s->chunks, in->data, in->len,
					s->setup.messages ? &s->fresh : &s->plain,
					s->setup.scrub ? &s->trailers : NULL, &s->ended);

	s->fault.too_long = s->setup.most && s->chunks.payload > s->setup.most;
	if (n < 0 || s->fault.too_long)
		return false;
	ab_buf_skip(in, (size_t)n);
	return true;
}

/* Move the payload that has arrived into `plain`. */
static bool decode_body(struct ab_body_filter *s, struct ab_buf *in)
{
	size_t n;

	if (s->setup.in == AB_HTTP_CHUNKED)
		return decode_chunks(s, in);
	n = limit_to_body(s, in->len);
	if (!n)
		return true;
	ab_buf_add(&s->plain, ab_buf_bytes(in), n);
	ab_buf_skip(in, n);
	count_down(s, n);
	return true;
}

/* Move what has arrived of one gRPC message into `plain`. true: all of it has. */
static bool take_message(struct ab_body_filter *s)
{
	while (s->fresh.len) {
		const uint8_t *data = ab_buf_bytes(&s->fresh);
		size_t n = 1;

		if (s->prefixed < sizeof(s->prefix)) {
			s->prefix[s->prefixed++] = data[0];
			s->message = (uint32_t)s->prefix[1] << 24 | (uint32_t)s->prefix[2] << 16 |
				     (uint32_t)s->prefix[3] << 8 | s->prefix[4];
		} else {
			n = s->fresh.len < s->message ? s->fresh.len : s->message;
			s->message -= (uint32_t)n;
		}
		ab_buf_add(&s->plain, data, n);
		ab_buf_skip(&s->fresh, n);
		if (s->prefixed == sizeof(s->prefix) && !s->message) {
			s->prefixed = 0;
			return true;
		}
	}
	return false;
}

static void emit_framed(struct ab_body_filter *s, const void *data, size_t len,
			struct ab_flow *flow, struct ab_buf *out)
{
	bool chunked = s->setup.out == AB_HTTP_CHUNKED;
	char size[24];

	if (!len)
		return;
	if (chunked)
		ab_buf_add(out, size, (size_t)snprintf(size, sizeof(size), "%zx\r\n", len));
	ab_buf_add(out, data, len);
	if (chunked)
		ab_buf_add(out, "\r\n", 2);
	flow->moved += len;
}

static void scrub_decoded(struct ab_body_filter *s, bool end, struct ab_flow *flow,
			  struct ab_buf *out)
{
	size_t n;

	if (!s->plain.len)
		return;
	n = ab_scrub_take(s->setup.scrub, (uint8_t *)s->plain.data, s->plain.len, end);
	emit_framed(s, ab_buf_bytes(&s->plain), n, flow, out);
	ab_buf_skip(&s->plain, n);
}

/* A frame with these bytes of a message. */
static void emit_frame(struct ab_body_filter *s, const void *data, size_t len, bool last,
		       struct ab_flow *flow, struct ab_buf *out)
{
	uint8_t head[10] = { (uint8_t)(s->first | (last ? FRAME_FIN : 0)) };
	size_t n = 2, more = len > UINT16_MAX ? 8 : len > 125 ? 2 : 0;

	head[1] = (uint8_t)(more == 8 ? 127 : more == 2 ? 126 : len);
	for (size_t i = more; i-- > 0;)
		head[n++] = (uint8_t)((uint64_t)len >> 8 * i);
	ab_buf_add(out, head, n);
	ab_buf_add(out, data, len);
	flow->moved += n + len;
	s->first = 0;
}

/* Move what has arrived of the fragment into `plain`, and what is final of that
 * into a frame. */
static void scrub_fragment(struct ab_body_filter *s, struct ab_flow *flow, struct ab_buf *in,
			   struct ab_buf *out)
{
	bool last;
	size_t n;

	(void)decode_body(s, in);
	s->fragment = s->left > 0;
	last = s->last && !s->left;
	n = s->plain.len
		    ? ab_scrub_take(s->setup.scrub, (uint8_t *)s->plain.data, s->plain.len, last)
		    : 0;
	if (n || last)
		emit_frame(s, ab_buf_bytes(&s->plain), n, last, flow, out);
	ab_buf_skip(&s->plain, n);
}

/* Verify and sign the chunks; they may be refused. */
static void sign_decoded(struct ab_body_filter *s, const struct ab_buf *plain, struct ab_flow *flow,
			 struct ab_buf *out)
{
	ab_autobuf struct ab_buf result = { 0 };

	s->fault.refused = ab_sign_chunks_take(s->setup.chunks, ab_buf_bytes(plain), plain->len,
					       s->ended, &result);
	emit_framed(s, ab_buf_bytes(&result), result.len, flow, out);
}

static bool swap_decoded(struct ab_body_filter *s, bool end, struct ab_flow *flow,
			 struct ab_buf *out)
{
	ab_autobuf struct ab_buf swapped = { .wipe = true };
	enum ab_swap_result result = ab_swap_body_take(s->setup.swap, ab_buf_bytes(&s->plain),
						       s->plain.len, end, &swapped);

	ab_buf_fini(&s->plain);
	s->fault.tripped = result == AB_SWAP_TRIPWIRE;
	if (!s->fault.tripped) {
		out->wipe |= result == AB_SWAP_DONE;
		if (s->setup.chunks)
			sign_decoded(s, &swapped, flow, out);
		else
			emit_framed(s, ab_buf_bytes(&swapped), swapped.len, flow, out);
	}
	return !s->fault.tripped && !s->fault.refused;
}

/* The last chunk. Trailers of a response are searched as one text. */
static void emit_end(struct ab_body_filter *s, struct ab_buf *out)
{
	ab_buf_add(out, "0\r\n", 3);
	if (!s->trailers.len) {
		ab_buf_add(out, "\r\n", 2);
		return;
	}
	ab_scrub_take(s->setup.scrub, (uint8_t *)s->trailers.data, s->trailers.len, true);
	ab_buf_add(out, s->trailers.data, s->trailers.len);
	ab_buf_fini(&s->trailers);
}

/* false: the body failed. */
static bool filter_arrived(struct ab_body_filter *s, struct ab_flow *flow, struct ab_side *from,
			   struct ab_buf *out)
{
	if (!decode_body(s, &from->in)) {
		s->fault.malformed = !s->fault.too_long;
		return false;
	}
	do {
		bool whole = take_message(s);
		bool end = whole || (s->ended && !s->fresh.len);

		if (s->setup.scrub)
			scrub_decoded(s, end, flow, out);
		else if (!swap_decoded(s, end, flow, out))
			return false;
	} while (s->fresh.len);
	if (s->ended && !s->over) {
		s->over = true;
		if (s->setup.out == AB_HTTP_CHUNKED)
			emit_end(s, out);
	}
	return true;
}

/* Read more unless the body is complete. EOF ends the body only if nothing
 * else marks its end. */
static enum ab_io read_body(struct ab_body_filter *s, struct ab_side *from)
{
	enum ab_io io;

	if (s->ended)
		return AB_IO_DONE;
	io = ab_side_read_body(from, s->held + ROOM);
	if (io == AB_IO_EOF && s->setup.in == AB_HTTP_CLOSE) {
		s->ended = true;
		return AB_IO_DONE;
	}
	return io;
}

/* No chunks on either side, and the length does not change. */
static bool is_in_place(const struct ab_body_filter *s)
{
	return s->setup.scrub && s->setup.out == s->setup.in && s->setup.in != AB_HTTP_CHUNKED;
}

static void scrub_in_place(struct ab_body_filter *s, struct ab_buf *in)
{
	size_t have = measure_unit(s, in);

	if (have)
		s->clean = ab_scrub_take(s->setup.scrub, (uint8_t *)in->data, have,
					 s->ended || (is_bounded(s) && have == s->left));
	s->held = have - s->clean;
	count_down(s, s->clean);
	s->over = s->ended;
}

/* Nothing is missing of it. */
static bool is_empty_fragment(const struct ab_body_filter *s)
{
	return s->fragment && !s->left && !s->fault.malformed;
}

static enum ab_io move_in_place(struct ab_body_filter *s, struct ab_flow *flow,
				struct ab_side *from, struct ab_side *to)
{
	uint64_t written;
	enum ab_io io = ab_side_write(to, &from->in, s->clean, &written);

	s->clean -= (size_t)written;
	flow->moved += written;
	if (io != AB_IO_DONE)
		return io;
	if (s->over)
		return AB_IO_DONE;
	if (measure_unit(s, &from->in) == s->held && !is_empty_fragment(s)) {
		io = read_body(s, from);
		if (io != AB_IO_DONE)
			return io;
		measure_unit(s, &from->in);
	}
	if (s->fault.malformed)
		return AB_IO_FAILED;
	if (s->fragment && !s->ended)
		scrub_fragment(s, flow, &from->in, &to->out);
	else
		scrub_in_place(s, &from->in);
	return AB_IO_YIELD;
}

void ab_body_filter_gather(struct ab_body_filter *s, struct ab_flow *flow, struct ab_side *from,
			   struct ab_side *to)
{
	if (!from->in.len || s->over)
		return;
	if (!is_in_place(s)) {
		/* ab_body_filter_move reports a failure. */
		(void)filter_arrived(s, flow, from, &to->out);
		return;
	}
	scrub_in_place(s, &from->in);
	emit_framed(s, ab_buf_bytes(&from->in), s->clean, flow, &to->out);
	ab_buf_skip(&from->in, s->clean);
	s->clean = 0;
}

enum ab_io ab_body_filter_move(struct ab_body_filter *s, struct ab_flow *flow, struct ab_side *from,
			       struct ab_side *to)
{
	for (int i = 0; i < SHARE; i++) {
		enum ab_io io = ab_side_flush(to);

		if (s->fault.malformed || s->fault.tripped || s->fault.too_long || s->fault.refused)
			return AB_IO_FAILED;
		if (io != AB_IO_DONE)
			return io;
		if (is_in_place(s)) {
			io = move_in_place(s, flow, from, to);
			if (io != AB_IO_YIELD)
				return io;
			continue;
		}
		if (s->over)
			return AB_IO_DONE;
		if (!from->in.len) {
			io = read_body(s, from);
			if (io != AB_IO_DONE)
				return io;
		}
		if (!filter_arrived(s, flow, from, &to->out))
			return AB_IO_FAILED;
	}
	return AB_IO_YIELD;
}
