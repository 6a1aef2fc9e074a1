#include "proxy/secrets/locked_pages.h"
#include "proxy/secrets/search.h"
#include "proxy/secrets/swap.h"

/*
 * Uses the values from the start of the body: a new value could have another
 * length than the head announced.
 */
struct ab_swap_body {
	const struct ab_vault *vault;
	struct ab_buf held;		    /* may be the start of a placeholder */
	uint64_t bound;			    /* secrets of the host: a bit for each */
	const char *values[AB_SECRETS_MAX]; /* in pages; NULL: do not replace */
	size_t lens[AB_SECRETS_MAX];
	bool keeps_length;
	int foreign; /* secret of another host found in the body; or -1 */
	char *pages;
	size_t size;
};

static bool applies_to_body(const struct ab_vault *vault, size_t i, uint64_t bound)
{
	const struct ab_vault_entry *e = ab_vault_at(vault, i);

	return e->secret->in_body && e->value && ab_vault_in(bound, i);
}

bool ab_swap_wants_body(const struct ab_vault *vault, const struct ab_host *host, uint16_t port)
{
	uint64_t bound = ab_vault_bound_all(vault, host, port);

	for (size_t i = 0; i < ab_vault_len(vault); i++)
		if (applies_to_body(vault, i, bound))
			return true;
	return false;
}

struct ab_swap_body *ab_swap_body_new(const struct ab_vault *vault, const struct ab_host *host,
				      uint16_t port)
{
	struct ab_swap_body *body = ab_alloc(sizeof(*body));
	size_t used = 0;

	body->vault = vault;
	body->keeps_length = true;
	body->foreign = -1;
	body->bound = host ? ab_vault_bound_all(vault, host, port) : 0;
	for (size_t i = 0; i < ab_vault_len(vault); i++)
		if (applies_to_body(vault, i, body->bound))
			body->size += ab_vault_at(vault, i)->value_len;
	if (!body->size)
		return body;
	body->pages = ab_pages_new(body->size);
	for (size_t i = 0; i < ab_vault_len(vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(vault, i);

		if (!applies_to_body(vault, i, body->bound))
			continue;
		memcpy(body->pages + used, e->value, e->value_len);
		body->values[i] = body->pages + used;
		body->lens[i] = e->value_len;
		body->keeps_length &= e->value_len == e->placeholder_len;
		used += e->value_len;
	}
	return body;
}

void ab_swap_body_free(struct ab_swap_body *body)
{
	if (!body)
		return;
	ab_pages_free(body->pages, body->size);
	ab_buf_fini(&body->held);
	free(body);
}

int ab_swap_body_foreign(const struct ab_swap_body *body)
{
	return body->foreign;
}

bool ab_swap_body_keeps_length(const struct ab_swap_body *body)
{
	return body->keeps_length;
}

/* *ret_done: how many bytes were consumed. */
static enum ab_swap_result swap_bytes(struct ab_swap_body *body, const uint8_t *s, size_t len,
				      bool end, struct ab_buf *out, size_t *ret_done)
{
	const struct ab_finder *finder = ab_vault_placeholders(body->vault);
	enum ab_swap_result result = AB_SWAP_NONE;
	struct ab_search look;
	struct ab_found found;
	size_t done = 0, hold = len;

	if (finder) {
		ab_search_init(&look, finder, s, len);
		hold = end ? len : ab_search_hold(&look);
	}
	while (finder && ab_search_next(&look, &found) && found.at < hold) {
		size_t i = found.needle->owner;

		if (!ab_vault_in(body->bound, i)) {
			body->foreign = (int)i;
			return AB_SWAP_TRIPWIRE;
		}
		if (body->values[i] && ab_found_plain(&found)) {
			ab_buf_add(out, s + done, found.at - done);
			ab_buf_add(out, body->values[i], body->lens[i]);
			done = found.at + found.len;
			result = AB_SWAP_DONE;
		}
		if (hold < look.from)
			hold = ab_search_hold(&look);
	}
	if (hold > done)
		ab_buf_add(out, s + done, hold - done);
	*ret_done = hold;
	return result;
}

enum ab_swap_result ab_swap_body_take(struct ab_swap_body *body, const void *data, size_t len,
				      bool end, struct ab_buf *out)
{
	enum ab_swap_result result;
	size_t done = 0;

	out->wipe = true;
	if (!body->held.len) {
		result = swap_bytes(body, data, len, end, out, &done);
		if (done < len)
			ab_buf_add(&body->held, (const uint8_t *)data + done, len - done);
		return result;
	}
	ab_buf_add(&body->held, data, len);
	result = swap_bytes(body, ab_buf_bytes(&body->held), body->held.len, end, out, &done);
	ab_buf_skip(&body->held, done);
	return result;
}
