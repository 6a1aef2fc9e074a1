#include "proxy/wire/socks.h"

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "proxy_bytes.h"
#include "tap.h"

static const struct {
	const char *name;
	const uint8_t *data;
	size_t len;
	ssize_t used;
	uint8_t method;
} greetings[] = {
	{ "no authentication", BYTES("\5\1\0"), 3, 0 },
	{ "one of several", BYTES("\5\3\2\1\0"), 5, 0 },
	{ "the request follows at once", BYTES("\5\1\0\5\1\0\1"), 3, 0 },
	{ "only with a password", BYTES("\5\1\2"), 3, 0xff },
	{ "no method at all", BYTES("\5\0"), 2, 0xff },
	{ "a zero behind the methods", BYTES("\5\1\2\0"), 3, 0xff },
	{ "SOCKS4", BYTES("\4\1\0\120\1\2\3\4\0"), -1, 0 },
	{ "HTTP", BYTES("GET / HTTP/1.1\r\n"), -1, 0 },
};

static void test_greetings(void)
{
	for (size_t i = 0; i < AB_COUNT(greetings); i++) {
		const uint8_t *data = greetings[i].data;
		size_t early = 0;
		uint8_t method = 0x55;
		ssize_t used = greetings[i].used;
		ssize_t n = ab_socks_greeting(guarded(data, greetings[i].len), greetings[i].len,
					      &method);

		ok(n == used && (used < 0 || method == greetings[i].method), "greeting: %s",
		   greetings[i].name);
		method = 0x55;
		for (size_t cut = 0; cut < (size_t)(used < 0 ? 1 : used); cut++)
			early += ab_socks_greeting(guarded(data, cut), cut, &method) != 0;
		ok(early == 0 && method == 0x55, "cut anywhere it needs more");
	}
}

#define V6(a) "\5\1\0\4" a "\1\273"
#define ANY_LABEL "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *name;
	const uint8_t *data;
	size_t len;
	ssize_t used;
	enum ab_socks_reply reply;
	const char *host;
	uint16_t port;
	size_t known; /* malformed from here on */
} requests[] = {
	{ "a name", BYTES("\5\1\0\3\12github.com\1\273"), 17, 0, "github.com", 443 },
	{ "in another spelling", BYTES("\5\1\0\3\13GitHub.COM.\0\26"), 18, 0, "github.com", 22 },
	{ "the first bytes follow", BYTES("\5\1\0\3\1a\0\120\26\3\1"), 8, 0, "a", 80 },
	{ "IPv4", BYTES("\5\1\0\1\1\2\3\4\0\120"), 10, 0, "1.2.3.4", 80 },
	{ "IPv6", BYTES(V6("\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1")), 22, 0, "2001:db8::1", 443 },
	{ "IPv4 in IPv6", BYTES(V6("\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1")), 22, 0, "127.0.0.1",
	  443 },
	{ "IPv4 by NAT64", BYTES(V6("\0\144\377\233\0\0\0\0\0\0\0\0\12\0\0\1")), 22, 0, "10.0.0.1",
	  443 },
	{ "an address as a name",
	  BYTES("\5\1\0\3\012"
		"0x7f000001"
		"\0\120"),
	  17, 0, "127.0.0.1", 80 },
	{ "IPv6 as a name", BYTES("\5\1\0\3\3::1\0\120"), 10, 0, "::1", 80 },
	{ "the highest port", BYTES("\5\1\0\1\1\2\3\4\377\377"), 10, 0, "1.2.3.4", 65535 },

	{ "a NUL in the name", BYTES("\5\1\0\3\21evil\0.allowed.com\1\273"), 24, 1 },
	{ "a NUL behind the name", BYTES("\5\1\0\3\14allowed.com\0\1\273"), 19, 1 },
	{ "a line end", BYTES("\5\1\0\3\15allowed.com\r\n\1\273"), 20, 1 },
	{ "a space", BYTES("\5\1\0\3\14 allowed.com\1\273"), 19, 1 },
	{ "a control byte", BYTES("\5\1\0\3\5a\177.co\1\273"), 12, 1 },
	{ "a port in the name", BYTES("\5\1\0\3\4a:80\1\273"), 11, 1 },
	{ "UTF-8", BYTES("\5\1\0\3\11b\303\274cher.e\1\273"), 16, 1 },
	{ "a user in the name", BYTES("\5\1\0\3\5a@b.c\1\273"), 12, 1 },
	{ "a label of 64", BYTES("\5\1\0\3\100" ANY_LABEL "a\0\120"), 71, 1 },
	{ "an empty name", BYTES("\5\1\0\3\0\1\273"), 7, 1 },
	{ "port 0", BYTES("\5\1\0\1\1\2\3\4\0\0"), 10, 1 },

	{ "BIND", BYTES("\5\2\0\1\0\0\0\0\0\0"), 10, 7 },
	{ "UDP", BYTES("\5\3\0\1\0\0\0\0\0\0"), 10, 7 },
	{ "UDP with a name", BYTES("\5\3\0\3\1a\0\0"), 8, 7 },
	{ "no command", BYTES("\5\0\0\1\1\2\3\4\0\120"), 10, 7 },
	{ "an unknown type", BYTES("\5\1\0\2\1\2\3\4\0\120"), 4, 8 },
	{ "type 0", BYTES("\5\1\0\0\1\2\3\4\0\120"), 4, 8 },

	{ "another version", BYTES("\4\1\0\1\1\2\3\4\0\120"), -1, .known = 1 },
	{ "the reserved byte", BYTES("\5\1\1\1\1\2\3\4\0\120"), -1, .known = 3 },
};

static void test_requests(void)
{
	for (size_t i = 0; i < AB_COUNT(requests); i++) {
		struct ab_socks_request r = { .port = 0x5555 };
		const uint8_t *data = requests[i].data;
		ssize_t used = requests[i].used;
		size_t early = 0, end = used < 0 ? requests[i].known : (size_t)used;
		ssize_t n;

		for (size_t cut = 0; cut < end; cut++)
			early += ab_socks_request(guarded(data, cut), cut, &r) != 0;
		ok(early == 0 && r.port == 0x5555, "cut anywhere: %s", requests[i].name);
		n = ab_socks_request(guarded(data, requests[i].len), requests[i].len, &r);
		ok(n == used, "consumed");
		if (used < 0)
			continue;
		ok(r.reply == requests[i].reply, "reply %d", r.reply);
		if (requests[i].host)
			ok(strcmp(r.host.text, requests[i].host) == 0 && r.port == requests[i].port,
			   "%s port %u", r.host.text, r.port);
	}
}

static void test_answer(void)
{
	struct ab_buf answer = { 0 };

	ab_socks_answer(&answer, AB_SOCKS_NOT_ALLOWED);
	ok(answer.len == 10 && memcmp(answer.data, "\5\2\0\1\0\0\0\0\0\0", 10) == 0, "an answer");
	ab_buf_fini(&answer);
}

int main(void)
{
	test_greetings();
	test_requests();
	test_answer();
	return done();
}
