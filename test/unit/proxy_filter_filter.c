#include "proxy/filter/filter.h"

#include <stdlib.h>

#include "base/data/mem.h"
#include "policy/values/cidr.h"
#include "proxy/filter/hostset.h"
#include "proxy/filter/ranges.h"
#include "proxy_filter_walk.h"
#include "tap.h"

static struct ab_host host(const char *s)
{
	struct ab_host h = { .text = "" };

	if (ab_host_parse(s, strlen(s), &h, NULL) < 0)
		printf("# not a host: %s\n", s);
	return h;
}

/* "a b c" as a list. */
static struct ab_strv list(const char *words)
{
	struct ab_strv sv = { 0 };

	while (*words) {
		size_t n = strcspn(words, " ");

		if (n)
			ab_strv_give(&sv, ab_strndup(words, n));
		words += n + (words[n] == ' ');
	}
	return sv;
}

static struct ab_filter *filter_of(const char *allow, const char *deny, const char *inner, bool ask)
{
	struct ab_policy p = { .net = { .allow = list(allow),
					.deny = list(deny),
					.allow_private = list(inner),
					.unknown = ask ? AB_UNKNOWN_ASK : AB_UNKNOWN_DENY } };
	struct ab_filter *f = ab_filter_new(&p);

	ab_strv_fini(&p.net.allow);
	ab_strv_fini(&p.net.deny);
	ab_strv_fini(&p.net.allow_private);
	return f;
}

static struct ab_addr own_addresses[] = {
	{ true, { 0x20, 0x01, 0x0d, 0xb8, [15] = 9 } },
	{ false, { 198, 51, 100, 9 } },
	{ false, { 10, 0, 0, 9 } },
};
static struct ab_own own = { .v = own_addresses, .len = AB_COUNT(own_addresses) };

#define DENY AB_ACCESS_DENY
#define ASK AB_ACCESS_ASK
#define ALLOW AB_ACCESS_ALLOW

