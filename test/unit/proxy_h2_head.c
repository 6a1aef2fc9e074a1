#include "proxy/h2/head.h"

#include <stdio.h>
#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

/* Fields are separated by line ends, name and value by "=". */
static void add_all(struct ab_h2_head *h, const char *fields)
{
	while (*fields) {
		size_t len = strcspn(fields, "\n");
		const char *mark = memchr(fields + 1, '=', len - 1);
		size_t name = (size_t)(mark - fields);

		ab_h2_head_add(h, (struct ab_http_text){ fields, name },
			       (struct ab_http_text){ mark + 1, len - name - 1 });
		fields += len + (fields[len] == '\n');
	}
}

#define GET ":method=GET\n:scheme=https\n:authority=a.test\n:path=/x"
#define HEAD "GET /x HTTP/1.1\r\nhost: a.test\r\n"
#define CLOSE "connection: close\r\n\r\n"

static const struct {
	const char *name, *fields;
	bool ended;
	const char *text; /* NULL: malformed */
} requests[] = {
	{ "without a body", GET, true, HEAD CLOSE },
	{ "with one", GET, false, HEAD "transfer-encoding: chunked\r\n" CLOSE },
	{ "with a length", GET "\ncontent-length=3", false, HEAD "content-length: 3\r\n" CLOSE },
	{ "cookies are joined", GET "\ncookie=a=b\nx=y\ncookie=c", true,
	  HEAD "x: y\r\ncookie: a=b; c\r\n" CLOSE },
	{ "empty cookies are left out", GET "\ncookie=\nx=y\ncookie=\ncookie=c\ncookie=", true,
	  HEAD "x: y\r\ncookie: c\r\n" CLOSE },
	{ "the same host twice", GET "\nhost=a.test", true, HEAD CLOSE },
	{ "another host is for the parser", GET "\nhost=b.test", true,
	  HEAD "host: b.test\r\n" CLOSE },
	{ "an empty value", GET "\nx=", true, HEAD "x: \r\n" CLOSE },
	{ "of the whole server", ":method=OPTIONS\n:scheme=https\n:path=*", true,
	  "OPTIONS * HTTP/1.1\r\n" CLOSE },
	{ "CONNECT is for the parser", ":method=CONNECT\n:authority=a.test:443", false,
	  "CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\ntransfer-encoding: chunked\r\n" CLOSE },

	{ "no method", ":scheme=https\n:path=/", true, NULL },
	{ "no path", ":method=GET\n:scheme=https\n:authority=a.test", true, NULL },
	{ "an absolute path", ":method=GET\n:scheme=https\n:path=http://b.test/", true, NULL },
	{ "a path that begins otherwise", ":method=GET\n:scheme=https\n:path=*x", true, NULL },
	{ "a blank in the path", ":method=GET\n:scheme=https\n:path=/ HTTP/1.1", true, NULL },
	{ "a blank in the method", ":method=GET /y\n:scheme=https\n:path=/", true, NULL },
	{ "a blank in the authority", ":method=GET\n:authority=a b\n:path=/", true, NULL },
	{ "two paths", GET "\n:path=/y", true, NULL },
	{ "a status", GET "\n:status=200", true, NULL },
	{ "a protocol", GET "\n:protocol=websocket", true, NULL },
	{ "a pseudo field after others", ":method=GET\n:path=/\nx=y\n:authority=a.test", true,
	  NULL },
	{ "a line end in a value", GET "\nx=a\rb", true, NULL },
	{ "a blank in a name", GET "\nx y=a", true, NULL },
	{ "a colon in a name", GET "\nx: y=a", true, NULL },
	{ "framing of HTTP/1.1", GET "\ntransfer-encoding=chunked", true, NULL },
	{ "a connection", GET "\nconnection=host", true, NULL },
	{ "an upgrade", GET "\nUpgrade=h2c", true, NULL },
};

