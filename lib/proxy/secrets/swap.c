#include "proxy/secrets/swap.h"

#include "proxy/secrets/search.h"

/* A request while its placeholders are replaced. */
struct swap {
	const struct ab_vault *vault;
	const struct ab_finder *finder;
	const struct ab_http_request *rq;
	struct ab_swapped *ret; /* ret->request: to be sent */
	uint64_t bound;		/* to the host: a bit for each */
	uint64_t injected;	/* their values were inserted: the same */
};

/* Sets the result; returns false. */
static bool fail_swap(struct swap *sw, enum ab_swap_result result, int i)
{
	sw->ret->result = result;
	sw->ret->secret = i;
	return false;
}

/* For a text of the result, until the next one begins. */
static struct ab_buf *begin_text(struct swap *sw)
{
	struct ab_buf *text = ab_append(sw->ret->texts, sw->ret->ntexts);

	*text = (struct ab_buf){ .wipe = true };
	return text;
}

/* Path and query: values are percent-encoded. */

/* In a query some characters that a path may have are separators. */
static void put_escaped(struct ab_buf *out, const char *s, size_t len, bool query)
{
	ab_http_escape(out, s, len, query ? "-._~" : "-._~!$&'()*+,;=:@");
}

/* Append the value in its format, escaped as in a query or not. */
static void put_formatted(struct ab_buf *out, const char *format, const struct ab_vault_entry *e,
			  bool query)
{
	const char *hole = strstr(format, "{}");
	size_t before = hole ? (size_t)(hole - format) : 0;

	ab_buf_add(out, format, before);
	if (query)
		put_escaped(out, e->value, e->value_len, true);
	else
		ab_buf_add(out, e->value, e->value_len);
	if (hole)
		ab_buf_add(out, hole + 2, strlen(hole + 2));
}

static bool is_permitted(const struct ab_secret *secret, struct ab_http_text path, size_t query,
			 const struct ab_found *found)
{
	struct ab_http_text rest = path, name = { 0 }, value = path;
	const char *at = path.s + found->at;

	if (found->needle->form != AB_FORM_PLAIN || found->escape > AB_ESCAPE_URL ||
	    ab_secret_kept(secret))
		return false;
	if (found->at < query)
		return secret->in_path;
	if (!secret->ncarriers)
		return true;
	/* The parameter that it is in; without a value that ends where it begins. */
	ab_http_until(&rest, '?');
	while (ab_http_parameter(&rest, &name, &value) && value.s + value.len <= at)
		;
	if (at < value.s)
		return false;
	for (size_t i = 0; i < secret->ncarriers; i++)
		if (secret->carriers[i].kind == AB_CARRY_QUERY &&
		    ab_http_decodes_to(name, secret->carriers[i].name))
			return true;
	return false;
}

/* The length of the target before the path. */
static size_t prefix_of(const struct ab_http_request *rq)
{
	return rq->form == AB_HTTP_ABSOLUTE && rq->target.len >= rq->path.len
		       ? rq->target.len - rq->path.len
		       : 0;
}

static struct ab_buf *begin_target(struct swap *sw)
{
	struct ab_buf *out = begin_text(sw);

	ab_buf_add(out, sw->rq->target.s, prefix_of(sw->rq));
	return out;
}

static void end_target(struct swap *sw, const struct ab_buf *out)
{
	size_t prefix = prefix_of(sw->rq);

	sw->ret->request.target = (struct ab_http_text){ out->data, out->len };
	sw->ret->request.path = (struct ab_http_text){ out->data + prefix, out->len - prefix };
}

static bool swap_target(struct swap *sw)
{
	struct ab_http_text path = sw->rq->path, rest = path;
	size_t query = ab_http_until(&rest, '?').len, done = 0;
	struct ab_search look;
	struct ab_found found;
	struct ab_buf *out;

	ab_search_init(&look, sw->finder, path.s, path.len);
	if (!ab_search_next(&look, &found)) {
		/* In the target but not in the path: in its authority. */
		ab_search_init(&look, sw->finder, sw->rq->target.s, sw->rq->target.len);
		return !ab_search_next(&look, &found) ||
		       fail_swap(sw, AB_SWAP_MISPLACED, (int)found.needle->owner);
	}
	out = begin_target(sw);
	do {
		size_t i = found.needle->owner;
		const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);

		if (!is_permitted(e->secret, path, query, &found))
			return fail_swap(sw, AB_SWAP_MISPLACED, (int)i);
		if (!e->value)
			return fail_swap(sw, AB_SWAP_ABSENT, (int)i);
		ab_buf_add(out, path.s + done, found.at - done);
		put_escaped(out, e->value, e->value_len, found.at > query);
		done = found.at + found.len;
		sw->injected |= UINT64_C(1) << i;
	} while (ab_search_next(&look, &found));
	ab_buf_add(out, path.s + done, path.len - done);
	end_target(sw, out);
	return true;
}

