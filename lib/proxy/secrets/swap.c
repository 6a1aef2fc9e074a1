#include "proxy/secrets/swap.h"

#include <string.h>

#include "base/data/mem.h"
#include "base/text/base64.h"
#include "proxy/secrets/swap_state.h"

bool ab_swap_fail(struct ab_swap *sw, enum ab_swap_result result, int i)
{
	sw->ret->result = result;
	sw->ret->secret = i;
	return false;
}

void ab_swap_begin(struct ab_swap *sw, struct ab_swap_piece *ret)
{
	*ret = (struct ab_swap_piece){ .at = sw->ret->scratch.len };
}

void ab_swap_end(struct ab_swap *sw, struct ab_swap_piece *piece)
{
	piece->len = sw->ret->scratch.len - piece->at;
	piece->set = true;
}

/* Fields about routing or origin never get a value. */
static bool is_closed_field(const struct ab_http_head *head, const struct ab_http_field *f)
{
	return f->id != AB_HTTP_OTHER || ab_http_option(head, f->name) ||
	       ab_http_is(f->name, "origin") || ab_http_is(f->name, "referer");
}

/* Is it a login of this scheme? */
static bool has_scheme(const struct ab_http_field *f, const char *scheme)
{
	size_t n = strlen(scheme);

	return ab_http_is(f->name, "authorization") && f->value.len > n && f->value.s[n] == ' ' &&
	       ab_http_is((struct ab_http_text){ f->value.s, n }, scheme);
}

static bool may_carry(const struct ab_secret *secret, const struct ab_http_field *f)
{
	bool login = ab_http_is(f->name, "authorization"), basic = has_scheme(f, "basic");

	if (ab_secret_kept(secret))
		return false;
	for (size_t i = 0; i < secret->ncarriers; i++) {
		const struct ab_carrier *c = &secret->carriers[i];

		switch (c->kind) {
		case AB_CARRY_BEARER:
		case AB_CARRY_TOKEN:
			if (login && !basic)
				return true;
			break;
		case AB_CARRY_BASIC:
			if (basic)
				return true;
			break;
		case AB_CARRY_HEADER:
			if (ab_http_is(f->name, c->name))
				return true;
			break;
		case AB_CARRY_QUERY:
			break;
		}
	}
	return !secret->ncarriers;
}

/* May it be injected here? Else set the result. */
static bool check_place(struct ab_swap *sw, const struct ab_http_field *f, size_t i)
{
	const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);

	if (is_closed_field(&sw->rq->head, f) || !may_carry(e->secret, f))
		return ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)i);
	if (!e->value)
		return ab_swap_fail(sw, AB_SWAP_ABSENT, (int)i);
	return true;
}

/* Write the text with values. Fails if a placeholder is not plain. */
static bool swap_text(struct ab_swap *sw, const struct ab_http_field *f, struct ab_http_text text,
		      struct ab_buf *out)
{
	struct ab_search look;
	struct ab_found found;
	size_t done = 0;

	ab_search_init(&look, sw->finder, text.s, text.len);
	while (ab_search_next(&look, &found)) {
		size_t i = found.needle->owner;
		const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);

		if (!ab_found_plain(&found))
			return ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)i);
		if (!check_place(sw, f, i))
			return false;
		ab_buf_add(out, text.s + done, found.at - done);
		ab_buf_add(out, e->value, e->value_len);
		done = found.at + found.len;
		sw->injected[i] = true;
	}
	ab_buf_add(out, text.s + done, text.len - done);
	return true;
}

void ab_swap_put_base64(struct ab_buf *out, const struct ab_buf *text)
{
	size_t room = AB_BASE64_ROOM(text->len);
	char *encoded = ab_alloc(room);

	ab_buf_add(out, encoded,
		   ab_base64_encode(ab_buf_bytes(text), text->len, AB_BASE64_STANDARD, encoded));
	explicit_bzero(encoded, room);
	free(encoded);
}

/* "Basic dXNlcjpwYXNz": decode, replace, encode. `i` was found in the encoded
 * text, so it must be found in the decoded one. */
