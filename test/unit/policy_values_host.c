#include "policy/values/host.h"

#include <stdint.h>

#include "base/data/mem.h"
#include "policy/values/complaint.h"
#include "tap.h"

static const struct {
	const char *in, *out; /* out NULL: refused */
} hosts[] = {
	{ "github.com", "github.com" },
	{ "GitHub.COM", "github.com" },
	{ "github.com.", "github.com" },
	{ "localhost", "localhost" },
	{ "xn--bcher-kva.example", "xn--bcher-kva.example" },
	{ "a-b.c1.d", "a-b.c1.d" },
	{ "1.2.3.4.example", "1.2.3.4.example" },
	{ "3com.com", "3com.com" },
	{ "0x1g.example.0x1g", "0x1g.example.0x1g" },

	/* underscores: names of private networks have them */
	{ "foo_bar.test", "foo_bar.test" },
	{ "A_B.Allowed.test.", "a_b.allowed.test" },
	{ "_dmarc.example.com", "_dmarc.example.com" },
	{ "my_db", "my_db" },
	{ "a_._b", "a_._b" },
	{ "1_2", "1_2" },
	{ "0x7f_1", "0x7f_1" },
	{ "_-a.b", "_-a.b" },
	{ "a_-.b", NULL },

	/* every spelling of one address */
	{ "127.0.0.1", "127.0.0.1" },
	{ "127.0.0.1.", "127.0.0.1" },
	{ "2130706433", "127.0.0.1" },
	{ "0x7f000001", "127.0.0.1" },
	{ "0X7F.1", "127.0.0.1" },
	{ "0177.0.0.1", "127.0.0.1" },
	{ "017700000001", "127.0.0.1" },
	{ "127.1", "127.0.0.1" },
	{ "127.0.1", "127.0.0.1" },
	{ "0x7f.0.0.0x1", "127.0.0.1" },
	{ "::ffff:127.0.0.1", "127.0.0.1" },
	{ "::ffff:7f00:1", "127.0.0.1" },
	{ "[::FFFF:7F00:0001]", "127.0.0.1" },
	{ "0:0:0:0:0:ffff:127.0.0.1", "127.0.0.1" },
	{ "64:ff9b::7f00:1", "127.0.0.1" },
	{ "64:ff9b::127.0.0.1", "127.0.0.1" },
	{ "0", "0.0.0.0" },
	{ "255.255.255.255", "255.255.255.255" },
	{ "4294967295", "255.255.255.255" },
	{ "1.65536", "1.1.0.0" },
	{ "::1", "::1" },
	{ "[::1]", "::1" },
	{ "2001:DB8:0:0::1", "2001:db8::1" },
	{ "::", "::" },

	{ "", NULL },
	{ ".", NULL },
	{ "..", NULL },
	{ "a..b", NULL },
	{ ".a", NULL },
	{ "a..", NULL },
	{ "-a.b", NULL },
	{ "a-.b", NULL },
	{ "a b", NULL },
	{ "a/b", NULL },
	{ "a:80", NULL },
	{ "*.a.b", NULL },
	{ "*", NULL },
	{ "a@b", NULL },
	{ "b\xc3\xbc"
	  "cher.example",
	  NULL },
	{ "256.1.1.1", NULL },
	{ "1.2.3.256", NULL },
	{ "1.2.3.4.5", NULL },
	{ "4294967296", NULL },
	{ "0x100000000", NULL },
	{ "09.1.1.1", NULL },
	{ "1.16777216", NULL },
	{ "a.1", NULL },
	{ "example.0x1", NULL },
	{ "1.2.3.08", NULL },
	{ "0x", NULL },
	{ "1.0x", NULL },
	{ "fe80::1%eth0", NULL },
	{ "[::1", NULL },
	{ "::1]", NULL },
	{ "[1.2.3.4]", NULL },
	{ "[a.b]", NULL },
	{ ":::", NULL },
	{ "1:2:3:4:5:6:7:8:9", NULL },
	{ "[]", NULL },
	{ "99999999999999999999", NULL },
};

static void test_hosts(void)
{
	for (size_t i = 0; i < AB_COUNT(hosts); i++) {
		struct ab_host h;
		int r = ab_host_parse(hosts[i].in, strlen(hosts[i].in), &h, NULL);

		if (hosts[i].out)
			is_str(r == 0 ? h.text : NULL, hosts[i].out, hosts[i].in);
		else
			ok(r < 0, "refused: \"%s\"", hosts[i].in);
	}
}