static const struct {
	const char *name, *fields;
	bool ended, to_head;
	const char *text;
	enum ab_http_body body;
	bool added;
} responses[] = {
	{ "with a body", ":status=200\nx=y", false, false,
	  "HTTP/1.1 200 \r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n", AB_HTTP_CHUNKED, false },
	{ "with a length", ":status=200\ncontent-length=5", false, false,
	  "HTTP/1.1 200 \r\ncontent-length: 5\r\n\r\n", AB_HTTP_LENGTH, false },
	{ "without a body", ":status=200", true, false,
	  "HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n", AB_HTTP_NONE, true },
	{ "to HEAD", ":status=200\ncontent-length=5", true, true,
	  "HTTP/1.1 200 \r\ncontent-length: 5\r\n\r\n", AB_HTTP_NONE, false },
	{ "to HEAD, ended later", ":status=200", false, true, "HTTP/1.1 200 \r\n\r\n", AB_HTTP_NONE,
	  false },
	{ "204", ":status=204", true, false, "HTTP/1.1 204 \r\n\r\n", AB_HTTP_NONE, false },
	{ "304, ended later", ":status=304", false, false, "HTTP/1.1 304 \r\n\r\n", AB_HTTP_NONE,
	  false },
	{ "interim", ":status=103\nlink=x", false, false, "HTTP/1.1 103 \r\nlink: x\r\n\r\n",
	  AB_HTTP_NONE, false },
	{ "interim and the end", ":status=103", true, false, NULL, AB_HTTP_NONE, false },
	{ "a switch of protocols", ":status=101", false, false, NULL, AB_HTTP_NONE, false },
	{ "no status", "x=y", true, false, NULL, AB_HTTP_NONE, false },
	{ "a status of words", ":status=abc", true, false, NULL, AB_HTTP_NONE, false },
	{ "two", ":status=200\n:status=200", true, false, NULL, AB_HTTP_NONE, false },
	{ "a path", ":status=200\n:path=/", true, false, NULL, AB_HTTP_NONE, false },
};

static const struct {
	const char *name, *fields, *text;
} trailers[] = {
	{ "trailers", "grpc-status=0\ngrpc-message=", "grpc-status: 0\r\ngrpc-message: \r\n" },
	{ "a pseudo field in them", "x=y\n:status=200", NULL },
	{ "a length in them", "content-length=3", NULL },
	{ "a host in them", "host=b.test", NULL },
};

static bool is_text(const struct ab_buf *got, const char *text)
{
	return text ? got->len && strcmp(got->data, text) == 0 : !got->len;
}

static void test_requests(void)
{
	for (size_t i = 0; i < AB_COUNT(requests); i++) {
		struct ab_h2_head h = { 0 };
		ab_autobuf struct ab_buf out = { 0 };
		enum ab_http_body body;
		bool good;

		add_all(&h, requests[i].fields);
		good = ab_h2_head_request(&h, requests[i].ended, &out, &body);
		ok(good == (requests[i].text != NULL) && is_text(&out, requests[i].text),
		   "request: %s", requests[i].name);
		ab_h2_head_fini(&h);
	}
}

static void test_responses(void)
{
	for (size_t i = 0; i < AB_COUNT(responses); i++) {
		struct ab_h2_head h = { 0 };
		ab_autobuf struct ab_buf out = { 0 };
		enum ab_http_body body;
		bool good, added;

		add_all(&h, responses[i].fields);
		good = ab_h2_head_response(&h, responses[i].ended, responses[i].to_head, &out,
					   &body, &added);
		ok(good == (responses[i].text != NULL) && is_text(&out, responses[i].text) &&
			   (!good || (body == responses[i].body && added == responses[i].added)),
		   "response: %s", responses[i].name);
		ab_h2_head_fini(&h);
	}
	for (size_t i = 0; i < AB_COUNT(trailers); i++) {
		struct ab_h2_head h = { 0 };
		ab_autobuf struct ab_buf out = { 0 };
		bool good;

		add_all(&h, trailers[i].fields);
		good = ab_h2_head_trailers(&h, &out);
		ok(good == (trailers[i].text != NULL) && is_text(&out, trailers[i].text), "%s",
		   trailers[i].name);
		ab_h2_head_fini(&h);
	}
}

/* Whatever arrives, a bounded part is kept, and the parser refuses it. */
static void refuse_long(const char *what, size_t n, size_t len)
{
	struct ab_h2_head h = { 0 };
	ab_autobuf struct ab_buf out = { 0 };
	ab_autofree char *value = ab_alloc(len + 1);
	struct ab_http_scan scan = { 0 };
	struct ab_http_request rq;
	enum ab_http_body body;

	memset(value, 'v', len);
	add_all(&h, GET);
	for (size_t i = 0; i < n; i++)
		ab_h2_head_add(&h, (struct ab_http_text){ "x", 1 },
			       (struct ab_http_text){ value, len });
	ok(ab_h2_head_request(&h, true, &out, &body) && out.len < 2 * AB_HTTP_HEAD_MAX &&
		   h.size >= n * (len + 33) &&
		   ab_http_read_request(&scan, out.data, out.len, &rq) == -431,
	   "%s", what);
	ab_h2_head_fini(&h);
}

int main(void)
{
	test_requests();
	test_responses();
	refuse_long("a head of 1 MB", 1000, 1000);
	refuse_long("a head of 1000 fields", 1000, 1);
	return done();
}