static bool swap_basic(struct ab_swap *sw, const struct ab_http_field *f, size_t i)
{
	struct ab_buf *out = &sw->ret->scratch;
	struct ab_buf swapped = { .wipe = true };
	struct ab_http_text s = f->value;
	ab_autofree char *text = ab_alloc(s.len + 3);
	size_t n = 0;
	bool good;

	if (!has_scheme(f, "basic"))
		return ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)i);
	s = (struct ab_http_text){ s.s + 6, s.len - 6 };
	while (s.len && s.s[0] == ' ') {
		s.s++;
		s.len--;
	}
	if (!ab_base64_decode(s.s, s.len, text, &n))
		return ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)i);
	good = swap_text(sw, f, (struct ab_http_text){ text, n }, &swapped);
	if (good && !sw->injected[i])
		good = ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)i);
	if (good) {
		ab_buf_add(out, "Basic ", 6);
		ab_swap_put_base64(out, &swapped);
	}
	ab_buf_fini(&swapped);
	return good;
}

static bool swap_field(struct ab_swap *sw, size_t k)
{
	const struct ab_http_field *f = &sw->ret->request.head.fields[k];
	struct ab_swap_piece *piece = &sw->values[k];
	struct ab_search look;
	struct ab_found found;
	bool good;

	ab_search_init(&look, sw->finder, f->name.s, f->name.len);
	if (ab_search_next(&look, &found))
		return ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)found.needle->owner);
	ab_search_init(&look, sw->finder, f->value.s, f->value.len);
	if (!ab_search_next(&look, &found))
		return true;
	ab_swap_begin(sw, piece);
	if (found.needle->form == AB_FORM_BASE64 && ab_http_is(f->name, "authorization"))
		good = swap_basic(sw, f, found.needle->owner);
	else
		good = swap_text(sw, f, f->value, &sw->ret->scratch);
	ab_swap_end(sw, piece);
	return good;
}

/* The secret of a placeholder that is not bound to this host, or -1. `all`: any
 * placeholder counts. */
static int find_foreign(const struct ab_swap *sw, struct ab_http_text text, bool all, bool *any)
{
	struct ab_search look;
	struct ab_found found;

	ab_search_init(&look, sw->finder, text.s, text.len);
	while (ab_search_next(&look, &found)) {
		if (all || !sw->bound[found.needle->owner])
			return (int)found.needle->owner;
		*any = true;
		/* Another one may begin inside it. */
		look.from = found.at + 1;
	}
	return -1;
}

/* false: there is a tripwire; *ret_any: there is any placeholder. */
static bool check_tripwires(struct ab_swap *sw, bool tls, bool *ret_any)
{
	const struct ab_http_request *rq = sw->rq;
	const struct ab_http_text line[] = { rq->method, rq->target, rq->path };
	int i = -1;

	*ret_any = false;
	for (size_t k = 0; k < AB_COUNT(line) && i < 0; k++)
		i = find_foreign(sw, line[k], !tls, ret_any);
	for (size_t k = 0; k < rq->head.nfields && i < 0; k++) {
		const struct ab_http_field *f = &rq->head.fields[k];
		bool all = !tls || ab_http_is(f->name, "proxy-authorization");

		i = find_foreign(sw, f->name, all, ret_any);
		if (i < 0)
			i = find_foreign(sw, f->value, all, ret_any);
	}
	return i < 0 || ab_swap_fail(sw, AB_SWAP_TRIPWIRE, i);
}

int ab_swap_foreign(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		    bool tls, const struct ab_http_request *rq)
{
	struct ab_swapped found = { .secret = -1 };
	struct ab_swap sw = {
		.vault = vault, .finder = ab_vault_placeholders(vault), .rq = rq, .ret = &found
	};
	bool any;

	for (size_t i = 0; tls && i < ab_vault_len(vault); i++)
		sw.bound[i] = ab_vault_bound(vault, i, host, port);
	if (sw.finder)
		check_tripwires(&sw, tls, &any);
	return found.secret;
}

static bool swap_head(struct ab_swap *sw)
{
	struct ab_search look;
	struct ab_found found;

	ab_search_init(&look, sw->finder, sw->rq->method.s, sw->rq->method.len);
	if (ab_search_next(&look, &found))
		return ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)found.needle->owner);
	for (size_t k = 0; k < sw->rq->head.nfields; k++)
		if (!swap_field(sw, k))
			return false;
	return ab_swap_target(sw);
}

