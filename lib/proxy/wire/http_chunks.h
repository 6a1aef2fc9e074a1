#pragma once
/*
 * Follows the chunked framing of a body while its bytes pass. Pure. As strict as
 * for heads (proxy/wire/http.h): every parser finds the same end. Sizes are
 * plain hexadecimal, extensions and trailers are limited, and a trailer must not
 * be a field about framing, target or hop.
 */
#include "base/base.h"

enum {
	AB_HTTP_EXTENSION_MAX = 1024,	  /* per chunk */
	AB_HTTP_TRAILERS_MAX = 16 * 1024, /* in total */
	AB_HTTP_TRAILER_NAME = 128,
};

struct ab_http_chunks { /* zero it before the body */
	uint8_t state;
	uint8_t digits; /* of the size, so far */
	uint8_t name_len;
	char name[AB_HTTP_TRAILER_NAME];
	uint32_t line;	  /* bytes of the extension or the trailers */
	uint64_t left;	  /* of the chunk */
	uint64_t payload; /* bytes of it so far */
};

/*
 * How many of these bytes belong to the body: all, or fewer if it ends, and then
 * *ret_over is set. -1: malformed. Its payload is appended to `payload`, and the lines
 * of trailers, with the empty one that ends them, to `trailers`; NULL: it is left out.
 */
ssize_t ab_http_chunks_take(struct ab_http_chunks *c, const void *data, size_t len,
			    struct ab_buf *payload, struct ab_buf *trailers, bool *ret_over);