static const struct {
	const char *allow, *deny, *inner;
	const char *host;
	uint16_t port;
	enum ab_access access;
	enum ab_basis basis;
	const char *entry;
} cases[] = {
#define NONE AB_BASIS_NONE, ""
	{ "", "", "", "a.b", 443, DENY, NONE },
	{ "a.b", "", "", "a.b", 443, ALLOW, AB_BASIS_ALLOW, "a.b" },
	{ "a.b", "", "", "A.B.", 80, ALLOW, AB_BASIS_ALLOW, "a.b" },
	{ "a.b", "", "", "a.b", 22, ALLOW, AB_BASIS_ALLOW, "a.b" },
	{ "a.b", "", "", "a.b", 8080, DENY, AB_BASIS_PORT, "a.b" },
	{ "a.b", "", "", "a.b", 0, DENY, AB_BASIS_PORT, "a.b" },
	{ "a.b:8080", "", "", "a.b", 8080, ALLOW, AB_BASIS_ALLOW, "a.b:8080" },
	{ "a.b:8080", "", "", "a.b", 443, DENY, AB_BASIS_PORT, "a.b:8080" },
	{ "a.b:8080 a.b:81", "", "", "a.b", 81, ALLOW, AB_BASIS_ALLOW, "a.b:81" },

	/* wildcards: strictly below */
	{ "*.a.b", "", "", "x.a.b", 443, ALLOW, AB_BASIS_ALLOW, "*.a.b" },
	{ "*.a.b", "", "", "z.y.x.a.b", 443, ALLOW, AB_BASIS_ALLOW, "*.a.b" },
	{ "*.a.b", "", "", "a.b", 443, DENY, NONE },
	{ "*.a.b", "", "", "xa.b", 443, DENY, NONE },
	{ "*.a.b", "", "", "b", 443, DENY, NONE },
	{ "*.com", "", "", "com", 443, DENY, NONE },
	{ "*.a.b:9", "", "", "x.a.b", 9, ALLOW, AB_BASIS_ALLOW, "*.a.b:9" },
	{ "*.a.b:9", "", "", "x.a.b", 443, DENY, AB_BASIS_PORT, "*.a.b:9" },
	{ "*.a.b x.a.b", "", "", "x.a.b", 443, ALLOW, AB_BASIS_ALLOW, "x.a.b" },
	{ "*.b *.a.b", "", "", "x.a.b", 443, ALLOW, AB_BASIS_ALLOW, "*.a.b" },

	/* names that look alike */
	{ "github.com *.github.com", "", "", "notgithub.com", 443, DENY, NONE },
	{ "github.com *.github.com", "", "", "github.com.evil.org", 443, DENY, NONE },
	{ "github.com *.github.com", "", "", "github.co", 443, DENY, NONE },
	{ "github.com *.github.com", "", "", "github-com", 443, DENY, NONE },
	{ "github.com *.github.com", "", "", "hub.com", 443, DENY, NONE },
	{ "github.com *.github.com", "", "", "com", 443, DENY, NONE },
	{ "github.com *.github.com", "", "", "evil.org.github.com", 443, ALLOW, AB_BASIS_ALLOW,
	  "*.github.com" },

	/* deny first, whatever is nearer */
	{ "a.b", "a.b", "", "a.b", 443, DENY, AB_BASIS_DENY, "a.b" },
	{ "x.a.b:443", "*.a.b", "", "x.a.b", 443, DENY, AB_BASIS_DENY, "*.a.b" },
	{ "x.a.b", "*.b", "", "x.a.b", 443, DENY, AB_BASIS_DENY, "*.b" },
	{ "a.b", "a.b:22", "", "a.b", 22, DENY, AB_BASIS_DENY, "a.b:22" },
	{ "a.b", "a.b:22", "", "a.b", 443, ALLOW, AB_BASIS_ALLOW, "a.b" },
	{ "a.b:8080", "a.b", "", "a.b", 8080, DENY, AB_BASIS_DENY, "a.b" },
	{ "*.a.b", "x.a.b", "", "y.x.a.b", 443, ALLOW, AB_BASIS_ALLOW, "*.a.b" },
	{ "", "a.b", "", "a.b", 1, DENY, AB_BASIS_DENY, "a.b" },

	/* addresses and ranges, for literals only */
	{ "203.0.113.7", "", "", "203.0.113.7", 443, ALLOW, AB_BASIS_ALLOW, "203.0.113.7" },
	{ "203.0.113.7", "", "", "0xcb007107", 443, ALLOW, AB_BASIS_ALLOW, "203.0.113.7" },
	{ "203.0.113.7", "", "", "::ffff:203.0.113.7", 443, ALLOW, AB_BASIS_ALLOW, "203.0.113.7" },
	{ "203.0.113.7", "", "", "64:ff9b::cb00:7107", 443, ALLOW, AB_BASIS_ALLOW, "203.0.113.7" },
	{ "203.0.113.0/24:443", "", "", "203.0.113.255", 443, ALLOW, AB_BASIS_ALLOW,
	  "203.0.113.0/24:443" },
	{ "203.0.113.0/24:443", "", "", "203.0.113.1", 80, DENY, AB_BASIS_PORT,
	  "203.0.113.0/24:443" },
	{ "203.0.113.0/24", "", "", "203.0.114.0", 443, DENY, NONE },
	{ "0.0.0.0/0", "", "", "8.8.8.8", 443, ALLOW, AB_BASIS_ALLOW, "0.0.0.0/0" },
	{ "0.0.0.0/0 ::/0", "", "", "a.b", 443, DENY, NONE },
	{ "::/0", "", "", "8.8.8.8", 443, DENY, NONE },
	{ "2400::/12 2400:1::/32", "", "", "2400:1::5", 443, ALLOW, AB_BASIS_ALLOW, "2400:1::/32" },
	{ "0.0.0.0/0", "8.8.0.0/16", "", "8.8.8.8", 443, DENY, AB_BASIS_DENY, "8.8.0.0/16" },
	{ "8.8.8.8:53", "8.8.0.0/16:53", "", "8.8.8.8", 53, DENY, AB_BASIS_DENY, "8.8.0.0/16:53" },
	{ "*.8.example", "", "", "8.8.8.8", 443, DENY, NONE },

	/* denied ranges come before every list, in every spelling */
	{ "10.1.2.3", "", "", "10.1.2.3", 443, DENY, AB_BASIS_RANGE, "10.0.0.0/8 (private)" },
	{ "0.0.0.0/0", "", "", "10.1.2.3", 443, DENY, AB_BASIS_RANGE, "10.0.0.0/8 (private)" },
	{ "10.1.2.3", "10.1.2.3", "", "10.1.2.3", 443, DENY, AB_BASIS_RANGE,
	  "10.0.0.0/8 (private)" },
	{ "127.0.0.1", "", "", "0177.1", 80, DENY, AB_BASIS_RANGE, "127.0.0.0/8 (loopback)" },
	{ "127.0.0.1", "", "", "::ffff:127.0.0.1", 80, DENY, AB_BASIS_RANGE,
	  "127.0.0.0/8 (loopback)" },
	{ "::1", "", "", "::1", 80, DENY, AB_BASIS_RANGE, "::1/128 (loopback)" },
	{ "", "", "", "169.254.169.254", 80, DENY, AB_BASIS_RANGE,
	  "169.254.169.254 (cloud metadata)" },
	{ "", "", "", "64:ff9b::169.254.169.254", 80, DENY, AB_BASIS_RANGE,
	  "169.254.169.254 (cloud metadata)" },
	{ "168.63.129.16", "", "", "168.63.129.16", 80, DENY, AB_BASIS_RANGE,
	  "168.63.129.16 (cloud metadata)" },
	{ "", "", "", "0", 80, DENY, AB_BASIS_RANGE, "0.0.0.0/8 (this host)" },

	/* lifted: for that address and port, and then it needs its entry */
	{ "", "", "10.1.2.0/24", "10.1.2.3", 443, DENY, NONE },
	{ "10.1.2.3", "", "10.1.2.0/24", "10.1.2.3", 443, ALLOW, AB_BASIS_ALLOW, "10.1.2.3" },
	{ "10.1.2.3:5432", "", "10.1.2.3/32:5432", "10.1.2.3", 5432, ALLOW, AB_BASIS_ALLOW,
	  "10.1.2.3:5432" },
	{ "10.1.2.3", "", "10.1.2.3/32:5432", "10.1.2.3", 443, DENY, AB_BASIS_RANGE,
	  "10.0.0.0/8 (private)" },
	{ "10.1.3.3", "", "10.1.2.0/24", "10.1.3.3", 443, DENY, AB_BASIS_RANGE,
	  "10.0.0.0/8 (private)" },
	{ "10.1.2.3", "10.0.0.0/8", "10.1.2.0/24", "10.1.2.3", 443, DENY, AB_BASIS_DENY,
	  "10.0.0.0/8" },
	{ "10.1.2.3", "", "10.1.2.3/32", "10.1.2.3", 0, DENY, AB_BASIS_PORT, "10.1.2.3" },

	/* the machine's own addresses */
	{ "198.51.100.9", "", "", "198.51.100.9", 443, DENY, AB_BASIS_OWN, "" },
	{ "2001:db8::9", "", "", "2001:db8::9", 443, DENY, AB_BASIS_OWN, "" },
	{ "198.51.100.9", "", "198.51.100.9/32:443", "198.51.100.9", 443, ALLOW, AB_BASIS_ALLOW,
	  "198.51.100.9" },
	{ "198.51.100.8", "", "", "198.51.100.8", 443, ALLOW, AB_BASIS_ALLOW, "198.51.100.8" },
	{ "10.0.0.9", "", "", "10.0.0.9", 443, DENY, AB_BASIS_RANGE, "10.0.0.0/8 (private)" },
};

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct ab_host h = host(cases[i].host);
		bool decided = cases[i].access == ALLOW || cases[i].basis == AB_BASIS_RANGE ||
			       cases[i].basis == AB_BASIS_OWN || cases[i].basis == AB_BASIS_DENY;

		for (int ask = 0; ask < 2; ask++) {
			struct ab_filter *f =
				filter_of(cases[i].allow, cases[i].deny, cases[i].inner, ask);
			struct ab_verdict v;

			ab_filter_judge(f, &own, &h, cases[i].port, &v);
			ok(v.access == (ask && !decided ? ASK : cases[i].access) &&
				   v.basis == cases[i].basis &&
				   strcmp(v.entry, cases[i].entry) == 0,
			   "%s:%u, allow [%s] deny [%s] lift [%s]%s: %d %d %s", cases[i].host,
			   cases[i].port, cases[i].allow, cases[i].deny, cases[i].inner,
			   ask ? " ask" : "", v.access, v.basis, v.entry);
			ab_filter_free(f);
		}
	}
}

