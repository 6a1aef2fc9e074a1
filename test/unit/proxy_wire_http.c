#include "proxy/wire/http.h"

#include <stdint.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

#define H "Host: a.b\r\n"
#define GET "GET / HTTP/1.1\r\n" H
#define POST "POST /x HTTP/1.1\r\n" H
#define END "\r\n"

/* A text with its length, so that it may hold a NUL. */
#define T(s) s, sizeof(s) - 1

static const struct {
	const char *name;
	const char *in;
	size_t len;
	int status;	  /* 0: accepted */
	const char *host; /* "" none */
	uint16_t port;
	const char *path;
	enum ab_http_body body;
	uint64_t length;
} requests[] = {
	{ "origin form", T(GET END), 0, "a.b", 0, "/", AB_HTTP_NONE, 0 },
	{ "origin form, port", T("GET /p?q HTTP/1.1\r\nHost: A.b.:81\r\n\r\n"), 0, "a.b", 81,
	  "/p?q", AB_HTTP_NONE, 0 },
	{ "1.0 without Host", T("GET / HTTP/1.0\r\n\r\n"), 0, "", 0, "/", AB_HTTP_NONE, 0 },
	{ "absolute form", T("GET http://a.b/p?q HTTP/1.1\r\n" H END), 0, "a.b", 0, "/p?q",
	  AB_HTTP_NONE, 0 },
	{ "absolute form, scheme in capitals", T("GET HTTP://A.B/ HTTP/1.1\r\n" H END), 0, "a.b", 0,
	  "/", AB_HTTP_NONE, 0 },
	{ "absolute form, usual port", T("GET http://a.b:80/ HTTP/1.1\r\n" H END), 0, "a.b", 80,
	  "/", AB_HTTP_NONE, 0 },
	{ "absolute form, port",
	  T("GET http://a.b:81 HTTP/1.1\r\n"
	    "Host: a.b:81\r\n\r\n"),
	  0, "a.b", 81, "", AB_HTTP_NONE, 0 },
	{ "absolute form, only a query", T("GET http://a.b?x=1 HTTP/1.1\r\n" H END), 0, "a.b", 0,
	  "?x=1", AB_HTTP_NONE, 0 },
	{ "absolute form, IPv6",
	  T("GET http://[::1]:8/ HTTP/1.1\r\n"
	    "Host: [0::1]:8\r\n\r\n"),
	  0, "::1", 8, "/", AB_HTTP_NONE, 0 },
	{ "absolute form, 1.0 without Host", T("GET http://a.b/ HTTP/1.0\r\n\r\n"), 0, "a.b", 0,
	  "/", AB_HTTP_NONE, 0 },
	{ "an address in hexadecimal is that address",
	  T("GET http://0x7f000001/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), 0, "127.0.0.1", 0, "/",
	  AB_HTTP_NONE, 0 },
	{ "CONNECT", T("CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:443\r\n\r\n"), 0, "a.b", 443, "",
	  AB_HTTP_NONE, 0 },
	{ "CONNECT, Host without port", T("CONNECT a.b:443 HTTP/1.1\r\n" H END), 0, "a.b", 443, "",
	  AB_HTTP_NONE, 0 },
	{ "CONNECT without Host", T("CONNECT a.b:22 HTTP/1.1\r\n\r\n"), 0, "a.b", 22, "",
	  AB_HTTP_NONE, 0 },
	{ "asterisk form", T("OPTIONS * HTTP/1.1\r\n" H END), 0, "a.b", 0, "*", AB_HTTP_NONE, 0 },
	{ "bytes above ASCII in a path", T("GET /\xc3\xbc HTTP/1.1\r\n" H END), 0, "a.b", 0,
	  "/\xc3\xbc", AB_HTTP_NONE, 0 },
	{ "an empty value, and blanks around one", T(GET "A:\r\nB: \t x y \t \r\n" END), 0, "a.b",
	  0, "/", AB_HTTP_NONE, 0 },
	{ "Content-Length", T(POST "Content-Length: 5\r\n" END), 0, "a.b", 0, "/x", AB_HTTP_LENGTH,
	  5 },
	{ "Content-Length 0", T(POST "Content-Length: 0\r\n" END), 0, "a.b", 0, "/x", AB_HTTP_NONE,
	  0 },
	{ "Content-Length of 18 digits", T(POST "Content-Length: 999999999999999999\r\n" END), 0,
	  "a.b", 0, "/x", AB_HTTP_LENGTH, 999999999999999999 },
	{ "chunked", T(POST "Transfer-Encoding: chunked\r\n" END), 0, "a.b", 0, "/x",
	  AB_HTTP_CHUNKED, 0 },
	{ "chunked in capitals", T(POST "TRANSFER-ENCODING: CHUNKED\r\n" END), 0, "a.b", 0, "/x",
	  AB_HTTP_CHUNKED, 0 },

	/* two lengths for one message */
	{ "CL.CL", T(POST "Content-Length: 5\r\nContent-Length: 6\r\n" END), 400 },
	{ "CL.CL, equal", T(POST "Content-Length: 5\r\nContent-Length: 5\r\n" END), 400 },
	{ "CL list", T(POST "Content-Length: 5, 5\r\n" END), 400 },
	{ "CL.TE",
	  T(POST "Content-Length: 5\r\n"
		 "Transfer-Encoding: chunked\r\n" END),
	  400 },
	{ "TE.CL",
	  T(POST "Transfer-Encoding: chunked\r\n"
		 "Content-Length: 5\r\n" END),
	  400 },
	{ "CL 0 and TE",
	  T(POST "Content-Length: 0\r\n"
		 "Transfer-Encoding: chunked\r\n" END),
	  400 },
	{ "TE.TE",
	  T(POST "Transfer-Encoding: chunked\r\n"
		 "Transfer-Encoding: chunked\r\n" END),
	  400 },
	{ "TE.TE, second obfuscated",
	  T(POST "Transfer-Encoding: chunked\r\n"
		 "Transfer-encoding: x\r\n" END),
	  400 },
	{ "TE list", T(POST "Transfer-Encoding: gzip, chunked\r\n" END), 501 },
	{ "TE identity", T(POST "Transfer-Encoding: identity\r\n" END), 501 },
	{ "TE xchunked", T(POST "Transfer-Encoding: xchunked\r\n" END), 501 },
	{ "TE chunked;x", T(POST "Transfer-Encoding: chunked;x=1\r\n" END), 501 },
	{ "TE quoted", T(POST "Transfer-Encoding: \"chunked\"\r\n" END), 501 },
	{ "TE empty", T(POST "Transfer-Encoding:\r\n" END), 501 },
	{ "TE with a vertical tab",
	  T(POST "Transfer-Encoding: \x0b"
		 "chunked\r\n" END),
	  400 },
	{ "TE with a space before its colon", T(POST "Transfer-Encoding : chunked\r\n" END), 400 },
	{ "TE with a tab before its colon", T(POST "Transfer-Encoding\t: chunked\r\n" END), 400 },
	{ "TE folded", T(POST "Transfer-Encoding:\r\n chunked\r\n" END), 400 },
	{ "TE behind a blank", T(POST " Transfer-Encoding: chunked\r\n" END), 400 },
	{ "TE behind a bare LF", T(POST "X: y\nTransfer-Encoding: chunked\r\n" END), 400 },
	{ "TE behind a bare CR", T(POST "X: y\rTransfer-Encoding: chunked\r\n" END), 400 },
	{ "TE in 1.0", T("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n"), 400 },
	{ "CL +5", T(POST "Content-Length: +5\r\n" END), 400 },
	{ "CL -1", T(POST "Content-Length: -1\r\n" END), 400 },
	{ "CL 0x5", T(POST "Content-Length: 0x5\r\n" END), 400 },
	{ "CL 5 5", T(POST "Content-Length: 5 5\r\n" END), 400 },
	{ "CL empty", T(POST "Content-Length: \r\n" END), 400 },
	{ "CL too large", T(POST "Content-Length: 18446744073709551616\r\n" END), 400 },
	{ "CL with a NUL", T(POST "Content-Length: 5\0\r\n" END), 400 },
	{ "Connection names Content-Length",
	  T(POST "Content-Length: 5\r\nConnection: content-length\r\n" END), 400 },
	{ "Connection names Host", T(GET "Connection: x, HOST\r\n" END), 400 },
	{ "Connection names TE", T(POST "Connection: Transfer-Encoding\r\n" END), 400 },
	{ "Connection with a blank inside", T(GET "Connection: a b\r\n" END), 400 },

	/* lines and names */
	{ "bare LF", T("GET / HTTP/1.1\nHost: a.b\n\n"), 400 },
	{ "bare LF at the end", T("GET / HTTP/1.1\r\nHost: a.b\r\n\n"), 400 },
	{ "bare CR", T("GET / HTTP/1.1\rHost: a.b\r\n\r\n"), 400 },
	{ "CR CR LF", T("GET / HTTP/1.1\r\r\nHost: a.b\r\n\r\n"), 400 },
	{ "an empty line first", T("\r\n" GET END), 400 },
	{ "a blank first", T(" " GET END), 400 },
	{ "obs-fold", T(GET "A: b\r\n c\r\n" END), 400 },
	{ "obs-fold with a tab", T(GET "A: b\r\n\tc\r\n" END), 400 },
	{ "space before a colon", T(GET "A : b\r\n" END), 400 },
	{ "space in a name", T(GET "A b: c\r\n" END), 400 },
	{ "no name", T(GET ": c\r\n" END), 400 },
	{ "no colon", T(GET "A\r\n" END), 400 },
	{ "NUL in a value", T(GET "A: b\0c\r\n" END), 400 },
	{ "NUL in a name", T(GET "A\0: b\r\n" END), 400 },
	{ "NUL in the target", T("GET /\0 HTTP/1.1\r\n" H END), 400 },
	{ "DEL in a value", T(GET "A: \x7f\r\n" END), 400 },
	{ "ESC in a value", T(GET "A: \x1b[2J\r\n" END), 400 },
	{ "bytes above ASCII in a name", T(GET "\xc3\xbc: b\r\n" END), 400 },
	{ "a bracket in a name", T(GET "A[]: b\r\n" END), 400 },

	/* the first line */
	{ "no target", T("GET HTTP/1.1\r\n" H END), 400 },
	{ "no version", T("GET /\r\n" H END), 400 },
	{ "two spaces", T("GET  / HTTP/1.1\r\n" H END), 400 },
	{ "a space in the target", T("GET /a b HTTP/1.1\r\n" H END), 400 },
	{ "a tab for a space", T("GET\t/ HTTP/1.1\r\n" H END), 400 },
	{ "a tab in the target", T("GET /\t HTTP/1.1\r\n" H END), 400 },
	{ "a blank at the end", T("GET / HTTP/1.1 \r\n" H END), 400 },
	{ "no token as method", T("G@T / HTTP/1.1\r\n" H END), 400 },
	{ "a long method", T("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\r\n" H END), 501 },
	{ "HTTP/2.0", T("PRI * HTTP/2.0\r\n\r\n"), 505 },
	{ "HTTP/1.2", T("GET / HTTP/1.2\r\n" H END), 505 },
	{ "HTTP/0.9", T("GET / HTTP/0.9\r\n" H END), 505 },
	{ "http/1.1", T("GET / http/1.1\r\n" H END), 400 },
	{ "HTTP/1.10", T("GET / HTTP/1.10\r\n" H END), 400 },
	{ "HTTP/01.1", T("GET / HTTP/01.1\r\n" H END), 400 },

	/* targets and hosts */
	{ "no Host", T("GET / HTTP/1.1\r\n\r\n"), 400 },
	{ "no Host, absolute form", T("GET http://a.b/ HTTP/1.1\r\n\r\n"), 400 },
	{ "two Hosts", T(GET H END), 400 },
	{ "two Hosts in 1.0", T("GET / HTTP/1.0\r\n" H "Host: c\r\n\r\n"), 400 },
	{ "empty Host", T("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400 },
	{ "Host with a user", T("GET / HTTP/1.1\r\nHost: u@a.b\r\n\r\n"), 400 },
	{ "Host with a path", T("GET / HTTP/1.1\r\nHost: a.b/x\r\n\r\n"), 400 },
	{ "Host with two names", T("GET / HTTP/1.1\r\nHost: a.b, c\r\n\r\n"), 400 },
	{ "Host with a blank", T("GET / HTTP/1.1\r\nHost: a.b c\r\n\r\n"), 400 },
	{ "Host with port 0", T("GET / HTTP/1.1\r\nHost: a.b:0\r\n\r\n"), 400 },
	{ "Host with a large port", T("GET / HTTP/1.1\r\nHost: a.b:65536\r\n\r\n"), 400 },
	{ "Host with an empty port", T("GET / HTTP/1.1\r\nHost: a.b:\r\n\r\n"), 400 },
	{ "Host with two ports", T("GET / HTTP/1.1\r\nHost: a.b:80:81\r\n\r\n"), 400 },
	{ "Host with bare IPv6", T("GET / HTTP/1.1\r\nHost: ::1\r\n\r\n"), 400 },
	{ "Host with an open bracket", T("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"), 400 },
	{ "Host with bytes behind the bracket", T("GET / HTTP/1.1\r\nHost: [::1]x:80\r\n\r\n"),
	  400 },
	{ "Host with an underscore", T("GET / HTTP/1.1\r\nHost: a_b\r\n\r\n"), 0, "a_b", 0, "/",
	  AB_HTTP_NONE, 0 },
	{ "Host elsewhere", T("GET http://a.b/ HTTP/1.1\r\nHost: c.d\r\n\r\n"), 400 },
	{ "Host with another port", T("GET http://a.b/ HTTP/1.1\r\nHost: a.b:81\r\n\r\n"), 400 },
	{ "Host without the port", T("GET http://a.b:81/ HTTP/1.1\r\nHost: a.b\r\n\r\n"), 400 },
	{ "CONNECT, Host elsewhere", T("CONNECT a.b:443 HTTP/1.1\r\nHost: c.d:443\r\n\r\n"), 400 },
	{ "CONNECT, Host with another port", T("CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:80\r\n\r\n"),
	  400 },
	{ "CONNECT without port", T("CONNECT a.b HTTP/1.1\r\n" H END), 400 },
	{ "CONNECT with a path", T("CONNECT a.b:1/ HTTP/1.1\r\n" H END), 400 },
	{ "CONNECT in absolute form", T("CONNECT http://a.b:1/ HTTP/1.1\r\n" H END), 400 },
	{ "CONNECT with a user", T("CONNECT u@a.b:1 HTTP/1.1\r\n" H END), 400 },
	{ "CONNECT with a body", T("CONNECT a.b:1 HTTP/1.1\r\n" H "Content-Length: 4\r\n\r\n"),
	  400 },
	{ "https", T("GET https://a.b/ HTTP/1.1\r\n" H END), 400 },
	{ "ftp", T("GET ftp://a.b/ HTTP/1.1\r\n" H END), 400 },
	{ "a user in the target", T("GET http://u:p@a.b/ HTTP/1.1\r\n" H END), 400 },
	{ "an @ behind the path is no user", T("GET http://a.b/@c HTTP/1.1\r\n" H END), 0, "a.b", 0,
	  "/@c", AB_HTTP_NONE, 0 },
	{ "a backslash in the authority", T("GET http://a.b\\@c.d/ HTTP/1.1\r\nHost: c.d\r\n\r\n"),
	  400 },
	{ "a fragment", T("GET http://a.b/#x HTTP/1.1\r\n" H END), 400 },
	{ "a fragment behind the host", T("GET http://a.b#.c.d/ HTTP/1.1\r\n" H END), 400 },
	{ "no host in the target", T("GET http:/// HTTP/1.1\r\n" H END), 400 },
	{ "* for GET", T("GET * HTTP/1.1\r\n" H END), 400 },
	{ "a name as target", T("GET a.b HTTP/1.1\r\n" H END), 400 },
	{ "NUL in the host", T("GET http://evil\0.a.b/ HTTP/1.1\r\n" H END), 400 },
};

static bool same_text(struct ab_http_text s, const char *want)
{
	return s.len == strlen(want) && memcmp(s.s, want, s.len) == 0;
}

/* Every cut, with what was seen before and without. */
static bool cuts_hold(const char *in, size_t len, ssize_t want)
{
	struct ab_http_scan kept = { 0 };
	struct ab_http_request rq;
	bool told = false;

	for (size_t n = 1; n <= len; n++) {
		struct ab_http_scan fresh = { 0 };
		const void *data = guarded(in, n);
		ssize_t a = ab_http_read_request(&fresh, data, n, &rq);
		ssize_t b = told ? a : ab_http_read_request(&kept, data, n, &rq);

		if (a != b || (a != want && a != 0) || (told && a != want))
			return false;
		told = a != 0;
		/* A head is accepted with its last byte only. */
		if (a > 0 && (size_t)a > n)
			return false;
	}
	return told;
}

static void test_requests(void)
{
	for (size_t i = 0; i < AB_COUNT(requests); i++) {
		const char *name = requests[i].name;
		size_t len = requests[i].len;
		struct ab_http_scan scan = { 0 };
		struct ab_http_request rq;
		ssize_t r = ab_http_read_request(&scan, guarded(requests[i].in, len), len, &rq);
		ssize_t want = requests[i].status ? -requests[i].status : (ssize_t)len;

		ok(r == want, "%s", name);
		if (r != want)
			printf("# got %zd (%s)\n", r, r < 0 ? scan.why : "");
		ok(cuts_hold(requests[i].in, len, want), "%s, cut", name);
		if (r < 0)
			ok(scan.why && scan.why[0], "%s: says why", name);
		if (r <= 0 || requests[i].status)
			continue;
		ok(rq.has_host == !!requests[i].host[0] &&
			   strcmp(rq.host.text, requests[i].host) == 0 &&
			   rq.port == requests[i].port,
		   "%s: host", name);
		ok(same_text(rq.path, requests[i].path), "%s: path", name);
		ok(rq.head.body == requests[i].body && rq.head.length == requests[i].length,
		   "%s: body", name);
	}
}

static const struct {
	const char *in;
	bool to_head;
	int status; /* 0: refused */
	enum ab_http_body body;
	uint64_t length;
	bool keep;
} responses[] = {
	{ "HTTP/1.1 200 OK\r\n\r\n", false, 200, AB_HTTP_CLOSE, 0, false },
	{ "HTTP/1.1 200\r\n\r\n", false, 200, AB_HTTP_CLOSE, 0, false },
	{ "HTTP/1.1 200 \r\n\r\n", false, 200, AB_HTTP_CLOSE, 0, false },
	{ "HTTP/1.1 404 Not here, not there\r\nContent-Length: 3\r\n\r\n", false, 404,
	  AB_HTTP_LENGTH, 3, true },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, 200, AB_HTTP_NONE, 0, true },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, 200, AB_HTTP_CHUNKED, 0,
	  true },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true, 200, AB_HTTP_NONE, 0,
	  true },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true, 200, AB_HTTP_NONE, 9, true },
	{ "HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n", false, 304, AB_HTTP_NONE, 9, true },
	{ "HTTP/1.1 204 No\r\n\r\n", false, 204, AB_HTTP_NONE, 0, true },
	{ "HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", false, 204, AB_HTTP_NONE, 0, true },
	{ "HTTP/1.1 100 Continue\r\n\r\n", false, 100, AB_HTTP_NONE, 0, true },
	{ "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", false, 200, AB_HTTP_LENGTH, 1, false },
	{ "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n"
	  "\r\n",
	  false, 200, AB_HTTP_LENGTH, 1, true },
	{ "HTTP/1.1 200 OK\r\nConnection: a, CLOSE\r\nContent-Length: 1\r\n"
	  "\r\n",
	  false, 200, AB_HTTP_LENGTH, 1, false },

	{ "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"
	  "\r\n\r\n" },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n" },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n" },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" },
	{ "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" },
	{ "HTTP/1.1 304 Same\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"
	  "\r\n\r\n" },
	{ "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n" },
	{ "HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n" },
	{ "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n" },
	{ "HTTP/1.1 200 OK\nContent-Length: 1\n\n" },
	{ "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n" },
	{ "HTTP/1.1 200 OK\r\nA : b\r\n\r\n" },
	{ "HTTP/2 200 OK\r\n\r\n" },
	{ "HTTP/1.1 20 OK\r\n\r\n" },
	{ "HTTP/1.1 2000 OK\r\n\r\n" },
	{ "HTTP/1.1 099 OK\r\n\r\n" },
	{ "HTTP/1.1  200 OK\r\n\r\n" },
	{ "ICY 200 OK\r\n\r\n" },
	{ "SSH-2.0-x\r\n\r\n" },
};

