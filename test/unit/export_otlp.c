/* What is sent to a collector, and what its answers mean. */
#include "export/otlp_json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "export/otlp_reply.h"
#include "export/otlp_target.h"
#include "guard.h"
#include "proxy/wire/http_reply.h"
#include "tap.h"

#define PARTIAL "{\"partialSuccess\":{\"rejectedLogRecords\":\"3\"}}"

static const struct {
	const char *text;
	bool eof;
	enum ab_otlp_outcome outcome;
	uint64_t rejected, wait_ms;
} replies[] = {
	{ "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", false, AB_OTLP_TAKEN, 0, 0 },
	{ "HTTP/1.1 200 OK\r\ncontent-length: 45\r\n\r\n" PARTIAL, false, AB_OTLP_TAKEN, 3, 0 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2d\r\n" PARTIAL "\r\n0\r\n\r\n",
	  false, AB_OTLP_TAKEN, 3, 0 },
	{ "HTTP/1.0 204 No Content\r\n\r\n", true, AB_OTLP_TAKEN, 0, 0 },
	{ "HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n", false, AB_OTLP_AGAIN,
	  0, 2000 },
	{ "HTTP/1.1 429 Slow\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n",
	  false, AB_OTLP_AGAIN, 0, 300000 },
	{ "HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n", false, AB_OTLP_AGAIN, 0, 0 },
	{ "HTTP/1.1 504 Late\r\nContent-Length: 0\r\n\r\n", false, AB_OTLP_AGAIN, 0, 0 },
	{ "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n", false, AB_OTLP_REFUSED, 0, 0 },
	{ "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n", false, AB_OTLP_REFUSED, 0, 0 },
	{ "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n", false, AB_OTLP_REFUSED, 0, 0 },
	{ "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 45\r\n\r\n" PARTIAL,
	  false, AB_OTLP_TAKEN, 3, 0 },
	{ "HTTP/1.1 200 OK\r\n\r\n" PARTIAL, true, AB_OTLP_TAKEN, 3, 0 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", false, AB_OTLP_TAKEN, 0, 0 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}", false, AB_OTLP_TAKEN, 0,
	  0 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", false,
	  AB_OTLP_NO_REPLY, 0, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\n{}", false,
	  AB_OTLP_NO_REPLY, 0, 0 },
	{ "HTTP/1.1 503 Busy\r\nRetry-After: -1\r\nContent-Length: 0\r\n\r\n", false, AB_OTLP_AGAIN,
	  0, 0 },
	{ "SSH-2.0-x\r\n\r\n", false, AB_OTLP_NO_REPLY, 0, 0 },
	{ "", true, AB_OTLP_NO_REPLY, 0, 0 },
};

/* Whether the answer is complete. */
static bool read_answer(const char *data, size_t len, bool eof, struct ab_otlp_reply *ret)
{
	struct ab_http_reply http;
	bool complete;

	ab_http_reply_read(data, len, eof, AB_HTTP_REPLY_MOST, &http);
	ab_otlp_reply_read(&http, ret);
	complete = http.end != AB_REPLY_MORE;
	ab_http_reply_fini(&http);
	return complete;
}

static void check_replies(void)
{
	for (size_t i = 0; i < AB_COUNT(replies); i++) {
		size_t len = strlen(replies[i].text), early = 0;
		struct ab_otlp_reply r;

		ok(read_answer(replies[i].text, len, replies[i].eof, &r) &&
			   r.outcome == replies[i].outcome && r.rejected == replies[i].rejected &&
			   r.wait_ms == replies[i].wait_ms,
		   "answer %zu: %d", i, r.status);
		/* Cut at every byte, where memory ends. */
		for (size_t n = 0; n <= len; n++) {
			const char *cut = guarded(replies[i].text, n);

			early += read_answer(cut, n, false, &r) && r.outcome == AB_OTLP_TAKEN &&
				 n + 5 < len;
			early += !read_answer(cut, n, true, &r);
		}
		ok(early == 0, "answer %zu is not complete before its end", i);
	}
}

