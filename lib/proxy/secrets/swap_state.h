#ifndef AB_PROXY_SECRETS_SWAP_STATE_H
#define AB_PROXY_SECRETS_SWAP_STATE_H
/*
 * A request while its placeholders are replaced. Texts with values are appended
 * to ret->scratch, which may move; so they are offsets until the end.
 */
#include "proxy/secrets/search.h"
#include "proxy/secrets/swap.h"

struct ab_swap_piece {
	bool set;
	uint32_t at, len; /* in scratch */
};

struct ab_swap {
	const struct ab_vault *vault;
	const struct ab_finder *finder;
	const struct ab_http_request *rq;
	struct ab_swapped *ret; /* ret->request: to be sent */
	bool bound[AB_SECRETS_MAX];
	bool injected[AB_SECRETS_MAX];		     /* its value was inserted */
	struct ab_swap_piece values[AB_HTTP_FIELDS]; /* parallel to the fields */
	struct ab_swap_piece target;
	size_t prefix; /* bytes of target before the path */
};

/* Sets the result; returns false. */
bool ab_swap_fail(struct ab_swap *sw, enum ab_swap_result result, int i);
/* Begin and end a piece. */
void ab_swap_begin(struct ab_swap *sw, struct ab_swap_piece *ret);
void ab_swap_end(struct ab_swap *sw, struct ab_swap_piece *piece);

/* Replace the placeholders in path and query. */
bool ab_swap_target(struct ab_swap *sw);
/* Add a parameter, replacing any of that name. */
bool ab_swap_inject_query(struct ab_swap *sw, size_t i, const char *name, const char *format);

/* Append the value in its format, escaped as in a query or not. */
void ab_swap_put_formatted(struct ab_buf *out, const char *format, const struct ab_vault_entry *e,
			   bool query);

void ab_swap_put_base64(struct ab_buf *out, const struct ab_buf *text);

/* Inject a secret that the client did not name, if there is a place. */
bool ab_swap_inject(struct ab_swap *sw, size_t i);
/* Ask for a response that can be searched: neither compressed nor partial. */
bool ab_swap_keep_searchable(struct ab_swap *sw);

#endif
