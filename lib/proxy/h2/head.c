#include "proxy/h2/head.h"

enum { FIELD_OVERHEAD = 32 }; /* RFC 9113, 6.5.2 */

void ab_h2_head_fini(struct ab_h2_head *h)
{
	ab_buf_fini_all(&h->method, &h->path, &h->authority, &h->fields, &h->cookie);
	*h = (struct ab_h2_head){ 0 };
}

static bool is_value(struct ab_http_text s)
{
	for (size_t i = 0; i < s.len; i++)
		if (((uint8_t)s.s[i] < 0x20 && s.s[i] != '\t') || s.s[i] == 0x7f)
			return false;
	return true;
}

/* A word of the request line. */
static bool is_word(const struct ab_buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if ((uint8_t)b->data[i] <= 0x20 || b->data[i] == 0x7f)
			return false;
	return b->len > 0;
}

static bool is_long(const struct ab_h2_head *h)
{
	return h->fields.len + h->cookie.len > AB_HTTP_HEAD_MAX || h->nfields > AB_HTTP_FIELDS;
}

static void add_line(struct ab_buf *out, struct ab_http_text name, struct ab_http_text value)
{
	ab_buf_add(out, name.s, name.len);
	ab_buf_add(out, ": ", 2);
	ab_buf_add(out, value.s, value.len);
	ab_buf_add(out, "\r\n", 2);
}

static void set_once(struct ab_h2_head *h, struct ab_buf *to, struct ab_http_text value)
{
	h->malformed |= to->len > 0;
	ab_buf_add(to, value.s, value.len);
}

static void add_pseudo(struct ab_h2_head *h, struct ab_http_text name, struct ab_http_text value)
{
	/* They come first. */
	h->malformed |= h->nfields > 0;
	if (ab_http_is_exactly(name, ":method"))
		set_once(h, &h->method, value);
	else if (ab_http_is_exactly(name, ":path"))
		set_once(h, &h->path, value);
	else if (ab_http_is_exactly(name, ":authority"))
		set_once(h, &h->authority, value);
	else if (ab_http_is_exactly(name, ":status"))
		h->malformed |= h->status || !ab_http_status(value, &h->status);
	else
		/* The scheme is that of the connection. */
		h->malformed |= !ab_http_is_exactly(name, ":scheme");
}

/* Clients may send one field for each cookie (RFC 9113, 8.2.3). */
static void add_cookie(struct ab_h2_head *h, struct ab_http_text value)
{
	h->cookie.wipe = h->wipe;
	if (!value.len)
		return; /* no line is written for it, so it must not count as one */
	if (h->cookie.len)
		ab_buf_add(&h->cookie, "; ", 2);
	else
		h->nfields++;
	ab_buf_add(&h->cookie, value.s, value.len);
}

void ab_h2_head_add(struct ab_h2_head *h, struct ab_http_text name, struct ab_http_text value)
{
	h->size += name.len + value.len + FIELD_OVERHEAD;
	if (is_long(h))
		return;
	if (!is_value(value) || !name.len) {
		h->malformed = true;
		return;
	}
	if (name.s[0] == ':') {
		add_pseudo(h, name, value);
		return;
	}
	if (ab_http_is(name, "cookie")) {
		add_cookie(h, value);
		return;
	}
	switch (ab_http_name(name)) {
	case AB_HTTP_CONNECTION:
	case AB_HTTP_TRANSFER_ENCODING:
	case AB_HTTP_UPGRADE:
		h->malformed = true;
		return;
	case AB_HTTP_HOST:
		/* The same twice is common; two that differ are for the parser. */
		if (h->authority.len == value.len && value.len &&
		    memcmp(h->authority.data, value.s, value.len) == 0)
			return;
		h->has_host = true;
		break;
	case AB_HTTP_CONTENT_LENGTH:
		h->has_length = true;
		break;
	case AB_HTTP_EXPECT:
	case AB_HTTP_HOP:
	case AB_HTTP_HTTP2_SETTINGS:
	case AB_HTTP_TE:
	case AB_HTTP_TRAILER:
	case AB_HTTP_OTHER:
		break;
	}
	h->malformed |= !ab_http_token(name);
	h->nfields++;
	h->fields.wipe = h->wipe;
	add_line(&h->fields, name, value);
}

