#include "proxy/wire/http.h"

static void put_text(struct ab_buf *out, struct ab_http_text s)
{
	ab_buf_add(out, s.s, s.len);
}

static void put_field(struct ab_buf *out, const struct ab_http_field *f)
{
	put_text(out, f->name);
	ab_buf_puts(out, ": ");
	put_text(out, f->value);
	ab_buf_puts(out, "\r\n");
}

void ab_http_escape(struct ab_buf *out, const void *data, size_t len, const char *plain)
{
	static const char digits[] = "0123456789ABCDEF";
	const unsigned char *s = data;

	for (size_t i = 0; i < len; i++) {
		char escape[3] = { '%', digits[s[i] >> 4], digits[s[i] & 15] };

		if (ab_is_alnum(s[i]) || (s[i] && strchr(plain, s[i])))
			ab_buf_add(out, s + i, 1);
		else
			ab_buf_add(out, escape, sizeof(escape));
	}
}

bool ab_http_put_others(struct ab_buf *out, struct ab_http_text query, const char *const names[],
			size_t n)
{
	struct ab_http_text name, value;
	bool begun = false;

	while (ab_http_parameter(&query, &name, &value)) {
		if (ab_http_decodes_to_one(name, names, n))
			continue;
		ab_buf_puts(out, begun ? "&" : "?");
		ab_buf_add(out, name.s, (size_t)(value.s + value.len - name.s));
		begun = true;
	}
	return begun;
}

void ab_http_put_asked(struct ab_buf *out, const void *data, size_t len)
{
	enum { SHOWN = 200 };
	const char *s = data;
	size_t n = 0;

	while (n < len && n < SHOWN && s[n] != '\r' && s[n] != '\n' && s[n] != '?')
		n++;
	ab_buf_puts(out, "");
	if (n)
		ab_buf_escape_n(out, s, n);
}

/* "Connection: a, b", unless n is 0. */
static void put_connection(struct ab_buf *out, const char *const *words, size_t n)
{
	bool begun = false;

	for (size_t i = 0; i < n; i++) {
		if (!words[i])
			continue;
		ab_buf_puts(out, begun ? ", " : "Connection: ");
		ab_buf_puts(out, words[i]);
		begun = true;
	}
	if (begun)
		ab_buf_puts(out, "\r\n");
}

