#ifndef AB_PROXY_SECRETS_SWAP_H
#define AB_PROXY_SECRETS_SWAP_H
/*
 * From placeholders to values, in a request that is bound for a host. Pure but
 * for the memory that it writes to: bytes and a vault in, a decision out.
 *
 * Looked for in: every field (a secret with carriers: those; in any other
 * field it is a misplaced one), Basic credentials (decoded, both halves, and
 * encoded again), the query (plain and percent-encoded); path and body by
 * `also`. Names of fields and the method are only looked at; so are fields
 * that say how a message travels or where it was asked for (Host, Connection,
 * Content-Length, Upgrade, Referer, Origin, what Connection names ...), where
 * one is misplaced. In Proxy-Authorization, which never travels, it is a
 * tripwire. A form that no place here decodes (base64 in another field) is
 * misplaced too: nothing of this host's goes out as a placeholder, and nothing
 * of another one's at all.
 *
 * Into path and query values go percent-encoded; into fields and bodies as
 * they are. In a body of JSON a value with quotes or backslashes is for its
 * owner to avoid.
 */
#include "base/data/buf.h"
#include "proxy/secrets/vault.h"
#include "proxy/wire/http.h"

enum ab_swap_result {
	AB_SWAP_NONE,	   /* no placeholder, nothing put in */
	AB_SWAP_DONE,	   /* at least one value was put in */
	AB_SWAP_TRIPWIRE,  /* a placeholder of another host's */
	AB_SWAP_MISPLACED, /* of this host's, but where it must not be */
	AB_SWAP_MISSING,   /* `require`, and it is not there (nor can it be in
				 * a body that is yet to come) */
	AB_SWAP_ABSENT,	   /* there is no value to put in: its source fails */
	AB_SWAP_TOO_LONG,  /* the head would be */
};

struct ab_swapped {
	enum ab_swap_result result;
	int secret; /* index of the one that it is about; -1: of none
				 * (DONE: the first of those put in) */
	/* With DONE or NONE: the request to be written, its fields pointing
	 * into `rq`'s bytes or into `scratch`. */
	struct ab_http_request request;
	struct ab_buf scratch; /* holds values: `wipe` is set */
	bool carries;	       /* a value is in it, or will be in its body: the
				 * answer is searched */
};

/*
 * `tls`: only then is anything put in; without, every placeholder is a
 * tripwire. Nothing of `ret` needs freeing unless DONE or NONE.
 *
 * To a host that has a value the request asks for an answer that can be
 * searched: `Accept-Encoding: identity`, no Sec-WebSocket-Extensions; and if
 * it carries one, it also loses Range and If-Range, for a value could come
 * back in pieces too small to be seen, TE and Trailer.
 *
 * `inject`: the first carrier's field or parameter (none: bearer), in place of
 * the client's own of that name, unless another value is in it. The secret's
 * format is all of it; with Basic, what is encoded, by default
 * "x-access-token:{}". Where the client has the placeholder, it is only
 * swapped.
 *
 * rq->path is what is asked for: where something is put into it, a target in
 * origin form is the same text.
 */
void ab_swap_request(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		     bool tls, const struct ab_http_request *rq, struct ab_swapped *ret);
void ab_swapped_fini(struct ab_swapped *swapped);

/*
 * A body on its way, with `also: ["body"]`: placeholders in it become values.
 * Bytes are given in any portions; what might be the begin of a placeholder
 * is held back until more comes, or `end`.
 */
struct ab_swap_body;
struct ab_swap_body *ab_swap_body_new(const struct ab_vault *vault, const struct ab_host *host,
				      uint16_t port);
void ab_swap_body_free(struct ab_swap_body *body);
/* Appends to `out` (wipe is set on it). DONE, NONE or TRIPWIRE. */
enum ab_swap_result ab_swap_body_take(struct ab_swap_body *body, const void *data, size_t len,
				      bool end, struct ab_buf *out);
/* After TRIPWIRE: which secret's placeholder it was. */
int ab_swap_body_foreign(const struct ab_swap_body *body);
/* Would each replacement keep the length? Then so does the whole body. */
bool ab_swap_body_keeps_length(const struct ab_swap_body *body);
/* Is any secret of this host to be looked for in bodies? */
bool ab_swap_wants_body(const struct ab_vault *vault, const struct ab_host *host, uint16_t port);

#endif
