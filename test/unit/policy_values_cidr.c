#include "policy/values/cidr.h"

#include "base/data/mem.h"
#include "policy/values/complaint.h"
#include "policy/values/host.h"
#include "tap.h"

static const struct {
	const char *in, *out, *right;
} cases[] = {
	{ "10.1.2.0/24", "10.1.2.0/24", NULL },
	{ "10.1.2.3", "10.1.2.3/32", NULL },
	{ "10.1.2.3:5432", "10.1.2.3/32:5432", NULL },
	{ "10.1.2.0/24:5432", "10.1.2.0/24:5432", NULL },
	{ "0.0.0.0/0", "0.0.0.0/0", NULL },
	{ "0xa.0/8", "10.0.0.0/8", NULL },
	{ "fd00::/8", "fd00::/8", NULL },
	{ "::1", "::1/128", NULL },
	{ "[fd00::/8]:22", "[fd00::/8]:22", NULL },
	{ "[::1]:22", "[::1/128]:22", NULL },
	{ "::ffff:10.0.0.0/104", "10.0.0.0/8", NULL },

	{ "10.1.2.3/24", NULL, "use \"10.1.2.0/24\"" },
	{ "fd00::1/8", NULL, "use \"fd00::/8\"" },
	{ "10.0.0.0/33", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "::/129", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "::ffff:0:0/90", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "localhost", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "10.0.0.0/", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "/8", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "10.0.0.0/8:0", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "10.0.0.0/8:99999", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "[fd00::/8", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "[fd00::/8]22", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
	{ "", NULL, "use one like 10.1.2.0/24 or 10.1.2.3:5432" },
};

static struct ab_cidr cidr(const char *s)
{
	struct ab_cidr c = { 0 };

	ab_cidr_parse(s, strlen(s), &c, NULL);
	return c;
}

static bool has(const char *range, const char *addr, uint16_t port)
{
	struct ab_cidr c = cidr(range);
	struct ab_host h;

	return ab_host_parse(addr, strlen(addr), &h, NULL) == 0 && ab_cidr_has(&c, &h, port);
}

static bool covers(const char *a, const char *b)
{
	char *list[] = { (char *)a };

	return ab_hosts_cover(list, 1, b, true);
}

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		char buf[AB_CIDR_TEXT] = "";
		struct ab_complaint why = { .right = "" };
		struct ab_cidr c;
		int r = ab_cidr_parse(cases[i].in, strlen(cases[i].in), &c, &why);

		if (cases[i].out) {
			if (r == 0)
				ab_cidr_format(&c, buf);
			is_str(buf, cases[i].out, cases[i].in);
		} else {
			ok(r < 0, "refused: \"%s\"", cases[i].in);
			is_str(why.right, cases[i].right, "with the way out");
		}
	}
	ok(has("10.1.2.0/24", "10.1.2.255", 1), "the last address is in");
	ok(!has("10.1.2.0/24", "10.1.3.0", 1), "the next one is not");
	ok(has("10.1.2.0/23", "10.1.3.7", 1), "a prefix inside a byte");
	ok(has("10.1.2.3:5432", "10.1.2.3", 5432) && !has("10.1.2.3:5432", "10.1.2.3", 5433),
	   "a port is kept to");
	ok(has("10.0.0.0/8", "::ffff:10.9.9.9", 1), "a wrapped address is the one it wraps");
	ok(!has("0.0.0.0/0", "::1", 1), "all of v4 is not v6");
	ok(!has("::/0", "10.0.0.1", 1), "all of v6 is not v4");
	ok(!has("0.0.0.0/0", "localhost", 1), "a name is in no range");
	ok(covers("10.0.0.0/8", "10.1.0.0/16") && !covers("10.1.0.0/16", "10.0.0.0/8"),
	   "the wider covers the narrower only");
	ok(covers("10.0.0.0/8", "10.0.0.0/8:22") && !covers("10.0.0.0/8:22", "10.0.0.0/8"),
	   "every port covers one, not the reverse");
	return done();
}
