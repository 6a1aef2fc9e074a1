#pragma once
/*
 * Filters a body while it is forwarded: in a response, secret values become
 * placeholders (proxy/secrets/scrub.h); in a request, placeholders become values
 * (proxy/secrets/swap.h). The framing is removed and written anew, so a value
 * cannot hide across a chunk border; chunk extensions and a request's trailers are
 * dropped, a response's trailers are searched. Private to lib/proxy.
 */
#include "proxy/io/socket_side.h"
#include "proxy/secrets/scrub.h"
#include "proxy/sign/sign_chunks.h"
#include "proxy/secrets/swap.h"
#include "proxy/wire/http.h"

struct ab_body_filter;

struct ab_body_filter_setup {
	/* One of the two; the caller owns it. */
	struct ab_scrub *scrub;
	struct ab_swap_body *swap;
	/* With `swap`: the chunks of its result are signed anew; or NULL. */
	struct ab_sign_chunks *chunks;
	enum ab_http_body in, out; /* out: as in, or chunked */
	bool frames;		   /* with AB_HTTP_CLOSE: WebSocket frames */
	bool messages;		   /* with AB_HTTP_CHUNKED: gRPC messages */
	uint64_t length;	   /* with AB_HTTP_LENGTH */
	uint64_t most;		   /* with AB_HTTP_CHUNKED: bytes of the body; 0: any number */
};

struct ab_body_filter *ab_body_filter_new(const struct ab_body_filter_setup *setup);
void ab_body_filter_free(struct ab_body_filter *filter);

/* Append what has arrived of the body to to->out, after the head that is
 * queued there. Sends nothing. */
void ab_body_filter_gather(struct ab_body_filter *filter, struct ab_flow *flow,
			   struct ab_side *from, struct ab_side *to);
/* As ab_flow_move. DONE: the whole body and its end are delivered. flow->moved
 * counts delivered bytes without framing. */
enum ab_io ab_body_filter_move(struct ab_body_filter *filter, struct ab_flow *flow,
			       struct ab_side *from, struct ab_side *to);
/* What is wrong, after FAILED. */
struct ab_body_fault {
	bool malformed;	     /* the framing */
	bool tripped;	     /* the body contains another host's placeholder */
	bool too_long;	     /* longer than `most` */
	const char *refused; /* why its chunks cannot be signed, or NULL */
};
const struct ab_body_fault *ab_body_filter_fault(const struct ab_body_filter *filter);
