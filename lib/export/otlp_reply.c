#include "export/otlp_reply.h"

#include <jansson.h>

#include "secrets/fetch/http_client.h"

/* A collector that asks for more time than this is not waited for any longer. */
enum { WAIT_MOST_S = 300 };

static uint64_t read_number(const char *text, size_t len, uint64_t most)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len && ab_is_digit(text[i]) && n <= most; i++)
		n = n * 10 + (uint64_t)(text[i] - '0');
	return n < most ? n : most;
}

/* {"partialSuccess":{"rejectedLogRecords":"3"}}; a number is allowed as well. */
static uint64_t count_rejected(const char *body, size_t len)
{
	json_auto_t *json = json_loadb(body, len, JSON_DISABLE_EOF_CHECK, NULL);
	const json_t *n =
		json_object_get(json_object_get(json, "partialSuccess"), "rejectedLogRecords");
	json_int_t number = json_is_string(n)
				    ? (json_int_t)read_number(json_string_value(n),
							      json_string_length(n), UINT32_MAX)
				    : json_integer_value(n);

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

void ab_otlp_reply_read(const struct ab_http_reply *http, struct ab_otlp_reply *ret)
{
	uint64_t wait_s = http->wait_s < WAIT_MOST_S ? http->wait_s : WAIT_MOST_S;

	*ret = (struct ab_otlp_reply){ .outcome = AB_OTLP_NO_REPLY };
	if (!http->status)
		return;
	ret->status = http->status;
	ret->wait_ms = wait_s * 1000;
	ret->outcome = judge_status(http->status);
	if (ret->outcome == AB_OTLP_TAKEN && http->body.len > 0)
		ret->rejected = count_rejected(http->body.data, http->body.len);
}