/* Add a parameter, replacing any of that name. */
static bool inject_query(struct swap *sw, size_t i, const char *name, const char *format)
{
	const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);
	struct ab_http_text query = sw->ret->request.path, path = ab_http_until(&query, '?');
	struct ab_buf *out;
	bool begun;

	if (sw->rq->form != AB_HTTP_ORIGIN && sw->rq->form != AB_HTTP_ABSOLUTE)
		return true;
	out = begin_target(sw);
	ab_buf_add(out, path.s, path.len);
	begun = ab_http_put_others(out, query, &name, 1);
	ab_buf_add(out, begun ? "&" : "?", 1);
	put_escaped(out, name, strlen(name), true);
	ab_buf_add(out, "=", 1);
	put_formatted(out, format, e, true);
	end_target(sw, out);
	sw->injected |= UINT64_C(1) << i;
	return true;
}

/* Adds and removes fields that the client did not ask for. */

static void set_value(struct ab_http_field *f, const struct ab_buf *text)
{
	f->value = (struct ab_http_text){ text->data, text->len };
	f->secret = true;
}

/* A field that Connection names would be dropped by the next hop. */
static void remove_option(struct ab_http_head *head, const char *name)
{
	for (size_t k = head->noptions; k-- > 0;)
		if (ab_http_is(head->options[k], name))
			memmove(&head->options[k], &head->options[k + 1],
				(--head->noptions - k) * sizeof(head->options[0]));
}

/* Replace all fields of that name by an empty one; NULL: too many fields. */
static struct ab_http_field *replace_fields(struct swap *sw, const char *name)
{
	struct ab_http_head *head = &sw->ret->request.head;
	struct ab_http_field *f;

	ab_http_remove(head, name);
	if (head->nfields == AB_HTTP_FIELDS)
		return NULL;
	remove_option(head, name);
	f = &head->fields[head->nfields++];
	*f = (struct ab_http_field){ .name = { name, strlen(name) } };
	return f;
}

static bool has_value(const struct swap *sw, const char *name)
{
	const struct ab_http_head *head = &sw->ret->request.head;

	for (size_t k = 0; k < head->nfields; k++)
		if (head->fields[k].secret && ab_http_is(head->fields[k].name, name))
			return true;
	return false;
}

/* Default formats of the whole field; for Basic, of the text to encode (as
 * GitHub expects it). */
static const char *const formats[] = {
	[AB_CARRY_BEARER] = "Bearer {}",
	[AB_CARRY_TOKEN] = "token {}",
	[AB_CARRY_BASIC] = "x-access-token:{}",
	[AB_CARRY_HEADER] = "{}",
	[AB_CARRY_QUERY] = "{}",
};

static void put_basic(struct ab_buf *out, const char *format, const struct ab_vault_entry *e)
{
	ab_autobuf struct ab_buf login = { .wipe = true };

	if (strncasecmp(format, "basic ", 6) == 0)
		format += 6;
	put_formatted(&login, format, e, false);
	ab_buf_add(out, "Basic ", 6);
	ab_base64_add(out, login.data, login.len, AB_BASE64_STANDARD, true);
}

static bool inject_field(struct swap *sw, size_t i, const struct ab_carrier *c, const char *format)
{
	const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);
	const char *name = c->kind == AB_CARRY_HEADER ? c->name : "authorization";
	struct ab_http_field *f;
	struct ab_buf *out;

	/* Keep another secret that the client chose there. */
	if (has_value(sw, name))
		return true;
	f = replace_fields(sw, name);
	if (!f)
		return fail_swap(sw, AB_SWAP_TOO_LONG, (int)i);
	out = begin_text(sw);
	if (c->kind == AB_CARRY_BASIC)
		put_basic(out, format, e);
	else
		put_formatted(out, format, e, false);
	set_value(f, out);
	sw->injected |= UINT64_C(1) << i;
	return true;
}

/* Inject a secret that the client did not name, if there is a place. */
static bool inject_secret(struct swap *sw, size_t i)
{
	static const struct ab_carrier usual = { AB_CARRY_BEARER, "" };
	const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);
	const struct ab_carrier *c = e->secret->ncarriers ? e->secret->carriers : &usual;
	const char *format = e->secret->format ? e->secret->format : formats[c->kind];

	if (!e->value)
		return fail_swap(sw, AB_SWAP_ABSENT, (int)i);
	return c->kind == AB_CARRY_QUERY ? inject_query(sw, i, c->name, format)
					 : inject_field(sw, i, c, format);
}

