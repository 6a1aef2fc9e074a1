#pragma once
/*
 * One end of an HTTP/2 connection: towards the client, which opens streams, or
 * towards the server. Bytes in, bytes out; no I/O. nghttp2 is not initialised
 * before the first session.
 *
 * Each stream is a byte stream in the form of HTTP/1.1, for a side of
 * proxy/io/socket_side.h: a head, a body with a length or in chunks, trailers. So
 * requests and responses are judged and changed by the code for HTTP/1.1.
 *
 * Bounded: streams at once, the bytes of each (its window, which grows only as they
 * are read), heads, CONTINUATION frames, resets and frames without effect per
 * second, queued replies. A peer that exceeds one of the last four loses its
 * connection. Pushes are refused. Memory is erased when it is freed: it may have
 * held values of secrets.
 */
#include "base/base.h"

struct ab_side;
struct ab_h2_session;
struct ab_h2_stream;

enum {
	AB_H2_STREAMS = 100,		/* at once, of one connection */
	AB_H2_WINDOW = 256 * 1024,	/* bytes of a stream in memory */
	AB_H2_WINDOW_ALL = 2048 * 1024, /* of all streams of a session */
	AB_H2_WINDOW_SMALL = 65535,	/* of both, if there are many connections */
};

struct ab_h2_setup {
	bool server;	     /* the end that accepts requests: towards the box */
	bool tls;	     /* the scheme of requests */
	bool small;	     /* use AB_H2_WINDOW_SMALL */
	const uint64_t *now; /* milliseconds */
	/* The head of a request is complete: attach a side, or reset the stream. */
	void (*opened)(void *arg, struct ab_h2_stream *stream);
	/* A stream was used: there may be something to send. */
	void (*wake)(void *arg);
	void *arg;
};

struct ab_h2_session *ab_h2_session_new(const struct ab_h2_setup *setup);
/* Its streams are detached before. */
void ab_h2_session_free(struct ab_h2_session *h);

/* From the peer. -1: the connection must end. */
int ab_h2_session_receive(struct ab_h2_session *h, const void *data, size_t len);
/* To the peer: append to `out` up to about `room` bytes in total. */
int ab_h2_session_send(struct ab_h2_session *h, struct ab_buf *out, size_t room);

/* Nothing more can be sent or received. */
bool ab_h2_session_over(const struct ab_h2_session *h);
/* The peer accepts no more requests. */
bool ab_h2_session_leaving(const struct ab_h2_session *h);
/* Tell the peer to open no more streams. */
void ab_h2_session_drain(struct ab_h2_session *h);
/* The connection is lost: every stream fails. */
void ab_h2_session_lose(struct ab_h2_session *h);
/* Streams that are not finished, or attached. */
size_t ab_h2_session_streams(const struct ab_h2_session *h);

/* A new request, whose head is written by the side: id 0. */
struct ab_h2_stream *ab_h2_stream_new(struct ab_h2_session *h, int32_t id);
/* Make it the socket of the side, until that is closed. `ready`: a flag of the side
 * was set. The side must stay where it is. */
void ab_h2_stream_attach(struct ab_h2_stream *s, struct ab_side *side, void (*ready)(void *arg),
			 void *arg);
/* Reset a stream that has no side; the peer may repeat the request. */
void ab_h2_stream_refuse(struct ab_h2_stream *s);
/* Did the peer end it without processing the request? */
bool ab_h2_stream_refused(const struct ab_h2_stream *s);
/* The response that `s` sends comes from `server`: pass on the code of a reset, and
 * leave out a length that was added for HTTP/1.1. Call it when `server` is ready. */
void ab_h2_stream_follow(struct ab_h2_stream *s, const struct ab_h2_stream *server);
