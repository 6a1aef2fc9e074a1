#ifndef AB_PROXY_CONN_BODY_FILTER_H
#define AB_PROXY_CONN_BODY_FILTER_H
/*
 * A body that is looked at on its way: of an answer, where values of secrets
 * become placeholders (proxy/secrets/scrub.h), or of a request, where placeholders
 * become values (proxy/secrets/swap.h). The framing is taken off and put on again, so
 * nothing hides behind the border of a chunk; chunk extensions and trailers
 * do not pass. Private to lib/proxy.
 */
#include "proxy/io/socket_side.h"
#include "proxy/secrets/scrub.h"
#include "proxy/secrets/swap.h"
#include "proxy/wire/http.h"

struct ab_body_filter;

struct ab_body_filter_setup {
	/* One of the two; it belongs to the caller. */
	struct ab_scrub *scrub;
	struct ab_swap_body *swap;
	enum ab_http_body in, out; /* out: as in, or chunked */
	bool frames;		   /* of AB_HTTP_CLOSE: a WebSocket's */
	uint64_t length;	   /* of AB_HTTP_LENGTH */
};

struct ab_body_filter *ab_body_filter_new(const struct ab_body_filter_setup *setup);
void ab_body_filter_free(struct ab_body_filter *sieve);

/* What is there of the body into to->out, beside the head that waits there.
 * Nothing is sent yet. */
void ab_body_filter_gather(struct ab_body_filter *sieve, struct ab_flow *flow, struct ab_side *from,
			   struct ab_side *to);
/* As ab_flow_move. DONE: all of the body is delivered, and its end too. What
 * is delivered counts in flow->moved, without framing. */
enum ab_io ab_body_filter_move(struct ab_body_filter *sieve, struct ab_flow *flow,
			       struct ab_side *from, struct ab_side *to);
/* After FAILED: the framing is not what it must be; a placeholder of another
 * host's is in it. */
bool ab_body_filter_malformed(const struct ab_body_filter *sieve);
bool ab_body_filter_tripped(const struct ab_body_filter *sieve);

#endif
