#include "proxy/wire/http_chunks.h"

#include <string.h>

#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

#define T(s) s, sizeof(s) - 1

static const struct {
	const char *name;
	const char *in;
	size_t len;
	ssize_t body; /* bytes of it; 0: not over yet; -1: malformed */
} cases[] = {
	{ "empty", T("0\r\n\r\n"), 5 },
	{ "one chunk", T("5\r\nhello\r\n0\r\n\r\n"), 15 },
	{ "two chunks, and something behind", T("5\r\nhello\r\n1\r\nx\r\n0\r\n\r\nGET /"), 21 },
	{ "hexadecimal in both cases",
	  T("a\r\n0123456789\r\nB\r\n0123456789a\r\n"
	    "0\r\n\r\n"),
	  36 },
	{ "leading zeros", T("005\r\nhello\r\n000\r\n\r\n"), 19 },
	{ "extension", T("5;a=\"b;c\";d\r\nhello\r\n0;x\r\n\r\n"), 27 },
	{ "trailers", T("0\r\nX-Sum: 1\r\nY:\r\n\r\n"), 19 },
	{ "line ends in the data", T("4\r\n\r\n\r\n\r\n0\r\n\r\n"), 14 },
	{ "a NUL in the data", T("1\r\n\0\r\n0\r\n\r\n"), 11 },
	{ "cut in the data", T("5\r\nhel"), 0 },
	{ "cut in a size", T("5"), 0 },
	{ "15 digits", T("fffffffffffffff\r\n"), 0 },

	{ "no size", T("\r\n"), -1 },
	{ "no size but an extension", T(";x\r\n"), -1 },
	{ "16 digits", T("ffffffffffffffff\r\n"), -1 },
	{ "a size that would overflow", T("10000000000000005\r\nhello"), -1 },
	{ "0x", T("0x5\r\nhello\r\n"), -1 },
	{ "+", T("+5\r\n"), -1 },
	{ "-", T("-5\r\n"), -1 },
	{ "a blank before", T(" 5\r\n"), -1 },
	{ "a blank behind", T("5 \r\n"), -1 },
	{ "a tab behind", T("5\t;x\r\n"), -1 },
	{ "bare LF behind a size", T("5\nhello\r\n"), -1 },
	{ "bare CR behind a size", T("5\rhello\r\n"), -1 },
	{ "bare LF in an extension", T("5;x\nhello\r\n"), -1 },
	{ "NUL in an extension", T("5;\0\r\nhello\r\n"), -1 },
	{ "data too long", T("5\r\nhello!\r\n"), -1 },
	{ "data too short", T("5\r\nhell\r\n0\r\n\r\n"), -1 },
	{ "bare LF behind data", T("5\r\nhello\n0\r\n\r\n"), -1 },
	{ "nothing behind data", T("5\r\nhello0\r\n\r\n"), -1 },
	{ "bare LF behind the last chunk", T("0\n\n"), -1 },
	{ "bare LF behind a trailer", T("0\r\nA: b\n\r\n"), -1 },
	{ "bare LF at the end", T("0\r\n\n"), -1 },
	{ "CR CR", T("0\r\n\r\r\n"), -1 },
	{ "folded trailer", T("0\r\nA: b\r\n c\r\n\r\n"), -1 },
	{ "trailer without colon", T("0\r\nA\r\n\r\n"), -1 },
	{ "trailer with a blank in its name", T("0\r\nA : b\r\n\r\n"), -1 },
	{ "trailer without name", T("0\r\n: b\r\n\r\n"), -1 },
	{ "trailer with a NUL", T("0\r\nA: \0\r\n\r\n"), -1 },
	{ "trailer Content-Length", T("0\r\nContent-Length: 5\r\n\r\n"), -1 },
	{ "trailer Transfer-Encoding", T("0\r\nTRANSFER-ENCODING: chunked\r\n\r\n"), -1 },
	{ "trailer Host", T("0\r\nhost: a\r\n\r\n"), -1 },
	{ "trailer Connection", T("0\r\nConnection: x\r\n\r\n"), -1 },
	{ "trailer Proxy-Authorization", T("0\r\nProxy-Authorization: x\r\n\r\n"), -1 },
};

/* The body's bytes, given `step` at a time; 0 not over, -1 malformed. */
static ssize_t feed(const char *in, size_t len, size_t step)
{
	struct ab_http_chunks c = { 0 };
	bool over = false;
	size_t at = 0;

	while (at < len && !over) {
		size_t n = len - at < step ? len - at : step;
		ssize_t r = ab_http_chunks_take(&c, guarded(in + at, n), n, NULL, NULL, &over);

		if (r < 0)
			return -1;
		if ((size_t)r > n || ((size_t)r < n && !over))
			return -2;
		at += (size_t)r;
	}
	return over ? (ssize_t)at : 0;
}

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		bool same = true;

		for (size_t step = 1; step <= cases[i].len; step++)
			if (feed(cases[i].in, cases[i].len, step) != cases[i].body)
				same = false;
		ok(same, "%s, in pieces of every size", cases[i].name);
	}
}

static void test_limits(void)
{
	static char text[40000];

	memset(text, 'x', sizeof(text));
	memcpy(text, "0;", 2);
	memcpy(text + 2 + AB_HTTP_EXTENSION_MAX - 1, "\r\n\r\n", 4);
	ok(feed(text, sizeof(text), 7) == AB_HTTP_EXTENSION_MAX + 5, "an extension may be 1 KiB");
	memset(text + 2, 'x', 2000);
	ok(feed(text, sizeof(text), 7) == -1, "not more");
	memset(text, 'x', sizeof(text));
	memcpy(text, "0\r\nA:", 5);
	ok(feed(text, sizeof(text), 7) == -1, "trailers have an end");
	memset(text, 'x', sizeof(text));
	memcpy(text, "0\r\n", 3);
	ok(feed(text, 3 + AB_HTTP_TRAILER_NAME + 1, 7) == -1, "and their names");
	for (size_t i = 3; i + 6 < sizeof(text); i += 6)
		memcpy(text + i, "A: b\r\n", 6);
	ok(feed(text, sizeof(text), 7) == -1, "all of them together");
}

int main(void)
{
	test_cases();
	test_limits();
	return done();
}
