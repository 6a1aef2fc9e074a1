#pragma once
/*
 * Shared by session.c (frames in) and stream.c (HTTP/1.1 in and out).
 */
#include <nghttp2/nghttp2.h>

#include "base/data/bucket.h"
#include "proxy/h2/head.h"
#include "proxy/h2/session.h"
#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"

struct ab_h2_session {
	struct ab_h2_setup setup;
	nghttp2_session *ng;
	struct ab_h2_stream *streams;
	size_t nstreams;
	struct ab_bucket resets, idle;
	unsigned continuations; /* of the head that arrives */
	bool leaving, drained, lost;
};

enum ab_h2_out {
	AB_H2_OUT_HEAD,
	AB_H2_OUT_BODY,
	AB_H2_OUT_OVER,
};

struct ab_h2_stream {
	struct ab_h2_session *session;
	struct ab_h2_stream *next, **link;
	int32_t id; /* 0: none yet */
	bool open;  /* nghttp2 knows it */
	bool to_head;

	/* What the peer sends, in HTTP/1.1. */
	struct ab_h2_head head; /* that arrives */
	struct ab_buf text;	/* heads, chunks, trailers: read first */
	struct ab_buf data;	/* of the body, not framed yet */
	struct ab_buf trailers;
	enum ab_http_body in;
	bool has_head; /* the final one */
	bool ended;    /* the peer sent all */
	bool last;     /* the end is in `text` */
	bool added;    /* a length that the peer did not send */
	bool failed;
	uint32_t code;	/* why it was closed */
	uint32_t reset; /* the code for a reset, or 0 */

	/* What the side sends. */
	enum ab_h2_out state;
	enum ab_http_body out_body;
	struct ab_http_scan scan;
	struct ab_http_chunks chunks;
	struct ab_buf out_head, out, out_trailers;
	uint64_t left; /* of the body */
	bool deferred; /* nghttp2 waits for more of it */
	bool sent;     /* all of it, to the peer */
	bool shut;
	size_t unread;	/* bytes of the request that came after that */
	bool no_length; /* the length of a response is not the server's */

	struct ab_side *side; /* or NULL */
	void (*ready)(void *arg);
	void *arg;
};

/* stream.c */
void ab_h2_stream_free(struct ab_h2_stream *s);
/* Free it if neither nghttp2 nor a side uses it. */
void ab_h2_stream_release(struct ab_h2_stream *s);
void ab_h2_stream_wake(struct ab_h2_stream *s, bool readable, bool writable);
/* So much arrived of a request that was answered already. */
void ab_h2_stream_pass_over(struct ab_h2_stream *s, size_t len);
/* The whole message was sent to the peer. */
void ab_h2_stream_sent(struct ab_h2_stream *s);
void ab_h2_stream_fail(struct ab_h2_stream *s, uint32_t code);
