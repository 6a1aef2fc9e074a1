/*
 * Any bytes as a request and as a response: how they are cut changes nothing,
 * and what is accepted says the same after it was written anew, to a server,
 * to an upstream proxy, and without its upgrade.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "proxy/wire/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { /* written anew a head may be a little longer, so not at the limit */
       SMALL = AB_HTTP_HEAD_MAX - 2048,
       FEW = AB_HTTP_FIELDS - 4,
};

static void check(bool right)
{
	if (!right)
		abort();
}

static bool same(struct ab_http_text a, struct ab_http_text b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

static void check_head(const struct ab_http_head *head)
{
	unsigned lengths = 0, codings = 0;

	for (size_t i = 0; i < head->nfields; i++) {
		const struct ab_http_field *f = &head->fields[i];

		check(ab_http_token(f->name));
		check(ab_http_name(f->name) == f->id);
		lengths += f->id == AB_HTTP_CONTENT_LENGTH;
		codings += f->id == AB_HTTP_TRANSFER_ENCODING;
		for (size_t j = 0; j < f->value.len; j++)
			check(f->value.s[j] != '\r' && f->value.s[j] != '\n' &&
			      f->value.s[j] != '\0');
	}
	check(lengths + codings <= 1);
	check(!head->upgrade || !head->upgrade_unjudged);
}

static void read_again(struct ab_buf *out, struct ab_http_request *ret)
{
	struct ab_http_scan scan = { 0 };

	check(ab_http_read_request(&scan, ab_buf_bytes(out), out->len, ret) == (ssize_t)out->len);
	check_head(&ret->head);
}

static void check_rewritten(const struct ab_http_request *rq, bool upstream)
{
	struct ab_buf out = { 0 };
	struct ab_http_request again;
	struct ab_http_hop hop = { .host = &rq->host,
				   .port = rq->port ? rq->port : 80,
				   .upstream = upstream };

	ab_http_write_request(&out, rq, &hop);
	read_again(&out, &again);
	check(same(rq->method, again.method));
	check(again.form == (upstream		      ? AB_HTTP_ABSOLUTE
			     : again.path.s[0] == '*' ? AB_HTTP_ASTERISK
						      : AB_HTTP_ORIGIN));
	check(again.has_host && strcmp(rq->host.text, again.host.text) == 0);
	check((again.port ? again.port : 80) == hop.port);
	check(again.head.body == rq->head.body && again.head.length == rq->head.length &&
	      again.head.minor == rq->head.minor && again.head.keep == rq->head.keep &&
	      again.head.upgrade == rq->head.upgrade && !again.head.upgrade_unjudged);
	for (size_t i = 0; i < again.head.nfields; i++)
		check(again.head.fields[i].id != AB_HTTP_HOP &&
		      again.head.fields[i].id != AB_HTTP_HTTP2_SETTINGS);
	ab_buf_fini(&out);
}

static void check_without_upgrade(const struct ab_http_request *rq)
{
	struct ab_buf out = { 0 };
	struct ab_http_request again;

	ab_http_write_without_upgrade(&out, rq);
	read_again(&out, &again);
	check(same(rq->method, again.method) && same(rq->target, again.target));
	check(again.has_host == rq->has_host && again.port == rq->port &&
	      strcmp(rq->host.text, again.host.text) == 0);
	check(again.head.body == rq->head.body && again.head.length == rq->head.length &&
	      again.head.keep == rq->head.keep && !again.head.upgrade &&
	      !again.head.upgrade_unjudged);
	ab_buf_fini(&out);
}

static void check_request(const uint8_t *data, size_t size)
{
	struct ab_http_scan whole = { 0 }, cut = { 0 };
	struct ab_http_request rq, other;
	ssize_t r = ab_http_read_request(&whole, data, size, &rq), s = 0;

	for (size_t n = 1; n <= size && s == 0; n += 1 + n / 64)
		s = ab_http_read_request(&cut, data, n, &other);
	if (s == 0)
		s = ab_http_read_request(&cut, data, size, &other);
	check(r == s);
	if (r < 0)
		check(whole.why && strcmp(whole.why, cut.why) == 0);
	if (r <= 0)
		return;
	check_head(&rq.head);
	if (r > SMALL || rq.head.nfields > FEW)
		return;
	if (rq.form == AB_HTTP_ABSOLUTE) {
		check_rewritten(&rq, false);
		check_rewritten(&rq, true);
	}
	check_without_upgrade(&rq);
}

static void check_response(const uint8_t *data, size_t size, bool to_head)
{
	struct ab_http_scan whole = { 0 }, cut = { 0 };
	struct ab_http_response rs, other;
	struct ab_buf out = { 0 };
	ssize_t r = ab_http_read_response(&whole, data, size, to_head, &rs);
	ssize_t s = 0;

	for (size_t n = 1; n <= size && s == 0; n += 1 + n / 64)
		s = ab_http_read_response(&cut, data, n, to_head, &other);
	if (s == 0)
		s = ab_http_read_response(&cut, data, size, to_head, &other);
	check(r == s);
	if (r <= 0 || r > SMALL || rs.head.nfields > FEW)
		return;
	check_head(&rs.head);
	ab_http_write_response(&out, &rs, rs.head.keep, 1);
	whole = (struct ab_http_scan){ 0 };
	check(ab_http_read_response(&whole, ab_buf_bytes(&out), out.len, to_head, &other) > 0);
	check_head(&other.head);
	check(other.status == rs.status && other.head.body == rs.head.body &&
	      other.head.length == rs.head.length);
	check(rs.status < 200 || other.head.keep == rs.head.keep);
	ab_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size: reading past it is seen. */
	uint8_t *s;

	if (!size)
		return 0;
	s = malloc(size);
	memcpy(s, data, size);
	check_request(s, size);
	check_response(s, size, false);
	check_response(s, size, true);
	free(s);
	return 0;
}