static const struct {
	const char *audit, *headers, *authority, *path, *lines;
	uint16_t port;
} targets[] = {
	{ "otlp:http://x.test", NULL, "x.test", "/v1/logs", "", 4318 },
	{ "otlp:https://x.test/", "", "x.test", "/v1/logs", "", 443 },
	{ "otlp:http://[::1]:99/a/b", "a=b", "[::1]:99", "/a/b", "a: b\r\n", 99 },
	{ "otlp:http://x.test:1", "a=b%20c, d=e=f,", "x.test:1", "/v1/logs", "a: b c\r\nd: e=f\r\n",
	  1 },
	{ "otlp:x.test", NULL, NULL, NULL, NULL, 0 },
	{ "otlp:ftp://x.test", NULL, NULL, NULL, NULL, 0 },
	{ "otlp:http://u:p@x.test", NULL, NULL, NULL, NULL, 0 },
	{ "otlp:http://x.test:0", NULL, NULL, NULL, NULL, 0 },
	{ "otlp:http://x.test:99999", NULL, NULL, NULL, NULL, 0 },
	{ "otlp:http://", NULL, NULL, NULL, NULL, 0 },
	{ "otlp:http://x.test/a\r\nb: c", NULL, NULL, NULL, NULL, 0 },
	{ "otlp:http://x.test", "a=%0d%0ab", NULL, NULL, NULL, 0 },
	{ "otlp:http://x.test", "a b=c", NULL, NULL, NULL, 0 },
	{ "otlp:http://x.test", "a=%4", NULL, NULL, NULL, 0 },
	{ "otlp:http://x.test", "a", NULL, NULL, NULL, 0 },
};

static void check_targets(void)
{
	for (size_t i = 0; i < AB_COUNT(targets); i++) {
		struct ab_otlp_target t;
		struct ab_error err = { 0 };
		int result = ab_otlp_target_parse(targets[i].audit, targets[i].headers, &t, &err);

		if (!targets[i].authority) {
			ok(result < 0 && err.code == AB_EUSAGE, "target %zu: %s", i, err.text);
			continue;
		}
		ok(result == 0 && t.port == targets[i].port, "%s", targets[i].audit);
		is_str(t.authority, targets[i].authority, "its authority");
		is_str(t.path, targets[i].path, "its path");
		is_str(t.headers, targets[i].lines, "its headers");
		ab_otlp_target_fini(&t);
	}
}

/* Whatever a line has, the request is JSON. */
static void check_json(void)
{
	static const char *const lines[] = {
		"{\"timestamp\":\"2026-01-31T12:00:00.123Z\",\"run_id\":\"aaaaa\",\"kind\":\"request\","
		"\"domain\":\"x.test\",\"port\":443,\"path\":\"/a\\\"\\u0001\",\"status\":200,\"allowed\":true}",
		"{\"timestamp\":\"2026-01-31T12:00:00.123Z\",\"run_id\":\"aaaaa\",\"kind\":\"violation\","
		"\"allowed\":false,\"path\":\"/etc/x\"}",
		"{\"kind\":\"\\ud800\"}",
		"what is this \xff\x01",
		"",
	};
	ab_autobuf struct ab_buf b = { 0 };
	json_t *json, *records;
	const json_t *first;

	ab_otlp_open(&b, "node \"1\"");
	for (size_t i = 0; i < AB_COUNT(lines); i++)
		ab_otlp_add(&b, lines[i], strlen(lines[i]), 7);
	ab_otlp_close(&b);
	json = json_loadb(b.data, b.len, 0, NULL);
	ok(json != NULL, "it is JSON");
	records = json_object_get(
		json_array_get(
			json_object_get(json_array_get(json_object_get(json, "resourceLogs"), 0),
					"scopeLogs"),
			0),
		"logRecords");
	ok(json_array_size(records) == AB_COUNT(lines), "with a record for each line");
	first = json_array_get(records, 0);
	is_str(json_string_value(json_object_get(first, "timeUnixNano")), "1769860800123000000",
	       "its time");
	ok(json_integer_value(json_object_get(first, "severityNumber")) == 9, "it was allowed");
	ok(json_integer_value(json_object_get(json_array_get(records, 1), "severityNumber")) == 13,
	   "a denial is a warning");
	json_decref(json);
}

int main(void)
{
	check_replies();
	check_targets();
	check_json();
	return done();
}