static void test_responses(void)
{
	for (size_t i = 0; i < AB_COUNT(responses); i++) {
		const char *in = responses[i].in;
		size_t len = strlen(in), n;
		struct ab_http_scan scan = { 0 };
		struct ab_http_response rs;
		ssize_t r = 0;

		for (n = 1; n <= len && r == 0; n++)
			r = ab_http_read_response(&scan, guarded(in, n), n, responses[i].to_head,
						  &rs);
		if (!responses[i].status) {
			ok(r == -502 && scan.why[0], "refused: %.50s...", in);
			continue;
		}
		ok(r == (ssize_t)len && rs.status == responses[i].status &&
			   rs.head.body == responses[i].body &&
			   rs.head.length == responses[i].length &&
			   rs.head.keep == responses[i].keep,
		   "accepted: %.50s...", in);
	}
}

static ssize_t read_all(const char *s, size_t len)
{
	struct ab_http_scan scan = { 0 };
	struct ab_http_request rq;

	return ab_http_read_request(&scan, guarded(s, len), len, &rq);
}

static void test_limits(void)
{
	static char text[AB_HTTP_HEAD_MAX + 100];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), GET);
	for (int i = 1; i < AB_HTTP_FIELDS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "A: b\r\n");
	strcpy(text + n, "\r\n");
	ok(read_all(text, n + 2) == (ssize_t)n + 2, "128 header fields");
	strcpy(text + n, "A: b\r\n\r\n");
	ok(read_all(text, n + 8) == -431, "not 129");

	memset(text, 'a', sizeof(text));
	memcpy(text, "GET /", 5);
	memcpy(text + 4 + AB_HTTP_TARGET_MAX, " HTTP/1.1\r\n" H "\r\n", 24);
	ok(read_all(text, 4 + AB_HTTP_TARGET_MAX + 24) > 0, "a target of 16 KiB");
	memset(text, 'a', sizeof(text));
	memcpy(text, "GET /", 5);
	memcpy(text + 5 + AB_HTTP_TARGET_MAX, " HTTP/1.1\r\n" H "\r\n", 24);
	ok(read_all(text, 5 + AB_HTTP_TARGET_MAX + 24) == -414, "not one byte more");
	memset(text, 'a', sizeof(text));
	ok(read_all(text, 20000) == -414, "nor one without an end");

	memset(text, 'a', sizeof(text));
	memcpy(text, GET "A: ", sizeof(GET "A: ") - 1);
	memcpy(text + AB_HTTP_HEAD_MAX - 4, "\r\n\r\n", 4);
	ok(read_all(text, AB_HTTP_HEAD_MAX) == AB_HTTP_HEAD_MAX, "a head of 64 KiB");
	memset(text + AB_HTTP_HEAD_MAX - 4, 'a', 4);
	ok(read_all(text, AB_HTTP_HEAD_MAX - 1) == 0, "one that may become so");
	ok(read_all(text, AB_HTTP_HEAD_MAX) == -431, "not one that is longer");
	memcpy(text + AB_HTTP_HEAD_MAX - 3, "\r\n\r\n", 4);
	ok(read_all(text, AB_HTTP_HEAD_MAX + 1) == -431, "by one byte");

	n = (size_t)snprintf(text, sizeof(text), GET "Connection: a");
	for (int i = 1; i < AB_HTTP_OPTIONS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ",b");
	strcpy(text + n, "\r\n\r\n");
	ok(read_all(text, n + 4) > 0, "32 words in Connection");
	strcpy(text + n, ",c\r\n\r\n");
	ok(read_all(text, n + 6) == -400, "not 33");
}