/* Ask for a response that can be searched: neither compressed nor partial. */
static bool keep_searchable(struct swap *sw)
{
	/* They lead to partial responses, which would be refused, or to compressed frames or messages. */
	static const char *const unwanted[] = { "range", "if-range", "sec-websocket-extensions",
						"grpc-accept-encoding" };
	struct ab_http_field *f;

	for (size_t i = 0; i < AB_COUNT(unwanted); i++)
		ab_http_remove(&sw->ret->request.head, unwanted[i]);
	f = replace_fields(sw, "accept-encoding");
	if (!f)
		return fail_swap(sw, AB_SWAP_TOO_LONG, sw->ret->secret);
	f->value = (struct ab_http_text){ "identity", 8 };
	return true;
}

/* Replaces placeholders in the head. */

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
	       ab_http_begins(f->value, scheme);
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
static bool check_place(struct swap *sw, const struct ab_http_field *f, size_t i)
{
	const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);

	if (is_closed_field(&sw->rq->head, f) || !may_carry(e->secret, f))
		return fail_swap(sw, AB_SWAP_MISPLACED, (int)i);
	if (!e->value)
		return fail_swap(sw, AB_SWAP_ABSENT, (int)i);
	return true;
}

/* Write the text with values. Fails if a placeholder is not plain. */
static bool swap_text(struct swap *sw, const struct ab_http_field *f, struct ab_http_text text,
		      struct ab_buf *out)
{
	struct ab_search look;
	struct ab_found found;
	size_t done = 0;

	ab_search_init(&look, sw->finder, text.s, text.len);
	while (ab_search_next(&look, &found)) {
		size_t i = found.needle->owner % AB_SECRETS_MAX;
		const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);

		/* A replaced one is found here only inside base64. */
		if (!ab_found_plain(&found) || !ab_vault_in(sw->bound, found.needle->owner))
			return fail_swap(sw, AB_SWAP_MISPLACED, (int)i);
		if (!check_place(sw, f, i))
			return false;
		ab_buf_add(out, text.s + done, found.at - done);
		ab_buf_add(out, e->value, e->value_len);
		done = found.at + found.len;
		sw->injected |= UINT64_C(1) << i;
	}
	ab_buf_add(out, text.s + done, text.len - done);
	return true;
}

/* "Basic dXNlcjpwYXNz": decode, replace, encode. `i` was found in the encoded
 * text, so it must be found in the decoded one. */
static bool swap_basic(struct swap *sw, const struct ab_http_field *f, size_t i, struct ab_buf *out)
{
	struct ab_buf swapped = { .wipe = true };
	struct ab_http_text s = f->value;
	ab_autofree char *text = ab_alloc(s.len + 3);
	size_t n = 0;
	bool good;

	if (!has_scheme(f, "basic"))
		return fail_swap(sw, AB_SWAP_MISPLACED, (int)i);
	s = (struct ab_http_text){ s.s + 6, s.len - 6 };
	while (s.len && s.s[0] == ' ') {
		s.s++;
		s.len--;
	}
	if (!ab_base64_decode(s.s, s.len, text, &n))
		return fail_swap(sw, AB_SWAP_MISPLACED, (int)i);
	good = swap_text(sw, f, (struct ab_http_text){ text, n }, &swapped);
	if (good && !ab_vault_in(sw->injected, i))
		good = fail_swap(sw, AB_SWAP_MISPLACED, (int)i);
	if (good) {
		ab_buf_add(out, "Basic ", 6);
		ab_base64_add(out, swapped.data, swapped.len, AB_BASE64_STANDARD, true);
	}
	ab_buf_fini(&swapped);
	return good;
}

static bool swap_field(struct swap *sw, size_t k)
{
	struct ab_http_field *f = &sw->ret->request.head.fields[k];
	struct ab_found found;
	struct ab_buf *out;
	bool good;

	if (ab_finder_find(sw->finder, f->name.s, f->name.len, &found))
		return fail_swap(sw, AB_SWAP_MISPLACED, (int)found.needle->owner);
	if (!ab_finder_find(sw->finder, f->value.s, f->value.len, &found))
		return true;
	out = begin_text(sw);
	if (found.needle->form == AB_FORM_BASE64 && ab_http_is(f->name, "authorization"))
		good = swap_basic(sw, f, found.needle->owner, out);
	else
		good = swap_text(sw, f, f->value, out);
	set_value(f, out);
	return good;
}

/* The secret of a placeholder that is not bound to this host, or -1. `all`: any
 * placeholder counts. */