/* The contract's list, and what stands right before and behind each range. */
static const struct {
	const char *range, *before, *first, *last, *behind;
} ranges[] = {
	{ "0.0.0.0/8", NULL, "0.0.0.0", "0.255.255.255", "1.0.0.0" },
	{ "10.0.0.0/8", "9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0" },
	{ "100.64.0.0/10", "100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0" },
	{ "127.0.0.0/8", "126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0" },
	{ "169.254.0.0/16", "169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0" },
	{ "172.16.0.0/12", "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0" },
	{ "192.0.0.0/24", "191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0" },
	{ "192.168.0.0/16", "192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0" },
	{ "198.18.0.0/15", "198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0" },
	{ "224.0.0.0/4", "223.255.255.255", "224.0.0.0", "239.255.255.255", NULL },
	{ "240.0.0.0/4", NULL, "240.0.0.0", "255.255.255.255", NULL },
	{ "::/128", NULL, "::", "::", NULL },
	{ "::1/128", NULL, "::1", "::1", "::1:0:0:0" },
	{ "64:ff9b:1::/48", "64:ff9b:0:ffff::", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
	  "64:ff9b:2::" },
	{ "2001::/32", "2000:ffff::", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff",
	  "2001:1::" },
	{ "2002::/16", "2001:ffff::", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	  "2003::" },
	{ "fc00::/7", "fbff::", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::" },
	{ "fe80::/10", "fe7f::", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
	{ "fec0::/10", NULL, "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
	{ "ff00::/8", NULL, "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
	{ "100.100.100.200/32", NULL, "100.100.100.200", "100.100.100.200", NULL },
	{ "168.63.129.16/32", "168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17" },
	{ "192.0.0.192/32", NULL, "192.0.0.192", "192.0.0.192", NULL },
	{ "fd00:ec2::254/128", NULL, "fd00:ec2::254", "fd00:ec2::254", NULL },
};

static bool is_closed(const char *addr)
{
	struct ab_host h = host(addr);

	return ab_range_find(&h) != NULL;
}

static bool covers(const struct ab_cidr *a, const struct ab_cidr *b)
{
	return a->v6 == b->v6 && a->bits <= b->bits && a->port == b->port &&
	       ab_same_prefix(a->addr, b->addr, a->bits);
}

static void test_ranges(void)
{
	size_t bad = 0;
	struct ab_host h = host("a.b");

	for (size_t i = 0; i < AB_COUNT(ranges); i++) {
		ok(is_closed(ranges[i].first) && is_closed(ranges[i].last), "%s is closed",
		   ranges[i].range);
		ok((!ranges[i].before || !is_closed(ranges[i].before)) &&
			   (!ranges[i].behind || !is_closed(ranges[i].behind)),
		   "what is beside it is not");
	}
	for (size_t i = 0; i < ab_range_count; i++) {
		const struct ab_range *r = &ab_ranges[i];
		size_t n = strcspn(r->text, " ");
		struct ab_cidr c;

		/* 64:ff9b::/96 and the like parse as what they wrap. */
		if (r->cidr.v6 && r->cidr.bits == 96)
			continue;
		bad += ab_cidr_parse(r->text, n, &c, NULL) < 0 || !covers(&c, &r->cidr) ||
		       !covers(&r->cidr, &c) || r->text[n + 1] != '(';
		for (size_t k = 0; k < i; k++)
			bad += covers(&ab_ranges[k].cidr, &r->cidr);
	}
	ok(bad == 0, "the table says what it has, the narrower one first");
	ok(!ab_range_find(&h), "a name is in no range");

	/* What should not exist is refused, not trusted. */
	h = (struct ab_host){ .kind = AB_HOST_IPV6, .addr = { [10] = 0xff, 0xff, 8, 8, 8, 8 } };
	ok(ab_range_find(&h), "a wrapped address that is not unwrapped");
	h.addr[10] = h.addr[11] = 0;
	ok(ab_range_find(&h), "in the old form too");
}

static void test_addresses(void)
{
	struct ab_filter *f =
		filter_of("a.b 10.1.2.3", "203.0.113.0/24:443", "10.9.0.0/16:5432", true);
	static const struct {
		const char *addr;
		uint16_t port;
		bool may;
		enum ab_basis basis;
	} answers[] = {
		{ "8.8.8.8", 443, true, AB_BASIS_NONE },
		{ "2606:4700::1", 443, true, AB_BASIS_NONE },
		{ "10.1.2.3", 443, false, AB_BASIS_RANGE },
		{ "127.0.0.1", 443, false, AB_BASIS_RANGE },
		{ "fd00::1", 443, false, AB_BASIS_RANGE },
		{ "10.9.1.1", 5432, true, AB_BASIS_NONE },
		{ "10.9.1.1", 443, false, AB_BASIS_RANGE },
		{ "198.51.100.9", 443, false, AB_BASIS_OWN },
		{ "203.0.113.5", 443, false, AB_BASIS_DENY },
		{ "203.0.113.5", 80, true, AB_BASIS_NONE },
		{ "a.b", 443, false, AB_BASIS_NONE },
	};

	for (size_t i = 0; i < AB_COUNT(answers); i++) {
		struct ab_host h = host(answers[i].addr);
		struct ab_verdict v;
		bool may = ab_filter_address(f, &own, &h, answers[i].port, &v);

		ok(may == answers[i].may && v.basis == answers[i].basis &&
			   v.access == (may ? ALLOW : DENY),
		   "an allowed name that leads to %s:%u", answers[i].addr, answers[i].port);
	}
	ab_filter_free(f);
}

static void test_resolvable(void)
{
	static const struct {
		const char *allow, *deny, *name;
		bool ask, may;
		enum ab_basis basis;
	} names[] = {
		{ "a.b", "", "a.b", false, true, AB_BASIS_ALLOW },
		{ "a.b:8080", "", "a.b", false, true, AB_BASIS_ALLOW },
		{ "*.a.b:8080", "", "x.a.b", false, true, AB_BASIS_ALLOW },
		{ "*.a.b", "", "a.b", false, false, AB_BASIS_NONE },
		{ "", "", "a.b", false, false, AB_BASIS_NONE },
		{ "", "", "a.b", true, true, AB_BASIS_NONE },
		{ "", "a.b", "a.b", true, false, AB_BASIS_DENY },
		{ "x.a.b", "*.a.b", "x.a.b", true, false, AB_BASIS_DENY },
		{ "a.b", "a.b:22", "a.b", false, true, AB_BASIS_ALLOW },
		{ "203.0.113.7", "", "203.0.113.7", true, false, AB_BASIS_NONE },
	};

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		struct ab_filter *f = filter_of(names[i].allow, names[i].deny, "", names[i].ask);
		struct ab_host h = host(names[i].name);
		struct ab_verdict v;
		bool may = ab_filter_resolvable(f, &h, &v);

		ok(may == names[i].may && v.basis == names[i].basis,
		   "is %s answered, allow [%s] deny [%s]", names[i].name, names[i].allow,
		   names[i].deny);
		ab_filter_free(f);
	}
}

/*
 * Random lists against the plainest way to decide: walk every list and ask
 * each entry. The words meet, miss and include each other.
 */
static uint32_t seed = 3;
static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static const char *const entry_pool[] = {
	"a.b",	      "*.a.b",	  "x.a.b",	     "*.x.a.b",	   "*.b",	   "b",
	"xa.b",	      "a.b.c",	  "*.a.b.c",	     "github.com", "*.github.com", "notgithub.com",
	"*.com",      "8.8.8.8",  "8.8.8.0/24",	     "8.8.8.8/31", "8.0.0.0/8",	   "0.0.0.0/0",
	"10.0.0.0/8", "10.1.2.3", "127.0.0.1",	     "2606::/16",  "2606:4700::1", "2606:4700::/44",
	"::/0",	      "fd00::/8", "198.51.100.0/24",
};
/* clang-format off */
static const char *const host_pool[] = {
	"a.b", "A.b.", "x.a.b", "y.x.a.b", "b", "z.b", "xa.b", "a.b.c",
	"q.a.b.c", "github.com", "api.github.com", "notgithub.com",
	"github.com.evil.org", "github.com.", "GITHUB.com", "com", "org",
	"8.8.8.8", "8.8.8.9", "8.8.9.1", "0x08080808", "::ffff:8.8.8.8",
	"64:ff9b::808:808", "134744072", "9.9.9.9", "10.1.2.3", "10.1.2.4",
	"127.0.0.1", "127.1", "::1", "2606:4700::1", "2606:4700::2",
	"2606:4701::", "2607::", "fd00::5", "198.51.100.9", "198.51.100.10",
	"169.254.169.254", "0.0.0.0", "255.255.255.255",
};
/* clang-format on */
static const uint16_t port_pool[] = { 22, 80, 443, 8080, 5432, 1, 65535 };

static struct ab_strv random_list(size_t max, bool addresses)
{
	struct ab_strv sv = { 0 };
	size_t n = rnd((uint32_t)max);

	while (sv.len < n) {
		const char *word = entry_pool[rnd(AB_COUNT(entry_pool))];
		char text[AB_HOST_ENTRY_TEXT];
		struct ab_host_entry e;

		if (ab_host_entry_parse(word, strlen(word), &e, NULL) < 0 ||
		    (addresses && e.host.kind == AB_HOST_NAME))
			continue;
		if (rnd(2))
			e.port = port_pool[rnd(AB_COUNT(port_pool))];
		ab_host_entry_format(&e, text);
		ab_strv_add(&sv, text);
	}
	return sv;
}

/* Does the entry that a verdict names mean what was decided? */
static bool entry_is_true(const struct ab_policy *p, const struct ab_verdict *v,
			  const struct ab_host *h, uint16_t port)
{
	const struct ab_strv *sv = v->basis == AB_BASIS_DENY ? &p->net.deny : &p->net.allow;
	struct ab_strv one = { (char *[]){ (char *)(uintptr_t)v->entry }, 1 };

	switch (v->basis) {
	case AB_BASIS_NONE:
	case AB_BASIS_OWN:
		return v->entry[0] == '\0';
	case AB_BASIS_RANGE:
		return strstr(v->entry, " (") != NULL;
	case AB_BASIS_DENY:
		return ab_strv_has(sv, v->entry) && walk(&one, h, port, true);
	case AB_BASIS_ALLOW:
		return ab_strv_has(sv, v->entry) && walk(&one, h, port, false);
	case AB_BASIS_PORT:
		return ab_strv_has(sv, v->entry) && !walk(&one, h, port, false);
	case AB_BASIS_GRANT: /* not of the lists */
	case AB_BASIS_LEARNED:
	case AB_BASIS_BOUND:
	case AB_BASIS_QUIET:
		return false;
	}
	return false;
}

static void test_quiet(void)
{
	struct ab_policy p = { .net = { .unknown = AB_UNKNOWN_ASK } };
	struct ab_own none = { 0 };
	struct ab_filter *filter;
	struct ab_verdict v;
	struct ab_host host;

	ab_strv_add(&p.net.allow, "both.example");
	ab_strv_add(&p.net.quiet, "both.example");
	ab_strv_add(&p.net.quiet, "*.stats.example");
	filter = ab_filter_new(&p);
	ab_host_parse("a.stats.example", 15, &host, NULL);
	ab_filter_judge(filter, &none, &host, 443, &v);
	ok(v.access == AB_ACCESS_DENY && v.basis == AB_BASIS_QUIET &&
		   strcmp(v.entry, "*.stats.example") == 0,
	   "a quiet host is denied");
	ok(!ab_filter_resolvable(filter, &host, &v) && v.basis == AB_BASIS_QUIET,
	   "and does not resolve");
	ab_filter_other(filter, &v);
	ok(v.access == AB_ACCESS_ASK, "another one is asked about");
	ab_host_parse("both.example", 12, &host, NULL);
	ab_filter_judge(filter, &none, &host, 443, &v);
	ok(v.access == AB_ACCESS_ALLOW, "the allow list comes first");
	ab_filter_free(filter);
	p.net.unknown = AB_UNKNOWN_LEARN;
	filter = ab_filter_new(&p);
	ab_host_parse("a.stats.example", 15, &host, NULL);
	ab_filter_judge(filter, &none, &host, 443, &v);
	ok(v.basis == AB_BASIS_LEARNED, "learning hears of all of them");
	ab_filter_free(filter);
	ab_strv_fini(&p.net.allow);
	ab_strv_fini(&p.net.quiet);
}

static void test_random(void)
{
	size_t seen[6] = { 0 }, wrong = 0, untrue = 0, unresolved = 0, cut = 0;

	for (int i = 0; i < (SANITIZED ? 1500 : 6000); i++) {
		struct ab_policy p = { .net = { .allow = random_list(7, false),
						.deny = random_list(3, false),
						.allow_private = random_list(3, true),
						.unknown = rnd(2) ? AB_UNKNOWN_ASK
								  : AB_UNKNOWN_DENY } };
		struct ab_filter *f = ab_filter_new(&p);

		for (int k = 0; k < 6; k++) {
			struct ab_host h = host(host_pool[rnd(AB_COUNT(host_pool))]);
			uint16_t port = port_pool[rnd(AB_COUNT(port_pool))];
			struct ab_verdict v, r;
			enum ab_basis basis;
			enum ab_access access = walk_all(&p, &own, &h, port, &basis);

			ab_filter_judge(f, &own, &h, port, &v);
			if (v.access != access || v.basis != basis) {
				wrong++;
				printf("# %s:%u: %d %d, not %d %d\n", h.text, port, v.access,
				       v.basis, access, basis);
			}
			untrue += !entry_is_true(&p, &v, &h, port);
			seen[v.basis]++;
			if (h.kind == AB_HOST_NAME)
				unresolved += access != DENY && !ab_filter_resolvable(f, &h, &r);
			else
				cut += ab_filter_address(f, &own, &h, port, &r) !=
				       (basis != AB_BASIS_RANGE && basis != AB_BASIS_OWN &&
					basis != AB_BASIS_DENY);
		}
		ab_filter_free(f);
		ab_strv_fini(&p.net.allow);
		ab_strv_fini(&p.net.deny);
		ab_strv_fini(&p.net.allow_private);
	}
	for (int i = 0; i < 6; i++)
		ok(seen[i] > 30, "%zu random decisions on basis %d", seen[i], i);
	ok(wrong == 0, "all as by walking the lists");
	ok(untrue == 0, "each names an entry that means it");
	ok(unresolved == 0, "no name that may be reached goes unanswered");
	ok(cut == 0, "an address is dialled unless a range or the list forbids");
}

static struct ab_strv large(size_t n)
{
	struct ab_strv sv = { ab_alloc((n + 1) * sizeof(char *)), 0 };

	while (sv.len < n) {
		size_t i = sv.len;

		sv.v[sv.len++] =
			i % 4 == 0   ? ab_printf("*.d%zu.example", i)
			: i % 4 == 1 ? ab_printf("h%zu.example:%zu", i, i % 60000 + 1)
			: i % 4 == 2 ? ab_printf("20.%zu.%zu.%zu", i >> 16, i >> 8 & 255, i & 255)
				     : ab_printf("2400:%zx:%zx::/%d", i >> 16, i & 65535, 48);
	}
	return sv;
}

/* The most slots read for one key. */
static size_t count_longest(const struct ab_hostset *set)
{
	size_t longest = 0, run = 0;

	/* Twice around, because a run of slots may wrap. */
	for (size_t i = 0; i < 2 * (set->mask + 1); i++) {
		run = set->slots[i & set->mask] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest + 1;
}

static void test_large(void)
{
	static const size_t sizes[] = { 10, 1000, 100000 };

	for (size_t i = 0; i < AB_COUNT(sizes); i++) {
		size_t n = sizes[i], found = 0;
		struct ab_strv sv = large(n);
		struct ab_hostset set;

		ab_hostset_init(&set, &sv);
		for (size_t k = 0; k < n; k++) {
			struct ab_host_entry e;
			const char *text;
			struct ab_host h;

			ab_host_entry_parse(sv.v[k], strlen(sv.v[k]), &e, NULL);
			h = e.host;
			if (e.below)
				snprintf(h.text, sizeof(h.text), "x.%.200s", e.host.text);
			text = ab_hostset_find(&set, &h, e.port);
			found += text && strcmp(text, sv.v[k]) == 0;
		}
		ok(found == n, "each of %zu entries is found", n);
		/* With half of the slots free, runs are short whatever the
		 * size: a bad hash would show as one of thousands. */
		ok(count_longest(&set) < 64, "a key takes at most %zu slots", count_longest(&set));
		ab_hostset_fini(&set);
		ab_strv_fini(&sv);
	}
}

/* One host with every port, as one list can have it. */
static void test_ports(void)
{
	struct ab_strv sv = { ab_alloc(65536 * sizeof(char *)), 0 };
	struct ab_host h = host("a.b");
	struct ab_hostset set;
	size_t found = 0;

	while (sv.len < 65535) {
		size_t port = sv.len + 1;

		sv.v[sv.len++] = ab_printf("a.b:%zu", port);
	}
	ab_hostset_init(&set, &sv);
	for (uint32_t port = 1; port < 65536; port++)
		found += ab_hostset_find(&set, &h, (uint16_t)port) != NULL;
	ok(found == 65535 && !ab_hostset_find(&set, &h, 0) && count_longest(&set) < 64,
	   "65,535 ports of one host take at most %zu slots each", count_longest(&set));
	ab_hostset_fini(&set);
	ab_strv_fini(&sv);
}

int main(void)
{
	ab_own_sort(&own);
	test_cases();
	test_ranges();
	test_addresses();
	test_resolvable();
	test_quiet();
	test_random();
	test_large();
	test_ports();
	return done();
}