/* What a request becomes on its way through the proxy. */
static const char *rewritten(const char *in, bool upstream)
{
	static struct ab_buf out;
	struct ab_http_scan scan = { 0 };
	struct ab_http_request rq;
	struct ab_http_hop hop = { .upstream = upstream, .credentials = "Basic dTpw" };

	ab_buf_fini(&out);
	if (ab_http_read_request(&scan, in, strlen(in), &rq) <= 0)
		return scan.why;
	hop.host = &rq.host;
	hop.port = rq.port ? rq.port : 80;
	ab_http_write_request(&out, &rq, &hop);
	ab_buf_add(&out, "", 1);
	return out.data;
}

#define ABS "GET http://a.b/p?q HTTP/1.1\r\n" H
#define ORG "GET /p?q HTTP/1.1\r\n" H

static const struct {
	const char *in, *out;
} rewrites[] = {
	{ ABS END, ORG END },
	{ ABS "A: 1\r\nb:2\r\nA:  3\r\n" END, ORG "A: 1\r\nb: 2\r\nA: 3\r\n" END },
	{ ABS "Proxy-Authorization: Basic eDp5\r\n"
	      "proxy-connection: keep-alive\r\nKeep-Alive: 5\r\n"
	      "Proxy-Authenticate: x\r\nA: 1\r\n" END,
	  ORG "A: 1\r\n" END },
	{ ABS "Connection: x-one, X-Two\r\nX-ONE: 1\r\nx-two: 2\r\nx-three: 3\r\n"
	      "Connection: cookie\r\nCookie: c\r\n" END,
	  ORG "x-three: 3\r\n" END },
	{ ABS "Connection: close\r\n" END, ORG "Connection: close\r\n" END },
	{ ABS "Connection: keep-alive\r\n" END, ORG END },
	{ "GET http://a.b/ HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\n" H END },
	{ "GET http://a.b/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	  "GET / HTTP/1.0\r\n" H "Connection: keep-alive\r\n" END },
	{ ABS "TE: trailers\r\nConnection: TE\r\n" END,
	  ORG "TE: trailers\r\nConnection: TE\r\n" END },
	{ ABS "TE: gzip, trailers\r\nConnection: TE\r\n" END, ORG END },
	{ ABS "Upgrade: websocket\r\nConnection: Upgrade\r\n" END,
	  ORG "Upgrade: websocket\r\nConnection: Upgrade\r\n" END },
	{ ABS "Upgrade: websocket\r\n" END, ORG END },
	{ ABS "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
	      "HTTP2-Settings: AAMAAABk\r\n" END,
	  ORG END },
	{ ABS "Connection: Upgrade\r\nUpgrade: websocket, H2C\r\n" END, ORG END },
	{ ABS "Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n" END, ORG END },
	{ ABS "Connection: Upgrade\r\nUpgrade: HTTP/2.0\r\n" END, ORG END },
	{ "POST http://a.b:81/ HTTP/1.1\r\nHost: a.b:81\r\n"
	  "Transfer-Encoding: chunked\r\nTrailer: x\r\n"
	  "Expect: 100-continue\r\n\r\n",
	  "POST / HTTP/1.1\r\nHost: a.b:81\r\nTransfer-Encoding: chunked\r\n"
	  "Trailer: x\r\nExpect: 100-continue\r\n\r\n" },
	{ "GET http://A.B.:80 HTTP/1.1\r\nhost: A.B\r\n\r\n", "GET / HTTP/1.1\r\n" H END },
	{ "GET http://a.b?q HTTP/1.1\r\n" H END, "GET /?q HTTP/1.1\r\n" H END },
	{ "OPTIONS http://a.b HTTP/1.1\r\n" H END, "OPTIONS * HTTP/1.1\r\n" H END },
	{ "OPTIONS http://a.b/ HTTP/1.1\r\n" H END, "OPTIONS / HTTP/1.1\r\n" H END },
	{ "GET http://[::1]/ HTTP/1.1\r\nHost: [::1]\r\n\r\n",
	  "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n" },
	{ "GET http://[::1]:8/ HTTP/1.1\r\nHost: [::1]:8\r\n\r\n",
	  "GET / HTTP/1.1\r\nHost: [::1]:8\r\n\r\n" },
};

static void test_rewrites(void)
{
	for (size_t i = 0; i < AB_COUNT(rewrites); i++)
		is_str(rewritten(rewrites[i].in, false), rewrites[i].out,
		       "a request is written anew");
	is_str(rewritten(ABS "Proxy-Authorization: Basic eDp5\r\n" END, true),
	       "GET http://a.b/p?q HTTP/1.1\r\n" H "Proxy-Authorization: Basic dTpw\r\n" END,
	       "for an upstream proxy in absolute form, with its password");
	is_str(rewritten("TRACE http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
			 "Max-Forwards: 0\r\n\r\n",
			 true),
	       "TRACE http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
	       "Max-Forwards: 0\r\n\r\n",
	       "but not with what would send it back");
	is_str(rewritten("OPTIONS http://a.b:81 HTTP/1.1\r\nHost: a.b:81\r\n\r\n", true),
	       "OPTIONS http://a.b:81 HTTP/1.1\r\nHost: a.b:81\r\n"
	       "Proxy-Authorization: Basic dTpw\r\n\r\n",
	       "there OPTIONS * is the bare host");
}

static const char *without_upgrade(const char *in)
{
	static struct ab_buf out;
	struct ab_http_scan scan = { 0 };
	struct ab_http_request rq;

	ab_buf_fini(&out);
	if (ab_http_read_request(&scan, in, strlen(in), &rq) <= 0)
		return scan.why;
	ab_http_write_without_upgrade(&out, &rq);
	ab_buf_add(&out, "", 1);
	return out.data;
}

static const char *response(const char *in, bool keep, int minor)
{
	static struct ab_buf out;
	struct ab_http_scan scan = { 0 };
	struct ab_http_response rs;

	ab_buf_fini(&out);
	if (ab_http_read_response(&scan, in, strlen(in), false, &rs) <= 0)
		return scan.why;
	ab_http_write_response(&out, &rs, keep, minor);
	ab_buf_add(&out, "", 1);
	return out.data;
}

static void test_other_writing(void)
{
	is_str(without_upgrade("GET / HTTP/1.1\r\nConnection: Upgrade, "
			       "HTTP2-Settings\r\n" H "Upgrade: h2c\r\n"
			       "HTTP2-Settings: AAMA\r\nTE: x\r\n\r\n"),
	       GET "TE: x\r\n\r\n", "h2c leaves a request");
	is_str(without_upgrade("GET / HTTP/1.1\r\nConnection: Upgrade, close, x"
			       "\r\n" H "Upgrade: h2c\r\n\r\n"),
	       GET "Connection: close, x\r\n\r\n", "and what else Connection says stays");

#define RS "HTTP/1.1 200 OK\r\n"
	is_str(response("HTTP/1.0 200 OK\r\nConnection: x\r\nX: 1\r\nA: 1\r\n"
			"Keep-Alive: t\r\nProxy-Authenticate: y\r\n"
			"Upgrade: h2c\r\nContent-Length: 1\r\n\r\n",
			true, 1),
	       RS "A: 1\r\nContent-Length: 1\r\n\r\n", "a response keeps to its hop as well");
	is_str(response(RS "Content-Length: 1\r\n\r\n", false, 1),
	       RS "Content-Length: 1\r\nConnection: close\r\n\r\n",
	       "and says when the connection ends");
	is_str(response(RS "Content-Length: 1\r\n\r\n", true, 0),
	       RS "Content-Length: 1\r\nConnection: keep-alive\r\n\r\n",
	       "or, to HTTP/1.0, that it does not");
	is_str(response("HTTP/1.1 101 Go\r\nUpgrade: websocket\r\n"
			"Connection: upgrade\r\n\r\n",
			true, 1),
	       "HTTP/1.1 101 Go\r\nUpgrade: websocket\r\n"
	       "Connection: Upgrade\r\n\r\n",
	       "an upgrade is granted in full");
	is_str(response("HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n", false, 1),
	       "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n",
	       "an interim response says nothing about the connection");
	is_str(response("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", true, 1),
	       "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "no reason");
}

static void test_upgrades(void)
{
	struct ab_http_scan scan = { 0 };
	struct ab_http_request rq;

	ab_http_read_request(&scan,
			     T(GET "Connection: keep-alive, UPGRADE\r\n"
				   "Upgrade: WebSocket\r\n" END),
			     &rq);
	ok(rq.head.upgrade && !rq.head.upgrade_unjudged && rq.head.keep,
	   "a WebSocket is asked for");
	scan = (struct ab_http_scan){ 0 };
	ab_http_read_request(&scan,
			     T(GET "Connection: Upgrade\r\n"
				   "Upgrade: foo/1, h2c\r\n" END),
			     &rq);
	ok(!rq.head.upgrade && rq.head.upgrade_unjudged,
	   "HTTP/2 anywhere in the list is not passed");
	scan = (struct ab_http_scan){ 0 };
	ab_http_read_request(&scan,
			     T(GET "Connection: Upgrade\r\n"
				   "Upgrade: h2c\r\nUpgrade: foo\r\n" END),
			     &rq);
	ok(!rq.head.upgrade && rq.head.upgrade_unjudged, "nor in two fields");
	scan = (struct ab_http_scan){ 0 };
	ab_http_read_request(&scan, T(GET "Expect: 100-Continue\r\n" END), &rq);
	ok(rq.head.expect, "Expect");
}

static void test_words(void)
{
	static const struct {
		const char *text, *words;
		bool is;
	} cases[] = {
		{ "Te", "accept te user-agent", true },
		{ "accept", "accept te", true },
		{ "USER-AGENT", "te user-agent", true },
		{ "t", "accept te", false },
		{ "tee", "accept te", false },
		{ "accept te", "accept te", false },
		{ "", "accept te", false },
		{ "te", "", false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		ok(ab_http_is_one(ab_http_text(cases[i].text), cases[i].words) == cases[i].is,
		   "\"%s\" is %sone of \"%s\"", cases[i].text, cases[i].is ? "" : "not ",
		   cases[i].words);
}

int main(void)
{
	test_words();
	test_requests();
	test_responses();
	test_limits();
	test_rewrites();
	test_other_writing();
	test_upgrades();
	return done();
}