/* Inject secrets that the client did not name; check required ones. */
static bool inject_and_check(struct ab_swap *sw)
{
	for (size_t i = 0; i < ab_vault_len(sw->vault); i++) {
		const struct ab_secret *s = ab_vault_at(sw->vault, i)->secret;
		/* It may be in the body, which was not read yet. */
		bool later = s->in_body && sw->rq->head.body != AB_HTTP_NONE;

		if (!sw->bound[i] || sw->injected[i] || ab_secret_kept(s))
			continue;
		if (s->inject && !ab_swap_inject(sw, i))
			return false;
		if (s->require && !sw->injected[i] && !later)
			return ab_swap_fail(sw, AB_SWAP_MISSING, (int)i);
	}
	return true;
}

/* Turn offsets into pointers. false: the head is too long. */
static bool resolve_offsets(struct ab_swap *sw)
{
	struct ab_http_request *rq = &sw->ret->request;
	const char *scratch = (const char *)sw->ret->scratch.data;
	size_t total;

	if (sw->target.set) {
		rq->target = (struct ab_http_text){ scratch + sw->target.at, sw->target.len };
		rq->path = (struct ab_http_text){ rq->target.s + sw->prefix,
						  rq->target.len - sw->prefix };
	}
	total = rq->method.len + rq->target.len + sizeof("  HTTP/1.1\r\n\r\n");
	for (size_t k = 0; k < rq->head.nfields; k++) {
		struct ab_http_field *f = &rq->head.fields[k];

		if (sw->values[k].set)
			f->value = (struct ab_http_text){ scratch + sw->values[k].at,
							  sw->values[k].len };
		total += f->name.len + f->value.len + 4;
	}
	return rq->target.len <= AB_HTTP_TARGET_MAX && total <= AB_HTTP_HEAD_MAX;
}

static void find_bound(struct ab_swap *sw, const struct ab_host *host, uint16_t port,
		       bool *ret_values, bool *ret_body)
{
	*ret_values = *ret_body = false;
	for (size_t i = 0; i < ab_vault_len(sw->vault); i++) {
		const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);

		sw->bound[i] = ab_vault_bound(sw->vault, i, host, port);
		*ret_values |= sw->bound[i] && e->value && !ab_secret_kept(e->secret);
		*ret_body |= sw->bound[i] && e->value && e->secret->in_body;
	}
	*ret_body &= sw->rq->head.body != AB_HTTP_NONE;
}

/* The first secret that was injected; -1: none. */
static int find_injected(const struct ab_swap *sw)
{
	for (int i = 0; i < AB_SECRETS_MAX; i++)
		if (sw->injected[i])
			return i;
	return -1;
}

static bool swap_request(struct ab_swap *sw, const struct ab_host *host, uint16_t port, bool tls)
{
	struct ab_swapped *ret = sw->ret;
	bool any = false, values = false, body = false;

	if (tls)
		find_bound(sw, host, port, &values, &body);
	if (sw->finder && !check_tripwires(sw, tls, &any))
		return false;
	if (!tls)
		return true;
	if ((any && !swap_head(sw)) || !inject_and_check(sw))
		return false;
	ret->secret = find_injected(sw);
	if (ret->secret >= 0)
		ret->result = AB_SWAP_DONE;
	ret->injected = ret->secret >= 0 || body;
	ret->searched = values;
	if (values && !ab_swap_keep_searchable(sw))
		return false;
	return resolve_offsets(sw) || ret->result == AB_SWAP_NONE ||
	       ab_swap_fail(sw, AB_SWAP_TOO_LONG, ret->secret);
}

void ab_swap_request(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		     bool tls, const struct ab_http_request *rq, struct ab_swapped *ret)
{
	struct ab_swap sw = {
		.vault = vault, .finder = ab_vault_placeholders(vault), .rq = rq, .ret = ret
	};

	*ret = (struct ab_swapped){ .secret = -1, .request = *rq, .scratch = { .wipe = true } };
	if (!swap_request(&sw, host, port, tls)) {
		ab_buf_fini(&ret->scratch);
		ret->injected = false;
	}
}

void ab_swapped_fini(struct ab_swapped *swapped)
{
	ab_buf_fini(&swapped->scratch);
	ab_buf_fini(&swapped->signature);
}
