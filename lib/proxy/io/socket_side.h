#pragma once
/*
 * The two sides of a connection, and the bytes between them.
 *
 * A side is a non-blocking socket watched edge-triggered. `readable` and
 * `writable` keep what epoll reported until a call returns EAGAIN, so the caller
 * must move bytes until it gets WAIT, or call again by itself.
 *
 * A side may use TLS (`tls`): then `in` and `out` hold plaintext. It may also be a
 * stream of another connection (`ops`) without a socket of its own. Only
 * ab_side_read and ab_flow_move behave differently.
 *
 * A flow is one direction. Bytes are spliced through a pipe that is held only
 * while it contains bytes: an idle tunnel owns no buffer. With TLS or a stream on
 * either side they are copied.
 */
#include "base/base.h"
#include "base/system/loop.h"

struct ab_allowance;
struct ab_tls;

/* What takes the place of a socket: one stream of an HTTP/2 connection. As recv and
 * send; at EAGAIN it has cleared the side's flag, which it sets again. */
struct ab_side_stream {
	ssize_t (*read)(void *stream, void *data, size_t len);
	ssize_t (*write)(void *stream, const void *data, size_t len);
	void (*shut)(void *stream);
	void (*close)(void *stream, bool reset);
};

struct ab_side {
	struct ab_source source;	  /* fd -1: not open */
	struct ab_tls *tls;		  /* NULL: no TLS */
	const struct ab_side_stream *ops; /* NULL: a socket */
	void *stream;
	bool readable, writable;
	bool eof;	   /* the peer will send no more */
	bool shut;	   /* the proxy will send no more */
	bool hung;	   /* epoll reported its end; it may not be read yet */
	struct ab_buf in;  /* read, not consumed yet */
	struct ab_buf out; /* sent before anything else */
	uint64_t sent;	   /* bytes in total; without those of TLS itself */
	/* Limits what is sent; NULL: nothing does. While it is used up, the side
	 * does not send, as if its socket were full. */
	struct ab_allowance *allowance;
	uint64_t taken; /* of it, for bytes that are not sent yet */
};

enum ab_io {
	AB_IO_DONE,   /* everything was moved */
	AB_IO_WAIT,   /* until a side becomes ready */
	AB_IO_YIELD,  /* used up its share: call again in the next batch */
	AB_IO_EOF,    /* the sender ended, and everything is delivered */
	AB_IO_FAILED, /* the connection failed */
};

static inline bool ab_side_is_open(const struct ab_side *side)
{
	return side->source.fd >= 0 || side->ops;
}

/* Read once into side->in, up to `max` bytes in total. DONE: read something.
 * WAIT also if `max` is reached. */
enum ab_io ab_side_read(struct ab_side *side, size_t max);
/* The same without a copy, and up to `max` bytes at once: for what is long and consumed soon. */
enum ab_io ab_side_read_body(struct ab_side *side, size_t max);
/* Write the first `len` bytes of `b`, which may be another side's, and remove
 * what was written from it. */
enum ab_io ab_side_write(struct ab_side *side, struct ab_buf *b, uint64_t len,
			 uint64_t *ret_written);
/* Write side->out. */
enum ab_io ab_side_flush(struct ab_side *side);
/* Half-close. side->out must be flushed before. */
void ab_side_shut(struct ab_side *side);
/* Close at once; `reset`: with an RST. */
void ab_side_close(struct ab_side *side, bool reset);

struct ab_pipes; /* pool of empty pipes, one per loop */

struct ab_flow {
	int pipe[2];	/* -1: not held */
	uint32_t held;	/* bytes in it */
	uint64_t moved; /* bytes delivered in total */
};

#define AB_FLOW_INIT               \
	{                          \
		.pipe = { -1, -1 } \
	}
#define AB_FLOW_ALL UINT64_MAX

/*
 * Flush to->out, then move from->in and what the socket has, at most *left bytes
 * (AB_FLOW_ALL: until the end). *left is counted down as they are delivered.
 */
enum ab_io ab_flow_move(struct ab_flow *flow, struct ab_pipes *pipes, struct ab_side *from,
			struct ab_side *to, uint64_t *left);
void ab_flow_fini(struct ab_flow *flow, struct ab_pipes *pipes);

struct ab_pipes *ab_pipes_new(void);
void ab_pipes_free(struct ab_pipes *pipes);
