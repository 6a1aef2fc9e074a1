/*
 * Addresses of the box's calls: read from hostile bytes, and where they lead.
 */
#include "guard/sockets/inet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/data/mem.h"
#include "guard.h"
#include "host/process/socket_owner.h"
#include "tap.h"

static struct ab_destination at(const char *text, uint16_t port)
{
	struct ab_destination d = { .v6 = strchr(text, ':') != NULL, .port = port };

	inet_pton(d.v6 ? AF_INET6 : AF_INET, text, d.addr);
	return d;
}

static void test_parse(void)
{
	static const struct {
		const char *text, *expected;
		int family;
	} cases[] = {
		{ "192.0.2.1", "192.0.2.1", AF_INET },
		{ "192.0.2.1", "192.0.2.1", AF_INET6 }, /* mapped */
		{ "2001:db8::1", "2001:db8::1", AF_INET6 },
	};
	struct sockaddr_storage bytes;
	struct ab_destination d, want;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		socklen_t len;

		want = at(cases[i].text, 443);
		len = ab_inet_write(&want, cases[i].family, &bytes);
		ok(ab_destination_parse(&bytes, len, &d) == 0 && ab_inet_equal(&d, &want), "%s",
		   cases[i].text);
		want = at(cases[i].expected, 443);
		ok(ab_inet_equal(&d, &want), "%s as it is", cases[i].expected);
	}
	want = at("2001:db8::1", 1);
	ok(ab_inet_write(&want, AF_INET, &bytes) == 0, "no IPv6 for a socket of IPv4");
	bytes.ss_family = AF_UNIX;
	ok(ab_destination_parse(&bytes, sizeof(bytes), &d) == EAFNOSUPPORT, "another family");
}

/* Every length, right before memory that cannot be read. */
static void test_cut(void)
{
	static const int families[] = { AF_INET, AF_INET6, AF_UNSPEC, AF_UNIX };
	struct ab_destination d;
	int wrong = 0;

	for (size_t f = 0; f < AB_COUNT(families); f++)
		for (size_t len = 0; len <= sizeof(struct sockaddr_in6); len++) {
			struct sockaddr_in6 v6 = { .sin6_family = (sa_family_t)families[f] };
			size_t least = families[f] == AF_INET ? sizeof(struct sockaddr_in) : 24;
			int r = ab_destination_parse(guarded(&v6, len), len, &d);
			int expected = len < 2	     ? EINVAL
				       : f > 1	     ? EAFNOSUPPORT
				       : len < least ? EINVAL
						     : 0;

			wrong += r != expected;
		}
	ok(wrong == 0, "an address that is cut is refused");
}

static void test_judge(void)
{
	static const uint16_t ports[] = { 5432 };
	const struct ab_inet_terms filtered = { true, ports, 1 }, blocked = { false, ports, 1 };
	const struct {
		const char *to;
		uint16_t port;
		bool stream, own;
		enum ab_inet_way with, without;
	} cases[] = {
		{ "192.0.2.1", 443, true, false, AB_WAY_PROXY, AB_WAY_NO_NETWORK },
		{ "192.0.2.1", 443, false, false, AB_WAY_NO_NETWORK, AB_WAY_NO_NETWORK },
		{ "192.0.2.1", 53, true, false, AB_WAY_NAMES, AB_WAY_NO_NETWORK },
		{ "192.0.2.1", 53, false, false, AB_WAY_NAMES, AB_WAY_NO_NETWORK },
		{ "127.0.0.53", 53, false, false, AB_WAY_NAMES, AB_WAY_NO_SERVER },
		{ "127.0.0.11", 53, true, false, AB_WAY_NAMES, AB_WAY_NO_SERVER },
		{ "127.0.0.1", 53, false, true, AB_WAY_OWN, AB_WAY_OWN },
		{ "127.0.0.1", AB_PORT_DOOR, true, false, AB_WAY_DOOR, AB_WAY_NO_SERVER },
		{ "127.0.0.1", AB_PORT_DOOR, false, false, AB_WAY_NO_SERVER, AB_WAY_NO_SERVER },
		{ "127.0.0.1", 5432, true, false, AB_WAY_HOST_PORT, AB_WAY_NO_SERVER },
		{ "127.0.0.1", 5433, true, false, AB_WAY_NO_SERVER, AB_WAY_NO_SERVER },
		{ "::1", 8080, true, true, AB_WAY_OWN, AB_WAY_OWN },
		{ "0.0.0.0", 8080, true, false, AB_WAY_NO_SERVER, AB_WAY_NO_SERVER },
		{ "::", 8080, true, false, AB_WAY_NO_SERVER, AB_WAY_NO_SERVER },
		/* An own server elsewhere than on loopback is the proxy's matter. */
		{ "192.0.2.1", 8080, true, true, AB_WAY_PROXY, AB_WAY_NO_NETWORK },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_destination to = at(cases[i].to, cases[i].port);

		ok(ab_inet_judge(&filtered, cases[i].stream, &to, cases[i].own) == cases[i].with &&
			   ab_inet_judge(&blocked, cases[i].stream, &to, cases[i].own) ==
				   cases[i].without,
		   "%s %u, %s, %s", cases[i].to, cases[i].port,
		   cases[i].stream ? "stream" : "datagram", cases[i].own ? "own" : "not own");
	}
}

static void test_serves(void)
{
	static const struct {
		const char *listens, *to;
		bool serves;
	} cases[] = {
		{ "127.0.0.1", "127.0.0.1", true },
		{ "127.0.0.2", "127.0.0.1", false },
		{ "0.0.0.0", "127.0.0.1", true },
		{ "0.0.0.0", "::1", false },
		{ "::", "::1", true },
		{ "::", "127.0.0.1", true },
		{ "::1", "127.0.0.1", false },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_destination l = at(cases[i].listens, 80), to = at(cases[i].to, 80);
		struct ab_socket_owner_socket line = { .v6 = l.v6, .port = 80 };

		memcpy(line.addr, l.addr, sizeof(line.addr));
		ok(ab_inet_serves(&line, &to) == cases[i].serves, "%s serves %s: %d",
		   cases[i].listens, cases[i].to, cases[i].serves);
		to.port = 81;
		ok(!ab_inet_serves(&line, &to), "not on another port");
	}
}

static void test_unix(void)
{
	static const struct {
		const char *line;
		uint64_t inode;
	} cases[] = {
		{ "0000000000000000: 00000002 00000000 00010000 0001 01 12345 @name", 12345 },
		{ "0000000000000000: 00000002 00000000 00010000 0001 01 12345 @names", 0 },
		{ "0000000000000000: 00000002 00000000 00010000 0001 01 12345 name", 0 },
		{ "0000000000000000: 00000003 00000000 00000000 0001 03 12345 @name", 0 },
		{ "0000000000000000: 00000002 00000000 00010000 0001 01 12345", 0 },
		{ "0000000000000000: 00000002 00000000 00010000 0001 01 1x345 @name", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		ok(ab_inet_unix_listener(cases[i].line, strlen(cases[i].line), "name", 4) ==
			   cases[i].inode,
		   "%s", cases[i].line);
	ok(ab_inet_unix_listener(cases[0].line, strlen(cases[0].line), "nam\0", 4) == 0,
	   "another name");
}

int main(void)
{
	test_parse();
	test_cut();
	test_judge();
	test_serves();
	test_unix();
	return done();
}
