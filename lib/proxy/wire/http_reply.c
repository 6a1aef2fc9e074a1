#include "proxy/wire/http_reply.h"

#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"

static uint64_t read_wait_s(const struct ab_http_head *head)
{
	const struct ab_http_field *f = ab_http_find(head, "retry-after");
	uint64_t n = 0;

	for (size_t k = 0; f && k < f->value.len && ab_is_digit(f->value.s[k]); k++)
		if (n < UINT32_MAX)
			n = n * 10 + (uint64_t)(f->value.s[k] - '0');
	return n < UINT32_MAX ? n : UINT32_MAX;
}

/* Take the chunks out of a body, as far as they are well-formed. */
static enum ab_http_reply_end join_chunks(const char *data, size_t len, struct ab_buf *ret)
{
	struct ab_http_chunks chunks = { 0 };
	bool over;

	if (ab_http_chunks_take(&chunks, data, len, ret, NULL, &over) < 0)
		return AB_REPLY_BAD;
	return over ? AB_REPLY_WHOLE : AB_REPLY_MORE;
}

/* The head of the answer, without "100 Continue" and its kind before it. 0: incomplete. */
static ssize_t read_head(const char *data, size_t len, struct ab_http_response *ret)
{
	size_t done = 0;

	for (;;) {
		struct ab_http_scan scan = { 0 };
		ssize_t n = len > done ? ab_http_read_response(&scan, data + done, len - done,
							       false, ret)
				       : 0;

		if (n <= 0)
			return n;
		done += (size_t)n;
		if (ret->status >= 200)
			return (ssize_t)done;
	}
}

static enum ab_http_reply_end find_body(const struct ab_http_head *head, const char *data,
					size_t len, bool eof, size_t most, struct ab_buf *ret)
{
	switch (head->body) {
	case AB_HTTP_NONE:
		return AB_REPLY_WHOLE;
	case AB_HTTP_LENGTH:
		if (head->length > most)
			return AB_REPLY_LARGE;
		ab_buf_add(ret, data, len < head->length ? len : (size_t)head->length);
		return len < head->length ? AB_REPLY_MORE : AB_REPLY_WHOLE;
	case AB_HTTP_CHUNKED:
		return join_chunks(data, len, ret);
	case AB_HTTP_CLOSE:
		ab_buf_add(ret, data, len);
		return eof ? AB_REPLY_WHOLE : AB_REPLY_MORE;
	}
	return AB_REPLY_BAD;
}

void ab_http_reply_read(const char *data, size_t len, bool eof, size_t most,
			struct ab_http_reply *ret)
{
	struct ab_http_response answer;
	ssize_t head = read_head(data, len, &answer);

	*ret = (struct ab_http_reply){ .end = head < 0 ? AB_REPLY_BAD : AB_REPLY_MORE,
				       .body = { .wipe = true } };
	if (head > 0) {
		ret->status = answer.status;
		ret->wait_s = read_wait_s(&answer.head);
		ret->end = find_body(&answer.head, data + head, len - (size_t)head, eof, most,
				     &ret->body);
	}
	if (ret->end == AB_REPLY_MORE && eof)
		ret->end = AB_REPLY_CLOSED;
	else if (ret->end == AB_REPLY_MORE && len >= most)
		ret->end = AB_REPLY_LARGE;
}

void ab_http_reply_fini(struct ab_http_reply *reply)
{
	ab_buf_fini(&reply->body);
}

const char *ab_http_reply_why(const struct ab_http_reply *reply)
{
	static const char *const words[] = {
		[AB_REPLY_MORE] = "its answer is not complete",
		[AB_REPLY_CLOSED] = "it closed the connection without a complete answer",
		[AB_REPLY_LARGE] = "its answer is too large",
		[AB_REPLY_BAD] = "its answer is not HTTP",
	};

	return reply->end == AB_REPLY_WHOLE ? NULL : words[reply->end];
}
