#ifndef AB_PROXY_IO_SOCKET_SIDE_H
#define AB_PROXY_IO_SOCKET_SIDE_H
/*
 * The two ends of a connection, and the bytes between them.
 *
 * A side is a non-blocking socket watched edge-triggered. What epoll said is
 * kept in `readable` and `writable` until a call says EAGAIN, so whoever
 * moves bytes must go on until it is told to wait, or come back by itself.
 *
 * A side may speak TLS (`tls`): `in` and `out` are what it carries then, and
 * everything but ab_side_read and ab_flow_move is as before.
 *
 * A flow is one direction. Bytes are spliced through a pipe that is held only
 * while something is in it: an idle tunnel owns no buffer. With TLS on either
 * side they are copied.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/buf.h"
#include "base/system/loop.h"

struct ab_tls;

struct ab_side {
	struct ab_source source; /* its fd; -1: not there */
	struct ab_tls *tls;	 /* NULL: the bytes go as they are */
	bool readable, writable;
	bool eof;	   /* the peer will send no more */
	bool shut;	   /* we said that we will send no more */
	bool hung;	   /* its end was seen to come, though not read yet */
	struct ab_buf in;  /* read, and not consumed yet */
	struct ab_buf out; /* goes before anything else */
};

enum ab_io {
	AB_IO_DONE,   /* all of it */
	AB_IO_WAIT,   /* the side that it hangs on will be ready again */
	AB_IO_YIELD,  /* had its share: call again in the next batch */
	AB_IO_EOF,    /* the sender ended, and all it sent is delivered */
	AB_IO_FAILED, /* the connection is broken */
};

/* Read once into side->in, up to `max` bytes there in all. DONE: something
 * came. WAIT also when `max` is reached. */
enum ab_io ab_side_read(struct ab_side *side, size_t max);
/* Write the first `len` bytes of `b`, which may be another side's; what was
 * written is taken out of it. */
enum ab_io ab_side_write(struct ab_side *side, struct ab_buf *b, uint64_t len,
			 uint64_t *ret_written);
/* Write what is in side->out. */
enum ab_io ab_side_flush(struct ab_side *side);
/* Say that we send no more. What is in out must be flushed before. */
void ab_side_shut(struct ab_side *side);
/* Close at once; with `reset` by RST. */
void ab_side_close(struct ab_side *side, bool reset);

struct ab_pipes; /* pool of empty pipes, one for each loop */

struct ab_flow {
	int pipe[2];	/* -1: not held */
	uint32_t held;	/* bytes in it */
	uint64_t moved; /* delivered in all */
};

#define AB_FLOW_INIT               \
	{                          \
		.pipe = { -1, -1 } \
	}
#define AB_FLOW_ALL UINT64_MAX

/*
 * From one side to the other: first from->in, then what the socket has, at
 * most *left bytes (AB_FLOW_ALL: until the end), which is counted down as they
 * are delivered. to->out is flushed before.
 */
enum ab_io ab_flow_move(struct ab_flow *flow, struct ab_pipes *pipes, struct ab_side *from,
			struct ab_side *to, uint64_t *left);
void ab_flow_fini(struct ab_flow *flow, struct ab_pipes *pipes);

struct ab_pipes *ab_pipes_new(void);
void ab_pipes_free(struct ab_pipes *pipes);

#endif
