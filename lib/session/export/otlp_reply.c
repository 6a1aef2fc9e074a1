#include "session/export/otlp_reply.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/data/buf.h"
#include "base/data/mem.h"

/* A collector that asks for more time than this is not waited for any longer. */
enum { WAIT_MOST_S = 300 };

struct head {
	int status;
	bool chunked;
	int64_t length; /* -1: not given */
	uint64_t wait_s;
	size_t len; /* of the head */
};

static bool is_header(const char *line, size_t len, const char *name, const char **ret_value)
{
	size_t n = strlen(name);

	if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return false;
	*ret_value = line + n + 1 + strspn(line + n + 1, " \t");
	return true;
}

static uint64_t read_number(const char *text, uint64_t most)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9' && n <= most; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return n < most ? n : most;
}

/* False if it is not HTTP. `text` ends with the empty line, and a NUL. */
static bool read_head(const char *text, size_t len, struct head *ret)
{
	const char *line = text, *value;

	*ret = (struct head){ .length = -1, .len = len };
	if (strncmp(text, "HTTP/1.", 7) != 0 || len < 12 || text[8] != ' ')
		return false;
	ret->status = (int)read_number(text + 9, 999);
	while ((line = strstr(line, "\r\n")) != NULL && line[2]) {
		size_t n;

		line += 2;
		n = strcspn(line, "\r");
		if (is_header(line, n, "content-length", &value))
			ret->length = (int64_t)read_number(value, AB_OTLP_REPLY_MOST);
		else if (is_header(line, n, "transfer-encoding", &value))
			ret->chunked = strncasecmp(value, "chunked", 7) == 0;
		else if (is_header(line, n, "retry-after", &value))
			ret->wait_s = read_number(value, WAIT_MOST_S);
	}
	return ret->status >= 100;
}

/* Take the chunks out of a body. False: it is not complete. */
static bool join_chunks(const char *data, size_t len, struct ab_buf *ret)
{
	const char *end = data + len;

	for (;;) {
		const char *line = memmem(data, (size_t)(end - data), "\r\n", 2);
		unsigned long n;

		if (!line)
			return false;
		n = strtoul(data, NULL, 16);
		if (n == 0)
			return true;
		data = line + 2;
		if (n > (size_t)(end - data) || (size_t)(end - data) - n < 2)
			return false;
		ab_buf_add(ret, data, n);
		data += n + 2;
	}
}

/* {"partialSuccess":{"rejectedLogRecords":"3"}}; a number is allowed as well. */
static uint64_t count_rejected(const char *body, size_t len)
{
	json_t *json = json_loadb(body, len, JSON_DISABLE_EOF_CHECK, NULL);
	const json_t *n = json_object_get(json_object_get(json, "partialSuccess"),
					  "rejectedLogRecords");
	const char *text = json_string_value(n);
	json_int_t number = text ? (json_int_t)read_number(text, UINT32_MAX) : json_integer_value(n);

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

void ab_otlp_reply_read(const char *data, size_t len, bool eof, struct ab_otlp_reply *ret)
{
	const char *blank = memmem(data, len, "\r\n\r\n", 4), *body;
	ab_autofree char *text = NULL;
	ab_autobuf struct ab_buf joined = { 0 };
	struct head head;
	size_t n;
	bool complete;

	*ret = (struct ab_otlp_reply){ .outcome = eof || len >= AB_OTLP_REPLY_MOST
							  ? AB_OTLP_NO_REPLY
							  : AB_OTLP_MORE };
	if (!blank)
		return;
	text = ab_strndup(data, (size_t)(blank - data) + 4);
	if (strlen(text) != (size_t)(blank - data) + 4 || !read_head(text, strlen(text), &head)) {
		ret->outcome = AB_OTLP_NO_REPLY;
		return;
	}
	body = data + head.len;
	n = len - head.len;
	if (head.chunked) {
		complete = join_chunks(body, n, &joined);
		body = joined.len ? joined.data : "";
		n = joined.len;
	} else {
		complete = head.length >= 0 && n >= (size_t)head.length;
	}
	if (!complete && !eof && len < AB_OTLP_REPLY_MOST)
		return;
	ret->status = head.status;
	ret->wait_ms = head.wait_s * 1000;
	ret->outcome = judge_status(head.status);
	if (ret->outcome == AB_OTLP_TAKEN)
		ret->rejected = count_rejected(body, n);
}
