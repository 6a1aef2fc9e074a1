#include "secrets/tokens/token_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "proxy/wire/http_reply.h"
#include "tap.h"

static const struct {
	const char *name, *status, *body;
	enum ab_token_outcome outcome;
	const char *access, *refresh; /* of GRANTED */
	int64_t expires;
	const char *error, *why; /* a part of it */
} cases[] = {
	{ "a token", "200 OK",
	  "{\"access_token\":\"abcdefgh\",\"token_type\":\"bearer\",\"x\":[1.5]}", AB_TOKEN_GRANTED,
	  "abcdefgh", NULL, 0, "", NULL },
	{ "all of it", "200 OK",
	  "{\"access_token\":\"abcdefgh\",\"token_type\":\"Bearer\",\"expires_in\":3599,"
	  "\"refresh_token\":\"ijklmnop\",\"scope\":\"x\"}",
	  AB_TOKEN_GRANTED, "abcdefgh", "ijklmnop", 3599, "", NULL },
	{ "a long life", "201 Created",
	  "{\"access_token\":\"abcdefgh\",\"expires_in\":9000000000,\"refresh_token\":\"\"}",
	  AB_TOKEN_GRANTED, "abcdefgh", NULL, 366 * 24 * 3600, "", NULL },
	{ "a strange life", "200 OK", "{\"access_token\":\"abcdefgh\",\"expires_in\":-1}",
	  AB_TOKEN_GRANTED, "abcdefgh", NULL, 0, "", NULL },
	{ "refused", "400 Bad", "{\"error\":\"invalid_grant\",\"error_description\":\"x\"}",
	  AB_TOKEN_REFUSED, NULL, NULL, 0, "invalid_grant", NULL },
	{ "an error with 200", "200 OK", "{\"error\":\"bad_refresh_token\"}", AB_TOKEN_REFUSED,
	  NULL, NULL, 0, "bad_refresh_token", NULL },
	{ "an error that is no word", "400 Bad", "{\"error\":\"\\u001b[31m\"}", AB_TOKEN_REFUSED,
	  NULL, NULL, 0, "", NULL },
	{ "an error that repeats a credential", "400 Bad", "{\"error\":\"RealRefresh-0123\"}",
	  AB_TOKEN_REFUSED, NULL, NULL, 0, "", NULL },
	{ "an error of another kind", "400 Bad", "{\"error\":{\"code\":1}}", AB_TOKEN_REFUSED, NULL,
	  NULL, 0, "", NULL },
	{ "a token with 400", "400 Bad", "{\"access_token\":\"abcdefgh\"}", AB_TOKEN_REFUSED, NULL,
	  NULL, 0, "", NULL },
	{ "a page", "503 Later", "<html>", AB_TOKEN_REFUSED, NULL, NULL, 0, "", NULL },
	{ "not JSON", "200 OK", "access_token=abcdefgh", AB_TOKEN_BAD, NULL, NULL, 0, "",
	  "not an object" },
	{ "nothing", "200 OK", "", AB_TOKEN_BAD, NULL, NULL, 0, "", "not an object" },
	{ "no token", "200 OK", "{\"token_type\":\"bearer\"}", AB_TOKEN_BAD, NULL, NULL, 0, "",
	  "no access_token" },
	{ "another type", "200 OK", "{\"access_token\":\"abcdefgh\",\"token_type\":\"mac\"}",
	  AB_TOKEN_BAD, NULL, NULL, 0, "", "bearer" },
	{ "a line end", "200 OK", "{\"access_token\":\"abcdefgh\\r\\nX: y\"}", AB_TOKEN_BAD, NULL,
	  NULL, 0, "", "cannot be used" },
	{ "a blank in the other one", "200 OK",
	  "{\"access_token\":\"abcdefgh\",\"refresh_token\":\"abc defgh\"}", AB_TOKEN_BAD, NULL,
	  NULL, 0, "", "cannot be used" },
	{ "a short one", "200 OK", "{\"access_token\":\"abc\"}", AB_TOKEN_BAD, NULL, NULL, 0, "",
	  "cannot be used" },
	{ "two of them", "200 OK", "{\"access_token\":\"abcdefgh\",\"access_token\":\"ijklmnop\"}",
	  AB_TOKEN_BAD, NULL, NULL, 0, "", "not an object" },
};

