/* Path and query: values are percent-encoded. */
#include <string.h>

#include "base/text/ascii.h"
#include "base/data/mem.h"
#include "proxy/secrets/swap_state.h"

/* Is this the parameter's name, escaped or not? */
static bool is_named(struct ab_http_text s, const char *name)
{
	size_t i = 0;

	while (i < s.len && *name) {
		char c = s.s[i++];

		if (c == '%' && s.len - i >= 2 && ab_hex(s.s[i]) >= 0 && ab_hex(s.s[i + 1]) >= 0) {
			c = (char)(ab_hex(s.s[i]) << 4 | ab_hex(s.s[i + 1]));
			i += 2;
		}
		if (c != *name++)
			return false;
	}
	return i == s.len && !*name;
}

static void put_escaped(struct ab_buf *out, const char *s, size_t len, bool query)
{
	static const char digits[] = "0123456789ABCDEF";
	/* Unescaped in a path; in a query some of them are separators. */
	const char *marks = query ? "-._~" : "-._~!$&'()*+,;=:@";

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		char escape[3] = { '%', digits[c >> 4], digits[c & 15] };
		bool plain = ab_is_alnum(c) || (c && strchr(marks, c));

		if (plain)
			ab_buf_add(out, s + i, 1);
		else
			ab_buf_add(out, escape, 3);
	}
}

void ab_swap_put_formatted(struct ab_buf *out, const char *format, const struct ab_vault_entry *e,
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

/* The parameter around the byte at `at`, and where its value begins (without a
 * value: its end). */
static struct ab_http_text find_parameter(struct ab_http_text path, size_t query, size_t at,
					  size_t *ret_value)
{
	struct ab_http_text p = { path.s + query + 1, 0 };
	const char *end = path.s + path.len;
	const char *amp = memrchr(p.s, '&', at - query - 1), *equals;

	if (amp)
		p.s = amp + 1;
	amp = memchr(p.s, '&', (size_t)(end - p.s));
	p.len = (size_t)((amp ? amp : end) - p.s);
	equals = memchr(p.s, '=', p.len);
	*ret_value = equals ? (size_t)(equals + 1 - p.s) : p.len;
	return p;
}

static struct ab_http_text name_of(struct ab_http_text parameter, size_t value)
{
	if (value && parameter.s[value - 1] == '=')
		value--;
	return (struct ab_http_text){ parameter.s, value };
}

/* The position of the query's "?"; path.len: none. */
static size_t find_query(struct ab_http_text path)
{
	const char *q = path.len ? memchr(path.s, '?', path.len) : NULL;

	return q ? (size_t)(q - path.s) : path.len;
}

static bool is_permitted(const struct ab_secret *secret, struct ab_http_text path, size_t query,
			 const struct ab_found *found)
{
	struct ab_http_text p;
	size_t value;

	if (found->needle->form != AB_FORM_PLAIN || found->escape > AB_ESCAPE_URL ||
	    ab_secret_kept(secret))
		return false;
	if (found->at < query)
		return secret->in_path;
	if (!secret->ncarriers)
		return true;
	p = find_parameter(path, query, found->at, &value);
	if (found->at < (size_t)(p.s - path.s) + value)
		return false;
	for (size_t i = 0; i < secret->ncarriers; i++)
		if (secret->carriers[i].kind == AB_CARRY_QUERY &&
		    is_named(name_of(p, value), secret->carriers[i].name))
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

static void begin_target(struct ab_swap *sw, struct ab_swap_piece *piece)
{
	ab_swap_begin(sw, piece);
	sw->prefix = prefix_of(sw->rq);
	ab_buf_add(&sw->ret->scratch, sw->rq->target.s, sw->prefix);
}

bool ab_swap_target(struct ab_swap *sw)
{
	struct ab_http_text path = sw->rq->path;
	struct ab_buf *out = &sw->ret->scratch;
	size_t query = find_query(path), done = 0;
	struct ab_swap_piece piece;
	struct ab_search look;
	struct ab_found found;

	ab_search_init(&look, sw->finder, path.s, path.len);
	if (!ab_search_next(&look, &found)) {
		/* In the target but not in the path: in its authority. */
		ab_search_init(&look, sw->finder, sw->rq->target.s, sw->rq->target.len);
		return !ab_search_next(&look, &found) ||
		       ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)found.needle->owner);
	}
	begin_target(sw, &piece);
	do {
		size_t i = found.needle->owner;
		const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);

		if (!is_permitted(e->secret, path, query, &found))
			return ab_swap_fail(sw, AB_SWAP_MISPLACED, (int)i);
		if (!e->value)
			return ab_swap_fail(sw, AB_SWAP_ABSENT, (int)i);
		ab_buf_add(out, path.s + done, found.at - done);
		put_escaped(out, e->value, e->value_len, found.at > query);
		done = found.at + found.len;
		sw->injected[i] = true;
	} while (ab_search_next(&look, &found));
	ab_buf_add(out, path.s + done, path.len - done);
	ab_swap_end(sw, &piece);
	sw->target = piece;
	return true;
}

/* Write the parameters of other names, each after "?" or "&". */
static bool put_other_parameters(struct ab_buf *out, struct ab_http_text path, const char *name)
{
	size_t query = find_query(path), value;
	bool begun = false;

	while (query < path.len) {
		struct ab_http_text p = find_parameter(path, query, query + 1, &value);

		query = (size_t)(p.s - path.s) + p.len;
		if (!p.len || is_named(name_of(p, value), name))
			continue;
		ab_buf_add(out, begun ? "&" : "?", 1);
		ab_buf_add(out, p.s, p.len);
		begun = true;
	}
	return begun;
}

bool ab_swap_inject_query(struct ab_swap *sw, size_t i, const char *name, const char *format)
{
	const struct ab_vault_entry *e = ab_vault_at(sw->vault, i);
	struct ab_buf now = { .wipe = true };
	struct ab_buf *out = &sw->ret->scratch;
	struct ab_http_text path = sw->rq->path;
	bool begun;

	if (sw->rq->form != AB_HTTP_ORIGIN && sw->rq->form != AB_HTTP_ABSOLUTE)
		return true;
	/* The target already has a value: copy it, because scratch may move. */
	if (sw->target.set) {
		ab_buf_add(&now, out->data + sw->target.at + sw->prefix,
			   sw->target.len - sw->prefix);
		path = (struct ab_http_text){ (const char *)now.data, now.len };
	}
	begin_target(sw, &sw->target);
	ab_buf_add(out, path.s, find_query(path));
	begun = put_other_parameters(out, path, name);
	ab_buf_add(out, begun ? "&" : "?", 1);
	put_escaped(out, name, strlen(name), true);
	ab_buf_add(out, "=", 1);
	ab_swap_put_formatted(out, format, e, true);
	ab_swap_end(sw, &sw->target);
	ab_buf_fini(&now);
	sw->injected[i] = true;
	return true;
}
