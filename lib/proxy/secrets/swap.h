#pragma once
/*
 * Replaces placeholders by values in a request to a host. Pure except for the
 * memory that it writes: bytes and a vault in, a result out.
 *
 * It replaces in: every field (a secret with carriers: only those; in another
 * field it is misplaced), Basic credentials (decoded, both halves, and encoded
 * again), the query (plain and percent-encoded); path and body with `also`. In
 * field names, the method, and fields about routing or origin (Host, Connection,
 * Content-Length, Upgrade, Referer, Origin, fields that Connection names ...) a
 * placeholder is misplaced. In Proxy-Authorization, which is never forwarded, it
 * is a tripwire. A form that is not decoded (base64 in another field) is
 * misplaced too: no placeholder of this host is sent as it is, and none of
 * another host at all.
 *
 * Values are percent-encoded in path and query, and inserted as they are in
 * fields and bodies. A value with quotes or backslashes would break a JSON body;
 * its owner must avoid that.
 */
#include "proxy/secrets/vault.h"
#include "proxy/wire/http.h"

enum ab_swap_result {
	AB_SWAP_NONE,	   /* no placeholder, nothing injected */
	AB_SWAP_DONE,	   /* at least one value was injected */
	AB_SWAP_TRIPWIRE,  /* another host's placeholder */
	AB_SWAP_MISPLACED, /* this host's placeholder in a wrong place */
	AB_SWAP_MISSING,   /* `require`, and neither in the head nor in a body */
	AB_SWAP_ABSENT,	   /* the secret has no value: its source failed */
	AB_SWAP_TOO_LONG,  /* the head would be too long */
};

struct ab_swapped {
	enum ab_swap_result result;
	/* That the result is about (DONE: the first injected); -1. TRIPWIRE: its number in
	 * the finder (vault.h), as in the functions below. */
	int secret;
	/* With DONE or NONE: the request to send; its fields point into the
	 * bytes of `rq` or into `texts`. */
	struct ab_http_request request;
	struct ab_buf *texts; /* they contain values: `wipe` is set */
	size_t ntexts;
	struct ab_buf signature; /* the same; see proxy/sign/sign.h */
	bool injected;		 /* a value is in the head, or may be in the body */
	bool searched;		 /* a value may come back: the response must be searchable */
};

/*
 * `tls`: without it nothing is injected, and every placeholder is a tripwire.
 * `ret` needs freeing only after DONE or NONE.
 *
 * A request to a host with a value asks for a response that can be searched,
 * whatever it contains itself, because the server may have kept a value:
 * `Accept-Encoding: identity`, no Sec-WebSocket-Extensions, no TE and Trailer,
 * and no Range and If-Range. A compressed or partial response is refused all the
 * same (traffic/exchange_bodies.c): a value could come back in pieces too small to be
 * found. A key that signs is not sent, so its host may answer as it likes.
 *
 * `inject`: the first carrier's field or parameter (default: bearer) replaces
 * the client's own of that name, unless another value is in it. The secret's
 * format is the whole text; with Basic, the text to encode, by default
 * "x-access-token:{}". If the client sent the placeholder, it is only replaced.
 *
 * rq->path is the requested path. If a value goes into it, a target in origin
 * form becomes the same text.
 */
void ab_swap_request(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		     bool tls, const struct ab_http_request *rq, struct ab_swapped *ret);
void ab_swapped_fini(struct ab_swapped *swapped);

/* The secret of a placeholder that is a tripwire in this head, or -1. */
int ab_swap_foreign(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		    bool tls, const struct ab_http_request *rq);

/*
 * Replaces placeholders in a body, with `also: ["body"]`, and finds those of
 * other hosts. Pass the bytes in any portions; what may be the start of a
 * placeholder is held back until more comes, or `end`. `host` is NULL without
 * TLS: every placeholder is a tripwire.
 */
struct ab_swap_body;
struct ab_swap_body *ab_swap_body_new(const struct ab_vault *vault, const struct ab_host *host,
				      uint16_t port);
void ab_swap_body_free(struct ab_swap_body *body);
/* Appends to `out` and sets its `wipe`. DONE, NONE or TRIPWIRE. */
enum ab_swap_result ab_swap_body_take(struct ab_swap_body *body, const void *data, size_t len,
				      bool end, struct ab_buf *out);
/* After TRIPWIRE: the secret of the placeholder. */
int ab_swap_body_foreign(const struct ab_swap_body *body);
/* Does every replacement keep the length? Then the body does too. */
bool ab_swap_body_keeps_length(const struct ab_swap_body *body);
/* Does any secret of this host apply to bodies? */
bool ab_swap_wants_body(const struct ab_vault *vault, const struct ab_host *host, uint16_t port);
