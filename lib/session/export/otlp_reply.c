#include "session/export/otlp_reply.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/ascii.h"
#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"

/* A collector that asks for more time than this is not waited for any longer. */
enum { WAIT_MOST_S = 300 };

static uint64_t read_number(const char *text, size_t len, uint64_t most)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len && ab_is_digit(text[i]) && n <= most; i++)
		n = n * 10 + (uint64_t)(text[i] - '0');
	return n < most ? n : most;
}

/* Retry-After in seconds; it may also be a date, which is not looked at. */
static uint64_t read_wait_s(const struct ab_http_head *head)
{
	for (size_t i = 0; i < head->nfields; i++) {
		const struct ab_http_field *f = &head->fields[i];

		if (ab_http_is(f->name, "retry-after"))
			return read_number(f->value.s, f->value.len, WAIT_MOST_S);
	}
	return 0;
}

/* Take the chunks out of a body, as far as they are well-formed. True: nothing follows. */
static bool join_chunks(const char *data, size_t len, struct ab_buf *ret)
{
	struct ab_http_chunks chunks = { 0 };
	bool over = false;

	while (len > 0 && !over) {
		size_t payload;
		ssize_t n = ab_http_chunks_next(&chunks, data, len, &payload, &over);

		if (n < 0)
			return true;
		ab_buf_add(ret, data + n - payload, payload);
		data += n;
		len -= (size_t)n;
	}
	return over;
}

/* {"partialSuccess":{"rejectedLogRecords":"3"}}; a number is allowed as well. */
static uint64_t count_rejected(const char *body, size_t len)
{
	json_t *json = json_loadb(body, len, JSON_DISABLE_EOF_CHECK, NULL);
	const json_t *n =
		json_object_get(json_object_get(json, "partialSuccess"), "rejectedLogRecords");
	json_int_t number = json_is_string(n)
				    ? (json_int_t)read_number(json_string_value(n),
							      json_string_length(n), UINT32_MAX)
				    : json_integer_value(n);

	json_decref(json);
	return number > 0 ? (uint64_t)number : 0;
}

static enum ab_otlp_outcome judge_status(int status)
{
	static const int again[] = { 429, 502, 503, 504 };

	for (size_t i = 0; i < AB_COUNT(again); i++)
		if (status == again[i])
			return AB_OTLP_AGAIN;
	return status >= 200 && status < 300 ? AB_OTLP_TAKEN : AB_OTLP_REFUSED;
}

/* The head of the answer, without "100 Continue" and its kind before it. Returns its end, NULL if it
 * is incomplete (0) or malformed (-1). */
static const char *read_head(const char *data, size_t len, struct ab_http_response *ret,
			     int *ret_why)
{
	for (;;) {
		struct ab_http_scan scan = { 0 };
		ssize_t n = ab_http_read_response(&scan, data, len, false, ret);

		*ret_why = n < 0 ? -1 : 0;
		if (n <= 0)
			return NULL;
		data += n;
		len -= (size_t)n;
		if (ret->status >= 200)
			return data;
	}
}

void ab_otlp_reply_read(const char *data, size_t len, bool eof, struct ab_otlp_reply *ret)
{
	bool last = eof || len >= AB_OTLP_REPLY_MOST, complete = true;
	ab_autobuf struct ab_buf joined = { 0 };
	struct ab_http_response answer;
	int why;
	const char *body = read_head(data, len, &answer, &why);
	size_t n = body ? len - (size_t)(body - data) : 0;

	*ret = (struct ab_otlp_reply){ .outcome =
					       last || why < 0 ? AB_OTLP_NO_REPLY : AB_OTLP_MORE };
	if (!body)
		return;
	switch (answer.head.body) {
	case AB_HTTP_NONE:
		n = 0;
		break;
	case AB_HTTP_LENGTH:
		complete = n >= answer.head.length;
		n = complete ? (size_t)answer.head.length : n;
		break;
	case AB_HTTP_CHUNKED:
		complete = join_chunks(body, n, &joined);
		body = joined.data;
		n = joined.len;
		break;
	case AB_HTTP_CLOSE:
		complete = false;
		break;
	}
	if (!complete && !last)
		return;
	ret->status = answer.status;
	ret->wait_ms = read_wait_s(&answer.head) * 1000;
	ret->outcome = judge_status(answer.status);
	if (ret->outcome == AB_OTLP_TAKEN && n > 0)
		ret->rejected = count_rejected(body, n);
}