static int find_foreign(const struct swap *sw, struct ab_http_text text, bool all, bool *any)
{
	struct ab_search look;
	struct ab_found found;

	ab_search_init(&look, sw->finder, text.s, text.len);
	while (ab_search_next(&look, &found)) {
		if (all || !ab_vault_in(sw->bound, found.needle->owner))
			return (int)found.needle->owner;
		*any = true;
		/* Another one may begin inside it. */
		look.from = found.at + 1;
	}
	return -1;
}

/* false: there is a tripwire; *ret_any: there is any placeholder. */
static bool check_tripwires(struct swap *sw, bool tls, bool *ret_any)
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
	return i < 0 || fail_swap(sw, AB_SWAP_TRIPWIRE, i);
}

int ab_swap_foreign(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		    bool tls, const struct ab_http_request *rq)
{
	struct ab_swapped found = { .secret = -1 };
	struct swap sw = {
		.vault = vault, .finder = ab_vault_placeholders(vault), .rq = rq, .ret = &found
	};
	bool any;

	if (tls)
		sw.bound = ab_vault_bound_all(vault, host, port);
	if (sw.finder)
		check_tripwires(&sw, tls, &any);
	return found.secret;
}

static bool swap_head(struct swap *sw)
{
	struct ab_found found;

	if (ab_finder_find(sw->finder, sw->rq->method.s, sw->rq->method.len, &found))
		return fail_swap(sw, AB_SWAP_MISPLACED, (int)found.needle->owner);
	for (size_t k = 0; k < sw->rq->head.nfields; k++)
		if (!swap_field(sw, k))
			return false;
	return swap_target(sw);
}

/* Inject secrets that the client did not name; check required ones. */
static bool inject_and_check(struct swap *sw)
{
	for (size_t i = 0; i < ab_vault_len(sw->vault); i++) {
		const struct ab_secret *s = ab_vault_at(sw->vault, i)->secret;
		/* It may be in the body, which was not read yet. */
		bool later = s->in_body && sw->rq->head.body != AB_HTTP_NONE;

		if (!ab_vault_in(sw->bound, i) || ab_vault_in(sw->injected, i) || ab_secret_kept(s))
			continue;
		if (s->inject && !inject_secret(sw, i))
			return false;
		if (s->require && !ab_vault_in(sw->injected, i) && !later)
			return fail_swap(sw, AB_SWAP_MISSING, (int)i);
	}
	return true;
}

/* May the response have a value, now or while it lasts? */
static bool has_values(const struct swap *sw)
{
	for (size_t i = 0; i < ab_vault_len(sw->vault); i++)
		if (ab_vault_in(sw->bound, i) && !ab_secret_kept(ab_vault_at(sw->vault, i)->secret))
			return true;
	return false;
}

static bool swap_request(struct swap *sw, const struct ab_host *host, uint16_t port, bool tls)
{
	struct ab_swapped *ret = sw->ret;
	bool any = false;

	if (tls)
		sw->bound = ab_vault_bound_all(sw->vault, host, port);
	if (sw->finder && !check_tripwires(sw, tls, &any))
		return false;
	if (!tls)
		return true;
	if ((any && !swap_head(sw)) || !inject_and_check(sw))
		return false;
	if (sw->injected) {
		ret->secret = __builtin_ctzll(sw->injected);
		ret->result = AB_SWAP_DONE;
	}
	ret->injected = sw->injected || (sw->rq->head.body != AB_HTTP_NONE &&
					 ab_swap_wants_body(sw->vault, host, port));
	ret->searched = has_values(sw);
	if (ret->searched && !keep_searchable(sw))
		return false;
	return ret->result == AB_SWAP_NONE ||
	       (ret->request.target.len <= AB_HTTP_TARGET_MAX && ab_http_fits(&ret->request)) ||
	       fail_swap(sw, AB_SWAP_TOO_LONG, ret->secret);
}

void ab_swap_request(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		     bool tls, const struct ab_http_request *rq, struct ab_swapped *ret)
{
	struct swap sw = {
		.vault = vault, .finder = ab_vault_placeholders(vault), .rq = rq, .ret = ret
	};

	*ret = (struct ab_swapped){ .secret = -1, .request = *rq };
	if (!swap_request(&sw, host, port, tls)) {
		ab_swapped_fini(ret);
		ret->injected = false;
	}
}

void ab_swapped_fini(struct ab_swapped *swapped)
{
	while (swapped->ntexts)
		ab_buf_fini(&swapped->texts[--swapped->ntexts]);
	free(ab_take(swapped->texts));
	ab_buf_fini(&swapped->signature);
}