static void test_bytes(void)
{
	struct ab_host h;
	char name[300];
	int taken = 0;

	ok(ab_host_parse("evil\0.allowed.com", 17, &h, NULL) < 0, "a NUL inside a name is refused");
	for (int c = 0; c < 256; c++) {
		char s[4] = { 'a', (char)c, 'b' };

		taken += ab_host_parse(s, 3, &h, NULL) == 0;
	}
	ok(taken == 26 + 26 + 10 + 3, "between letters only letters, digits, -, _ and . are taken");

	memset(name, 'a', sizeof(name));
	ok(ab_host_parse(name, 63, &h, NULL) == 0, "a label of 63 bytes");
	ok(ab_host_parse(name, 64, &h, NULL) < 0, "not one of 64");
	for (int i = 1; i < 300; i += 2)
		name[i] = '.';
	ok(ab_host_parse(name, 253, &h, NULL) == 0, "a name of 253 bytes");
	ok(ab_host_parse(name, 254, &h, NULL) == 0, "with the trailing dot 254");
	ok(ab_host_parse(name, 255, &h, NULL) < 0, "not one of 255");
	ok(ab_host_parse(name, 300, &h, NULL) < 0, "nor of 300");
}

static const struct {
	bool v6;
	uint8_t addr[16];
	const char *out;
} addresses[] = {
	{ false, { 127, 0, 0, 1 }, "127.0.0.1" },
	{ false, { 0 }, "0.0.0.0" },
	{ false, { 255, 255, 255, 255 }, "255.255.255.255" },
	{ true, { 0 }, "::" },
	{ true, { [15] = 1 }, "::1" },
	{ true, { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, "2001:db8::1" },
	{ true, { [10] = 0xff, 0xff, 127, 0, 0, 1 }, "127.0.0.1" },
	{ true, { 0, 0x64, 0xff, 0x9b, [12] = 10, 1, 2, 3 }, "10.1.2.3" },
	{ true, { 0, 0x64, 0xff, 0x9b, 0, 1, [15] = 1 }, "64:ff9b:1::1" },
	{ true, { [9] = 1, 0xff, 0xff, 127, 0, 0, 1 }, "::1:ffff:7f00:1" },
};

static void test_addresses(void)
{
	for (size_t i = 0; i < AB_COUNT(addresses); i++) {
		struct ab_host h, parsed;
		const char *out = addresses[i].out;

		memset(&h, 0xff, sizeof(h));
		ab_host_from_addr(addresses[i].v6, addresses[i].addr, &h);
		ok(strcmp(h.text, out) == 0, "bytes of %s", out);
		ok(ab_host_parse(out, strlen(out), &parsed, NULL) == 0 &&
			   memcmp(&h, &parsed, sizeof(h)) == 0,
		   "the same host from bytes and from text");
	}
}

static const struct {
	const char *in, *out, *right;
} entries[] = {
	{ "github.com", "github.com", NULL },
	{ "github.com:8080", "github.com:8080", NULL },
	{ "*.Example.com.", "*.example.com", NULL },
	{ "*.x.y:443", "*.x.y:443", NULL },
	{ "127.1:80", "127.0.0.1:80", NULL },
	{ "[::1]:22", "[::1]:22", NULL },
	{ "::1", "::1", NULL },
	{ "[::1]", "::1", NULL },
	{ "[::ffff:1.2.3.4]:5", "1.2.3.4:5", NULL },

	/* ranges */
	{ "203.0.113.0/24", "203.0.113.0/24", NULL },
	{ "203.0.113.0/24:443", "203.0.113.0/24:443", NULL },
	{ "0xa.0/8", "10.0.0.0/8", NULL },
	{ "10.0.0.1/32", "10.0.0.1", NULL },
	{ "10.0.0.1/32:80", "10.0.0.1:80", NULL },
	{ "0.0.0.0/0", "0.0.0.0/0", NULL },
	{ "2001:DB8::/32", "2001:db8::/32", NULL },
	{ "[2001:db8::/32]:22", "[2001:db8::/32]:22", NULL },
	{ "2001:db8::1/128", "2001:db8::1", NULL },
	{ "[2001:db8::1/128]:22", "[2001:db8::1]:22", NULL },
	{ "::ffff:10.0.0.0/104", "10.0.0.0/8", NULL },
	{ "::/0", "::/0", NULL },
	{ "203.0.113.7/24", NULL, "use \"203.0.113.0/24\"" },
	{ "2001:db8::1/32", NULL, "use \"2001:db8::/32\"" },
	{ "10.0.0.0/33", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "10.0.0.0/8:0", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "10.0.0.0/x", NULL, "use \"10.0.0.0\"" },
	{ "github.com/8", NULL, "use \"github.com\"" },
	{ "*.10.0.0.0/8", NULL, "use a name (github.com), *.name, or an address" },

	{ "https://github.com", NULL, "use \"github.com\"" },
	{ "https://github.com/x/y", NULL, "use \"github.com\"" },
	{ "https://user:pw@github.com:8443/x", NULL, "use \"github.com:8443\"" },
	{ "github.com/x", NULL, "use \"github.com\"" },
	{ "git@github.com", NULL, "use \"github.com\"" },
	{ "*", NULL, "for an open network use \"mode\": \"allowed\"" },

	/* other scripts, as a person writes them */
	{ "b\u00fccher.example", "xn--bcher-kva.example", NULL },
	{ "*.B\u00dcCHER.Example.:8080", "*.xn--bcher-kva.example:8080", NULL },
	{ "xn--bcher-kva.b\u00fccher", "xn--bcher-kva.xn--bcher-kva", NULL },
	{ "\u043f\u0440\u0438\u043c\u0435\u0440.test", "xn--e1afmkfd.test", NULL },
	{ "https://b\u00fccher.example/x", NULL, "use \"xn--bcher-kva.example\"" },
	{ "stra\u00dfe.example", NULL,
	  "one of its letters has no form that all programs agree on; "
	  "use the name in its ASCII form (xn--...)" },
	{ "p\u0430ypal.example", NULL,
	  "it mixes letters of several scripts; use the name in its ASCII form (xn--...)" },
	{ "b\xfc", NULL, "it is not UTF-8; use the name in its ASCII form (xn--...)" },
	{ "b\u00fc..example", NULL,
	  "it has other mistakes; use the name in its ASCII form (xn--...)" },
	{ "github.com:0", NULL, "use host:PORT, 1 to 65535" },
	{ "github.com:65536", NULL, "use host:PORT, 1 to 65535" },
	{ "github.com:", NULL, "use host:PORT, 1 to 65535" },
	{ "github.com:http", NULL, "use host:PORT, 1 to 65535" },
	{ "*.1.2.3.4", NULL, "use a name (github.com), *.name, or an address" },
	{ "*.*.a", NULL, "use a name (github.com), *.name, or an address" },
	{ "a.*.b", NULL, "use a name (github.com), *.name, or an address" },
	{ "*.", NULL, "use a name (github.com), *.name, or an address" },
	{ "", NULL, "use a name (github.com), *.name, or an address" },
};

static void test_entries(void)
{
	for (size_t i = 0; i < AB_COUNT(entries); i++) {
		char buf[AB_HOST_ENTRY_TEXT] = "";
		struct ab_complaint why = { .right = "" };
		struct ab_host_entry e;
		const char *in = entries[i].in;
		int r = ab_host_entry_parse(in, strlen(in), &e, &why);

		if (entries[i].out) {
			if (r == 0)
				ab_host_entry_format(&e, buf);
			is_str(buf, entries[i].out, in);
		} else {
			ok(r < 0, "refused: \"%s\"", in);
			is_str(why.right, entries[i].right, "with the way out");
		}
	}
}

static struct ab_host host(const char *s)
{
	struct ab_host h = { 0 };

	if (ab_host_parse(s, strlen(s), &h, NULL) < 0)
		printf("# not a host: %s\n", s);
	return h;
}

static bool allows(const char *entry, const char *name, uint16_t port)
{
	struct ab_host h = host(name);
	struct ab_host_entry e;

	return ab_host_entry_parse(entry, strlen(entry), &e, NULL) == 0 &&
	       ab_host_entry_allows(&e, &h, port);
}

static bool denies(const char *entry, const char *name, uint16_t port)
{
	struct ab_host h = host(name);
	struct ab_host_entry e;

	return ab_host_entry_parse(entry, strlen(entry), &e, NULL) == 0 &&
	       ab_host_entry_denies(&e, &h, port);
}

static void test_matching(void)
{
	ok(allows("a.b", "A.B.", 443), "a name in another spelling");
	ok(!allows("a.b", "xa.b", 443), "not a name that ends alike");
	ok(!allows("a.b", "x.a.b", 443), "not a name below");
	ok(allows("*.a.b", "x.a.b", 443) && allows("*.a.b", "y.x.a.b", 443),
	   "a wildcard: all names below");
	ok(!allows("*.a.b", "a.b", 443), "but not the name itself");
	ok(!allows("*.a.b", "xa.b", 443), "nor one that only ends alike");
	ok(allows("a.b", "a.b", 80) && allows("a.b", "a.b", 22) && !allows("a.b", "a.b", 8080),
	   "without a port: 80, 443 and 22");
	ok(allows("a.b:8080", "a.b", 8080) && !allows("a.b:8080", "a.b", 443),
	   "with a port: only that one");
	ok(allows("127.0.0.1", "0x7f.1", 80), "an address in any spelling");
	ok(denies("a.b", "a.b", 12345), "a denial without a port: every port");
	ok(denies("a.b:22", "a.b", 22) && !denies("a.b:22", "a.b", 23),
	   "a denial with one: that one");
	ok(!allows("*.0.example", "127.0.0.1", 80), "a wildcard never matches an address");
	ok(allows("203.0.113.0/24", "203.0.113.255", 443) &&
		   !allows("203.0.113.0/24", "203.0.114.0", 443),
	   "a range has its last address and not the next");
	ok(allows("203.0.113.0/24", "::ffff:203.0.113.9", 22) &&
		   !allows("203.0.113.0/24", "203.0.113.9", 8080),
	   "in any spelling, with the usual ports");
	ok(allows("[2001:db8::/33]:9", "2001:db8:7fff::1", 9) &&
		   !allows("[2001:db8::/33]:9", "2001:db8:8000::1", 9),
	   "a prefix inside a byte");
	ok(!allows("0.0.0.0/0", "a.b", 443) && !allows("::/0", "a.b", 443) &&
		   !allows("::/0", "203.0.113.9", 443),
	   "a range has no names, and only its own family");
	ok(denies("203.0.113.0/24", "203.0.113.1", 9999), "a denied range: every port");
}

static void test_cover(void)
{
	char *list[] = { (char *)"*.a.b", (char *)"c.d:80", (char *)"c.d:443", (char *)"e.f" };

	ok(ab_hosts_cover(list, 4, "x.a.b", false), "a name under a wildcard");
	ok(ab_hosts_cover(list, 4, "*.x.a.b", false), "a narrower wildcard");
	ok(ab_hosts_cover(list, 4, "x.a.b:22", false), "one of its ports");
	ok(!ab_hosts_cover(list, 4, "x.a.b:8080", false), "not another port");
	ok(!ab_hosts_cover(list, 4, "a.b", false), "not the apex");
	ok(!ab_hosts_cover(list, 4, "*.b", false), "not a wider wildcard");
	ok(ab_hosts_cover(list, 4, "c.d:443", false), "a port that is listed");
	ok(!ab_hosts_cover(list, 4, "c.d", false), "not all three of it");
	ok(!ab_hosts_cover(list, 4, "*.e.f", false), "a name does not cover what is below");
	ok(ab_hosts_cover(list, 4, "e.f:9", true), "a denial without port covers one with");
	ok(!ab_hosts_cover(list, 4, "c.d", true), "denied ports do not cover all ports");
}

static void test_cover_ranges(void)
{
	char *list[] = { (char *)"203.0.112.0/23", (char *)"[2001:db8::/32]:22",
			 (char *)"198.51.100.1" };

	ok(ab_hosts_cover(list, 3, "203.0.113.0/24", false) &&
		   ab_hosts_cover(list, 3, "203.0.112.9:22", false),
	   "a range covers what is in it");
	ok(!ab_hosts_cover(list, 3, "203.0.112.0/22", false) &&
		   !ab_hosts_cover(list, 3, "0.0.0.0/0", false),
	   "not what is larger");
	ok(!ab_hosts_cover(list, 3, "198.51.100.0/24", false) &&
		   ab_hosts_cover(list, 3, "198.51.100.1/32", false),
	   "an address covers itself only");
	ok(ab_hosts_cover(list, 3, "[2001:db8:1::/48]:22", false) &&
		   !ab_hosts_cover(list, 3, "2001:db8:1::/48", false),
	   "ports are kept to");
	ok(!ab_hosts_cover(list, 3, "a.b", false), "no range covers a name");
}

/* What may be in a list that allows. */
static void test_width(void)
{
	static const struct {
		const char *entry;
		bool may;
	} cases[] = {
		{ "*.com", false },	     { "*.COM.:443", false },
		{ "*.xn--p1ai", false },     { "*.co", false },
		{ "*.my_net", false },	     { "*.github.com", true },
		{ "*.co.uk", true },	     { "com", true },
		{ "my_db", true },	     { "*.test", true },
		{ "*.internal:8080", true }, { "*.lan", true },
		{ "203.0.113.0/24", true },  { "::/0", true },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_complaint why = { .right = "" };
		struct ab_host_entry e;

		ok(ab_host_entry_parse(cases[i].entry, strlen(cases[i].entry), &e, NULL) == 0 &&
			   (ab_host_entry_may_allow(&e, &why) == 0) == cases[i].may &&
			   !why.wrong[0] == cases[i].may,
		   "%s %s", cases[i].entry, cases[i].may ? "may allow" : why.wrong);
	}
}

static uint32_t seed = 1;
static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* What is said to be covered must be: each host and port that the entry means
 * is meant by one of the list. */
static void test_cover_is_sound(void)
{
	static const char *const pool[] = {
		"a.b",
		"*.a.b",
		"x.a.b",
		"*.x.a.b",
		"*.b",
		"a.b:22",
		"*.a.b:8080",
		"x.a.b:443",
		"10.0.0.0/8",
		"10.1.0.0/16",
		"10.1.0.0/15",
		"10.1.2.3",
		"10.1.2.3:22",
		"0.0.0.0/0",
		"10.0.0.0/8:22",
		"10.1.2.2/31",
		"10.1.2.3:8080",
		"::/0",
		"2001:db8::/32",
		"2001:db8::1",
		"[2001:db8::/32]:22",
		"[2001:db8::1]:443",
	};
	static const char *const names[] = {
		"a.b",	       "x.a.b",	       "y.x.a.b",     "z.b",	   "b",
		"10.1.2.3",    "10.1.2.2",     "10.0.9.9",    "192.0.2.1", "10.0.0.0",
		"2001:db8::1", "2001:db8:1::", "2001:db9::1",
	};
	static const uint16_t ports[] = { 22, 80, 443, 8080, 9 };
	size_t covered = 0, wrong = 0;

	for (int i = 0; i < 20000; i++) {
		bool deny = rnd(2);
		const char *one = pool[rnd(AB_COUNT(pool))];
		char *list[4];
		size_t n = rnd(5);

		for (size_t k = 0; k < n; k++)
			list[k] = (char *)(uintptr_t)pool[rnd(AB_COUNT(pool))];
		if (!ab_hosts_cover(list, n, one, deny))
			continue;
		covered++;
		for (size_t h = 0; h < AB_COUNT(names); h++)
			for (size_t p = 0; p < AB_COUNT(ports); p++) {
				bool means = deny ? denies(one, names[h], ports[p])
						  : allows(one, names[h], ports[p]);
				bool has = false;

				for (size_t k = 0; k < n; k++)
					has |= deny ? denies(list[k], names[h], ports[p])
						    : allows(list[k], names[h], ports[p]);
				wrong += means && !has;
			}
	}
	ok(covered > 2000, "%zu random entries were covered", covered);
	ok(wrong == 0, "and all that they mean is in what covers them");
}

/* Random texts from an alphabet that is likely to hit the rules. */
static void test_properties(void)
{
	static const char alphabet[] = "aZ09.-:[]*xf@/_\0 e/18";
	size_t parsed = 0, unstable = 0, loose = 0;

	for (int i = 0; i < 300000; i++) {
		char s[24], buf[AB_HOST_ENTRY_TEXT], again[AB_HOST_ENTRY_TEXT];
		struct ab_host_entry e, f;
		size_t n = rnd(sizeof(s));

		for (size_t k = 0; k < n; k++)
			s[k] = alphabet[rnd(sizeof(alphabet) - 1)];
		if (ab_host_entry_parse(s, n, &e, NULL) < 0)
			continue;
		parsed++;
		ab_host_entry_format(&e, buf);
		again[0] = '\0';
		if (ab_host_entry_parse(buf, strlen(buf), &f, NULL) == 0)
			ab_host_entry_format(&f, again);
		unstable += strcmp(buf, again) != 0 || e.host.kind != f.host.kind ||
			    memcmp(e.host.addr, f.host.addr, 16) != 0;
		for (const char *p = e.host.text; *p; p++)
			loose += !strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.:", *p);
	}
	ok(parsed > 5000, "%zu random entries were taken", parsed);
	ok(unstable == 0, "the canonical text parses to itself");
	ok(loose == 0, "and has no character that is not its own");
}

int main(void)
{
	test_hosts();
	test_bytes();
	test_addresses();
	test_entries();
	test_matching();
	test_cover();
	test_cover_ranges();
	test_width();
	test_cover_is_sound();
	test_properties();
	return done();
}