void ab_http_write_authority(struct ab_buf *out, const struct ab_http_hop *hop)
{
	struct ab_host_entry e =
		ab_host_entry_of(hop->host, hop->port == (hop->tls ? 443 : 80) ? 0 : hop->port);
	char text[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(&e, text);
	if (e.host.kind == AB_HOST_IPV6 && !e.port) {
		ab_buf_puts(out, "[");
		ab_buf_puts(out, text);
		ab_buf_puts(out, "]");
	} else {
		ab_buf_puts(out, text);
	}
}

static void put_request_line(struct ab_buf *out, const struct ab_http_request *rq,
			     const struct ab_http_hop *hop)
{
	bool star = !rq->path.len && ab_http_is_exactly(rq->method, "OPTIONS");

	put_text(out, rq->method);
	ab_buf_puts(out, " ");
	if (hop->upstream) {
		ab_buf_puts(out, "http://");
		ab_http_write_authority(out, hop);
	}
	/* OPTIONS with an empty path is about the server (RFC 9112, 3.2.4). */
	if (star)
		ab_buf_puts(out, hop->upstream ? "" : "*");
	else if (!rq->path.len || rq->path.s[0] == '?')
		ab_buf_puts(out, "/");
	put_text(out, rq->path);
	ab_buf_puts(out, rq->head.minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
}

/* Is this an end-to-end field? */
static bool is_forwarded(const struct ab_http_head *head, const struct ab_http_field *f,
			 bool upgrade)
{
	switch (f->id) {
	case AB_HTTP_CONNECTION:
	case AB_HTTP_HOP:
	case AB_HTTP_HTTP2_SETTINGS:
	case AB_HTTP_TE:
		return false;
	case AB_HTTP_UPGRADE:
		return upgrade;
	case AB_HTTP_CONTENT_LENGTH:
	case AB_HTTP_TRANSFER_ENCODING:
	case AB_HTTP_HOST:
		return true;
	case AB_HTTP_EXPECT:
	case AB_HTTP_TRAILER:
	case AB_HTTP_OTHER:
		return !ab_http_option(head, f->name);
	}
	return false;
}

bool ab_http_forwarded(const struct ab_http_head *head, const struct ab_http_field *f)
{
	return f->id != AB_HTTP_HOST && is_forwarded(head, f, head->upgrade);
}

bool ab_http_fits(const struct ab_http_request *rq)
{
	size_t total = rq->method.len + rq->target.len + sizeof("  HTTP/1.1\r\n\r\n");

	for (size_t i = 0; i < rq->head.nfields; i++)
		total += rq->head.fields[i].name.len + rq->head.fields[i].value.len + 4;
	return total <= AB_HTTP_HEAD_MAX;
}

void ab_http_write_request(struct ab_buf *out, const struct ab_http_request *rq,
			   const struct ab_http_hop *hop)
{
	const struct ab_http_head *head = &rq->head;
	const char *words[3] = { 0 };

	put_request_line(out, rq, hop);
	ab_buf_puts(out, "Host: ");
	ab_http_write_authority(out, hop);
	ab_buf_puts(out, "\r\n");
	/* The response to TRACE returns the request, and with Max-Forwards the
	 * upstream itself sends it: keep the credentials out of it. */
	if (hop->upstream && hop->credentials && !ab_http_is_exactly(rq->method, "TRACE")) {
		ab_buf_puts(out, "Proxy-Authorization: ");
		ab_buf_puts(out, hop->credentials);
		ab_buf_puts(out, "\r\n");
	}
	for (size_t i = 0; i < head->nfields; i++) {
		const struct ab_http_field *f = &head->fields[i];

		/* Trailers are the only TE option that is forwarded. */
		if (f->id == AB_HTTP_TE && ab_http_is(f->value, "trailers") && !words[1]) {
			words[1] = "TE";
			put_field(out, f);
		} else if (ab_http_forwarded(head, f)) {
			put_field(out, f);
		}
	}
	if (!head->keep && head->minor)
		words[0] = "close";
	else if (head->keep && !head->minor)
		words[0] = "keep-alive";
	if (head->upgrade)
		words[2] = "Upgrade";
	put_connection(out, words, AB_COUNT(words));
	ab_buf_puts(out, "\r\n");
}

void ab_http_write_without_upgrade(struct ab_buf *out, const struct ab_http_request *rq)
{
	const struct ab_http_head *head = &rq->head;
	bool begun = false;

	put_text(out, rq->method);
	ab_buf_puts(out, " ");
	put_text(out, rq->target);
	ab_buf_puts(out, head->minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
	for (size_t i = 0; i < head->nfields; i++) {
		const struct ab_http_field *f = &head->fields[i];

		if (f->id != AB_HTTP_UPGRADE && f->id != AB_HTTP_CONNECTION &&
		    f->id != AB_HTTP_HTTP2_SETTINGS)
			put_field(out, f);
	}
	for (size_t i = 0; i < head->noptions; i++) {
		if (ab_http_is(head->options[i], "upgrade") ||
		    ab_http_is(head->options[i], "http2-settings"))
			continue;
		ab_buf_puts(out, begun ? ", " : "Connection: ");
		put_text(out, head->options[i]);
		begun = true;
	}
	ab_buf_puts(out, begun ? "\r\n\r\n" : "\r\n");
}

void ab_http_write_response(struct ab_buf *out, const struct ab_http_response *rs, bool keep,
			    int minor)
{
	const struct ab_http_head *head = &rs->head;
	/* 426 names the protocol that the server requires. */
	bool upgrade = rs->status == 101 || rs->status == 426;
	const char *word = NULL;
	char line[32];

	snprintf(line, sizeof(line), "HTTP/1.1 %d ", rs->status);
	ab_buf_puts(out, line);
	put_text(out, rs->reason);
	ab_buf_puts(out, "\r\n");
	for (size_t i = 0; i < head->nfields; i++)
		if (is_forwarded(head, &head->fields[i], upgrade))
			put_field(out, &head->fields[i]);
	if (rs->status == 101)
		word = "Upgrade";
	else if (rs->status < 200)
		word = NULL;
	else if (!keep)
		word = "close";
	else if (!minor)
		word = "keep-alive";
	put_connection(out, &word, 1);
	ab_buf_puts(out, "\r\n");
}
