#pragma once
/*
 * Bodies in signed chunks (STREAMING-AWS4-HMAC-SHA256-PAYLOAD): each chunk's
 * signature covers the one before it, and the first one that of the head. Each is
 * verified with the old key and signed with the new one; nothing else changes, so
 * the length stays the same.
 *
 *	SIZE;chunk-signature=SIGNATURE CRLF DATA CRLF ... 0;chunk-signature=... CRLF
 *	trailers: NAME:VALUE CRLF ... x-amz-trailer-signature:SIGNATURE CRLF
 *	CRLF
 *
 * A signature stands before its chunk, so one chunk is held at a time. Pure.
 */
#include "proxy/sign/sigv4.h"

struct ab_sign_chunks;

/* The largest chunk; clients use 64 to 128 KiB. */
enum { AB_SIGN_CHUNK_MAX = 1024 * 1024, AB_SIGN_TRAILER_MAX = 16 * 1024 };

struct ab_sign_chunks_setup {
	const struct ab_sigv4 *sig; /* the head's, as the client signed it */
	bool trailer;
	const char *signature; /* of the head that is sent */
	uint8_t old_key[AB_SHA256_SIZE], new_key[AB_SHA256_SIZE];
};

struct ab_sign_chunks *ab_sign_chunks_new(const struct ab_sign_chunks_setup *setup);
void ab_sign_chunks_free(struct ab_sign_chunks *chunks); /* wipes */

/* Takes the next bytes, in any portions, and appends what is signed to `out`. NULL,
 * or why the body is refused; then `out` has no byte of the wrong chunk. `end`: no
 * more will come. */
const char *ab_sign_chunks_take(struct ab_sign_chunks *chunks, const void *data, size_t len,
				bool end, struct ab_buf *out);