/* The framings of an answer. */
enum framing { LENGTH, CHUNKED, CLOSE, FRAMINGS };

static void write_answer(struct ab_buf *b, const char *status, const char *body, enum framing how)
{
	size_t len = strlen(body), half = len / 2;

	ab_buf_printf(b, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 %s\r\nX: y\r\n", status);
	if (how == LENGTH)
		ab_buf_printf(b, "Content-Length: %zu\r\n\r\n%s", len, body);
	else if (how == CLOSE)
		ab_buf_printf(b, "\r\n%s", body);
	else if (half)
		ab_buf_printf(
			b,
			"Transfer-Encoding: chunked\r\n\r\n%zx\r\n%.*s\r\n%zx\r\n%s\r\n0\r\n\r\n",
			half, (int)half, body, len - half, body + half);
	else
		ab_buf_puts(b, "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
}

/* From memory of exactly this size: reading past it is seen by the sanitizers. */
static struct ab_token_reply read_copy(const char *data, size_t len, bool eof, bool *ret_complete)
{
	struct ab_http_reply http;
	struct ab_token_reply r;
	char *copy = ab_alloc(len ? len : 1);

	memcpy(copy, data, len);
	ab_http_reply_read(copy, len, eof, AB_HTTP_REPLY_MOST, &http);
	free(copy);
	*ret_complete = http.end != AB_REPLY_MORE;
	ab_token_reply_read(&http, &r);
	ab_http_reply_fini(&http);
	return r;
}

static void check_case(size_t i, enum framing how)
{
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_token_reply r;
	size_t early = 0, n;
	bool complete;

	write_answer(&b, cases[i].status, cases[i].body, how);
	for (n = 0; n < b.len; n++) {
		r = read_copy(b.data, n, false, &complete);
		early += complete;
	}
	ok(!early, "%s, framing %d: no part of it is an answer", cases[i].name, how);
	r = read_copy(b.data, b.len, how == CLOSE, &complete);
	ok(complete && r.outcome == cases[i].outcome, "%s: outcome", cases[i].name);
	is_str(ab_text_or_null(r.access), cases[i].access, cases[i].name);
	is_str(ab_text_or_null(r.refresh), cases[i].refresh, cases[i].name);
	ok(r.expires_in == cases[i].expires, "%s: life", cases[i].name);
	is_str(r.error, cases[i].error, cases[i].name);
	ok(!cases[i].why || strstr(r.why, cases[i].why), "%s: %s", cases[i].name, r.why);
}

static void check_bad(const char *text, size_t len, bool eof, const char *why)
{
	bool complete;
	struct ab_token_reply r = read_copy(text, len, eof, &complete);

	ok(complete && r.outcome == AB_TOKEN_BAD && strstr(r.why, why), "%s", r.why);
}

int main(void)
{
	static const char cut[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}";
	static const char large[] = "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n{}";
	static const char other[] = "SSH-2.0-x\r\n\r\n";
	char *much = ab_alloc(AB_HTTP_REPLY_MOST);

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		for (enum framing how = LENGTH; how < FRAMINGS; how++)
			check_case(i, how);
	check_bad("", 0, true, "closed the connection");
	check_bad(cut, strlen(cut), true, "closed the connection");
	check_bad(large, strlen(large), false, "its answer is too large");
	check_bad(other, strlen(other), false, "not HTTP");
	memset(much, 'x', AB_HTTP_REPLY_MOST);
	memcpy(much, "HTTP/1.1 200 OK\r\n\r\n", 19);
	check_bad(much, AB_HTTP_REPLY_MOST, false, "its answer is too large");
	free(much);
	return done();
}
