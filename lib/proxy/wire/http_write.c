#include "proxy/wire/http.h"

#include <stdio.h>
#include <string.h>

#include "base/data/bytes.h"
#include "base/data/mem.h"

static void put(struct ab_bytes *out, const char *s)
{
	ab_bytes_add(out, s, strlen(s));
}

static void put_text(struct ab_bytes *out, struct ab_http_text s)
{
	ab_bytes_add(out, s.s, s.len);
}

static void put_field(struct ab_bytes *out, const struct ab_http_field *f)
{
	put_text(out, f->name);
	put(out, ": ");
	put_text(out, f->value);
	put(out, "\r\n");
}

/* "Connection: a, b" if there is anything to say. */
static void put_connection(struct ab_bytes *out, const char *const *words, size_t n)
{
	bool begun = false;

	for (size_t i = 0; i < n; i++) {
		if (!words[i])
			continue;
		put(out, begun ? ", " : "Connection: ");
		put(out, words[i]);
		begun = true;
	}
	if (begun)
		put(out, "\r\n");
}

static void put_authority(struct ab_bytes *out, const struct ab_http_hop *hop)
{
	struct ab_host_entry e =
		ab_host_entry_of(hop->host, hop->port == (hop->tls ? 443 : 80) ? 0 : hop->port);
	char text[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(&e, text);
	if (e.host.kind == AB_HOST_IPV6 && !e.port) {
		put(out, "[");
		put(out, text);
		put(out, "]");
	} else {
		put(out, text);
	}
}

static bool has_method(const struct ab_http_request *rq, const char *method)
{
	return rq->method.len == strlen(method) &&
	       memcmp(rq->method.s, method, rq->method.len) == 0;
}

static void put_request_line(struct ab_bytes *out, const struct ab_http_request *rq,
			     const struct ab_http_hop *hop)
{
	bool star = !rq->path.len && has_method(rq, "OPTIONS");

	put_text(out, rq->method);
	put(out, " ");
	if (hop->upstream) {
		put(out, "http://");
		put_authority(out, hop);
	}
	/* An empty path asks about the server itself (RFC 9112, 3.2.4). */
	if (star)
		put(out, hop->upstream ? "" : "*");
	else if (!rq->path.len || rq->path.s[0] == '?')
		put(out, "/");
	put_text(out, rq->path);
	put(out, rq->head.minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
}

/* Does it go further than this hop? */
static bool travels(const struct ab_http_head *head, const struct ab_http_field *f, bool upgrade)
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

void ab_http_write_request(struct ab_bytes *out, const struct ab_http_request *rq,
			   const struct ab_http_hop *hop)
{
	const struct ab_http_head *head = &rq->head;
	const char *words[3] = { 0 };

	put_request_line(out, rq, hop);
	put(out, "Host: ");
	put_authority(out, hop);
	put(out, "\r\n");
	/* The answer to TRACE is the request as it came in, and with
	 * Max-Forwards it is the upstream's own. */
	if (hop->upstream && hop->credentials && !has_method(rq, "TRACE")) {
		put(out, "Proxy-Authorization: ");
		put(out, hop->credentials);
		put(out, "\r\n");
	}
	for (size_t i = 0; i < head->nfields; i++) {
		const struct ab_http_field *f = &head->fields[i];

		/* All that TE can ask for between us: trailers pass. */
		if (f->id == AB_HTTP_TE && ab_http_is(f->value, "trailers") && !words[1]) {
			words[1] = "TE";
			put_field(out, f);
		} else if (f->id != AB_HTTP_HOST && travels(head, f, head->upgrade)) {
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
	put(out, "\r\n");
}

void ab_http_write_without_upgrade(struct ab_bytes *out, const struct ab_http_request *rq)
{
	const struct ab_http_head *head = &rq->head;
	bool begun = false;

	put_text(out, rq->method);
	put(out, " ");
	put_text(out, rq->target);
	put(out, head->minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
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
		put(out, begun ? ", " : "Connection: ");
		put_text(out, head->options[i]);
		begun = true;
	}
	put(out, begun ? "\r\n\r\n" : "\r\n");
}

void ab_http_write_response(struct ab_bytes *out, const struct ab_http_response *rs, bool keep,
			    int minor)
{
	const struct ab_http_head *head = &rs->head;
	/* 426 names what the server would rather speak. */
	bool upgrade = rs->status == 101 || rs->status == 426;
	const char *word = NULL;
	char line[32];

	snprintf(line, sizeof(line), "HTTP/1.1 %d ", rs->status);
	put(out, line);
	put_text(out, rs->reason);
	put(out, "\r\n");
	for (size_t i = 0; i < head->nfields; i++)
		if (travels(head, &head->fields[i], upgrade))
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
	put(out, "\r\n");
}