static struct ab_http_text text_of(const struct ab_buf *b)
{
	return (struct ab_http_text){ b->data, b->len };
}

static void put_fields(const struct ab_h2_head *h, struct ab_buf *out)
{
	ab_buf_add(out, h->fields.data, h->fields.len);
	if (h->cookie.len)
		add_line(out, ab_http_text("cookie"), text_of(&h->cookie));
}

static bool is_method(const struct ab_h2_head *h, const char *method)
{
	return ab_http_is_exactly(text_of(&h->method), method);
}

/* CONNECT has only an authority; the path of OPTIONS may be "*". */
static bool has_target(const struct ab_h2_head *h)
{
	if (is_method(h, "CONNECT"))
		return is_word(&h->authority) && !h->path.len;
	return is_word(&h->path) && (h->path.data[0] == '/' || strcmp(h->path.data, "*") == 0);
}

bool ab_h2_head_request(const struct ab_h2_head *h, bool ended, struct ab_buf *out,
			enum ab_http_body *ret_body)
{
	const struct ab_buf *target = is_method(h, "CONNECT") ? &h->authority : &h->path;

	if (h->malformed || h->status || !is_word(&h->method) || !has_target(h) ||
	    (h->authority.len && !is_word(&h->authority)))
		return false;
	ab_buf_add(out, h->method.data, h->method.len);
	ab_buf_puts(out, " ");
	ab_buf_add(out, target->data, target->len);
	ab_buf_puts(out, " HTTP/1.1\r\n");
	if (h->authority.len)
		add_line(out, ab_http_text("host"), text_of(&h->authority));
	put_fields(h, out);
	*ret_body = h->has_length ? AB_HTTP_LENGTH : ended ? AB_HTTP_NONE : AB_HTTP_CHUNKED;
	if (*ret_body == AB_HTTP_CHUNKED)
		ab_buf_puts(out, "transfer-encoding: chunked\r\n");
	/* One request per stream. */
	ab_buf_puts(out, "connection: close\r\n\r\n");
	return true;
}

bool ab_h2_head_response(const struct ab_h2_head *h, bool ended, bool to_head, struct ab_buf *out,
			 enum ab_http_body *ret_body, bool *ret_added)
{
	bool bodyless = to_head || h->status < 200 || h->status == 204 || h->status == 304;

	/* Nothing asks for another protocol. */
	if (h->malformed || !h->status || h->status == 101 || h->method.len || h->path.len ||
	    h->authority.len || (ended && h->status < 200))
		return false;
	ab_buf_printf(out, "HTTP/1.1 %d \r\n", h->status);
	put_fields(h, out);
	*ret_added = ended && !h->has_length && h->status != 204;
	if (*ret_added)
		ab_buf_puts(out, "content-length: 0\r\n");
	*ret_body = bodyless || (ended && !h->has_length) ? AB_HTTP_NONE
		    : h->has_length			  ? AB_HTTP_LENGTH
							  : AB_HTTP_CHUNKED;
	if (*ret_body == AB_HTTP_CHUNKED)
		ab_buf_puts(out, "transfer-encoding: chunked\r\n");
	ab_buf_puts(out, "\r\n");
	return true;
}

bool ab_h2_head_trailers(const struct ab_h2_head *h, struct ab_buf *out)
{
	if (h->malformed || h->status || h->method.len || h->path.len || h->authority.len ||
	    h->has_length || h->has_host || is_long(h))
		return false;
	put_fields(h, out);
	return true;
}
