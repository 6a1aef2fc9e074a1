#include "proxy/wire/dns.h"

#include "base/data/mem.h"
#include "proxy_bytes.h"
#include "tap.h"

#define NAME "\7eXample\3com\0"
#define HEAD(flags, counts) "\x12\x34" flags counts
#define ONE "\0\1\0\0\0\0\0\0"	    /* question */
#define ONE_MORE "\0\1\0\0\0\0\0\1" /* and additional record */
#define A_IN "\0\1\0\1"
#define OPT(size, rest) "\0\0\51" size rest
#define LABEL63 "\77aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LABEL61 "\75aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *what;
	const uint8_t *data;
	size_t len;
	const char *name; /* NULL: no host */
	uint16_t type, rrclass, udp_size;
	bool edns;
} queries[] = {
	{ "a usual one", BYTES(HEAD("\1\0", ONE) NAME A_IN), "example.com", 1, 1, 512 },
	{ "without recursion", BYTES(HEAD("\0\0", ONE) NAME "\0\34\0\1"), "example.com", 28, 1,
	  512 },
	{ "flags that mean nothing here", BYTES(HEAD("\7\377", ONE) NAME A_IN), "example.com", 1, 1,
	  512 },
	{ "another class", BYTES(HEAD("\1\0", ONE) NAME "\0\20\0\3"), "example.com", 16, 3, 512 },
	{ "EDNS", BYTES(HEAD("\1\40", ONE_MORE) NAME A_IN OPT("\4\320", "\0\0\200\0\0\0")),
	  "example.com", 1, 1, 1232, true },
	{ "EDNS with options",
	  BYTES(HEAD("\1\40", ONE_MORE) NAME A_IN OPT("\20\0", "\0\0\0\0\0\4\0\12\0\0")),
	  "example.com", 1, 1, 4096, true },
	{ "EDNS with too few bytes",
	  BYTES(HEAD("\1\40", ONE_MORE) NAME A_IN OPT("\0\1", "\0\0\0\0\0\0")), "example.com", 1, 1,
	  512, true },
	{ "a record that is not OPT",
	  BYTES(HEAD("\1\0", ONE_MORE) NAME A_IN "\1k\0\0\372\0\377\0\0\0\0\0\2xx"), "example.com",
	  1, 1, 512, false },
	{ "a reverse one",
	  BYTES(HEAD("\1\0", ONE) "\0011\0010\00218\003198"
				  "\7in-addr\4arpa\0\0\14\0\1"),
	  "1.0.18.198.in-addr.arpa", 12, 1, 512 },
	{ "a label of 63", BYTES(HEAD("\1\0", ONE) LABEL63 "\0" A_IN), &LABEL63[1], 1, 1, 512 },
	{ "the longest name", BYTES(HEAD("\1\0", ONE) LABEL63 LABEL63 LABEL63 LABEL61 "\0" A_IN),
	  "*", 1, 1, 512 },

	{ "the root", BYTES(HEAD("\1\0", ONE) "\0\0\2\0\1"), NULL, 2, 1, 512 },
	{ "a service", BYTES(HEAD("\1\0", ONE) "\5_ldap\4_tcp\1a\0\0\41\0\1"), "_ldap._tcp.a", 33,
	  1, 512 },
	{ "a space", BYTES(HEAD("\1\0", ONE) "\3a b\0" A_IN), NULL, 1, 1, 512 },
	{ "a dot in a label", BYTES(HEAD("\1\0", ONE) "\3a.b\0" A_IN), NULL, 1, 1, 512 },
	{ "a dot at its end", BYTES(HEAD("\1\0", ONE) "\2a.\0" A_IN), NULL, 1, 1, 512 },
	{ "a NUL in a label", BYTES(HEAD("\1\0", ONE) "\3a\0b\3com\0" A_IN), NULL, 1, 1, 512 },
	{ "a high byte", BYTES(HEAD("\1\0", ONE) "\2\303\274\0" A_IN), NULL, 1, 1, 512 },
	{ "a hyphen first", BYTES(HEAD("\1\0", ONE) "\2-a\0" A_IN), NULL, 1, 1, 512 },
	{ "an address", BYTES(HEAD("\1\0", ONE) "\003127\0010\0010\0011\0" A_IN), NULL, 1, 1, 512 },
	{ "an address in disguise", BYTES(HEAD("\1\0", ONE) "\0120x7f000001\0" A_IN), NULL, 1, 1,
	  512 },
	{ "colons", BYTES(HEAD("\1\0", ONE) "\3::1\0" A_IN), NULL, 1, 1, 512 },
	{ "brackets", BYTES(HEAD("\1\0", ONE) "\5[::1]\0" A_IN), NULL, 1, 1, 512 },
};

static void test_queries(void)
{
	for (size_t i = 0; i < AB_COUNT(queries); i++) {
		const uint8_t *data = queries[i].data;
		enum ab_dns_code code = AB_DNS_REFUSED;
		struct ab_dns_query q = { .id = 0 };
		size_t len = queries[i].len, taken = 0;
		const char *name = queries[i].name;
		int r;

		for (size_t n = 0; n < len; n++) {
			r = ab_dns_parse(guarded(data, n), n, &q, &code);
			taken += r != (n < 12 ? -1 : 1) || (n >= 12 && code != AB_DNS_FORMERR);
		}
		ok(taken == 0, "cut anywhere: %s", queries[i].what);
		r = ab_dns_parse(guarded(data, len), len, &q, &code);
		ok(r == 0 && q.id == 0x1234 && q.type == queries[i].type &&
			   q.rrclass == queries[i].rrclass && q.edns == queries[i].edns &&
			   q.udp_size == queries[i].udp_size,
		   "type %u class %u size %u", q.type, q.rrclass, q.udp_size);
		ok(q.is_host == (name != NULL) &&
			   (!name || name[0] == '*' || strcmp(q.name.text, name) == 0),
		   "name \"%s\"", q.is_host ? q.name.text : "");
	}
}

static const struct {
	const char *what;
	const uint8_t *data;
	size_t len;
	int result;
	enum ab_dns_code code;
} refused[] = {
	{ "nothing", BYTES(""), -1 },
	{ "less than a header", BYTES("\1\2\1\0\0\1\0\0\0\0\0"), -1 },
	{ "a response", BYTES(HEAD("\201\200", ONE) NAME A_IN), -1 },
	{ "an update", BYTES(HEAD("\50\0", ONE) NAME A_IN), 1, AB_DNS_NOTIMP },
	{ "another opcode", BYTES(HEAD("\170\0", ONE)), 1, AB_DNS_NOTIMP },
	{ "no question", BYTES(HEAD("\1\0", "\0\0\0\0\0\0\0\0")), 1, AB_DNS_FORMERR },
	{ "two questions", BYTES(HEAD("\1\0", "\0\2\0\0\0\0\0\0") NAME A_IN NAME A_IN), 1,
	  AB_DNS_FORMERR },
	{ "an answer in it",
	  BYTES(HEAD("\1\0", "\0\1\0\1\0\0\0\0") NAME A_IN "\0\0\1\0\1\0\0\0\0\0\4\1\2\3\4"), 1,
	  AB_DNS_FORMERR },
	{ "authority in it",
	  BYTES(HEAD("\1\0", "\0\1\0\0\0\1\0\0") NAME A_IN "\0\0\1\0\1\0\0\0\0\0\4\1\2\3\4"), 1,
	  AB_DNS_FORMERR },
	{ "a byte behind", BYTES(HEAD("\1\0", ONE) NAME A_IN "\0"), 1, AB_DNS_FORMERR },
	{ "a record behind", BYTES(HEAD("\1\0", ONE) NAME A_IN OPT("\20\0", "\0\0\0\0\0\0")), 1,
	  AB_DNS_FORMERR },
	{ "a record too few", BYTES(HEAD("\1\0", ONE_MORE) NAME A_IN), 1, AB_DNS_FORMERR },
	{ "65535 records",
	  BYTES(HEAD("\1\0", "\0\1\0\0\0\0\377\377") NAME A_IN OPT("\20\0", "\0\0\0\0\0\0")), 1,
	  AB_DNS_FORMERR },
	{ "a pointer", BYTES(HEAD("\1\0", ONE) "\300\14" A_IN), 1, AB_DNS_FORMERR },
	{ "a pointer behind a label", BYTES(HEAD("\1\0", ONE) "\1a\300\14" A_IN), 1,
	  AB_DNS_FORMERR },
	{ "a pointer in OPT",
	  BYTES(HEAD("\1\0", ONE_MORE) NAME A_IN "\300\14"
						 "\0\51\20\0\0\0\0\0\0\0"),
	  1, AB_DNS_FORMERR },
	{ "a label of 64", BYTES(HEAD("\1\0", ONE) "\100" LABEL63 "\0" A_IN), 1, AB_DNS_FORMERR },
	{ "a name of 256",
	  BYTES(HEAD("\1\0", ONE) LABEL63 LABEL63 LABEL63
		"\76aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"\0" A_IN),
	  1, AB_DNS_FORMERR },
	{ "two OPT",
	  BYTES(HEAD("\1\0", "\0\1\0\0\0\0\0\2") NAME A_IN OPT("\20\0", "\0\0\0\0\0\0")
			OPT("\20\0", "\0\0\0\0\0\0")),
	  1, AB_DNS_FORMERR },
	{ "OPT with a name",
	  BYTES(HEAD("\1\0", ONE_MORE) NAME A_IN "\1a" OPT("\20\0", "\0\0\0\0\0\0")), 1,
	  AB_DNS_FORMERR },
	{ "EDNS version 1", BYTES(HEAD("\1\0", ONE_MORE) NAME A_IN OPT("\20\0", "\0\1\0\0\0\0")), 1,
	  AB_DNS_BADVERS },
};

static void test_refused(void)
{
	static uint8_t big[AB_DNS_MAX + 1];
	enum ab_dns_code code = AB_DNS_NOERROR;
	struct ab_dns_query q;
	size_t head = sizeof(HEAD("\1\0", ONE_MORE) NAME A_IN) - 1;

	for (size_t i = 0; i < AB_COUNT(refused); i++) {
		size_t len = refused[i].len;

		code = AB_DNS_NOERROR;
		ok(ab_dns_parse(guarded(refused[i].data, len), len, &q, &code) ==
				   refused[i].result &&
			   code == refused[i].code,
		   "refused: %s", refused[i].what);
	}

	memcpy(big, HEAD("\1\0", ONE_MORE) NAME A_IN OPT("\20\0", "\0\0\0\0"), head + 9);
	for (size_t len = AB_DNS_MAX; len <= AB_DNS_MAX + 1; len++) {
		big[head + 9] = (uint8_t)((len - head - 11) >> 8);
		big[head + 10] = (uint8_t)(len - head - 11);
		ok(ab_dns_parse(guarded(big, len), len, &q, &code) == (len > AB_DNS_MAX),
		   "a query of %zu bytes", len);
	}
}

#define PLAIN HEAD("\1\0", ONE) NAME A_IN
#define EDNS HEAD("\1\20", ONE_MORE) NAME A_IN OPT("\20\0", "\0\0\200\0\0\0")

static const struct {
	const char *what;
	const uint8_t *query;
	size_t query_len;
	enum ab_dns_code code;
	const char *addr;
	size_t addr_len;
	const uint8_t *answer;
	size_t len;
} answers[] = {
	{ "an address", BYTES(PLAIN), AB_DNS_NOERROR, "\306\22\0\1", 4,
	  BYTES(HEAD("\201\200", "\0\1\0\1\0\0\0\0") NAME A_IN
		"\300\14\0\1\0\1\0\0\0\1\0\4\306\22\0\1") },
	{ "IPv6, EDNS", BYTES(EDNS), AB_DNS_NOERROR, "\375agentbo\0\0\0\0\0\0\0\1", 16,
	  BYTES(HEAD("\201\220", "\0\1\0\1\0\0\0\1") NAME A_IN
		"\300\14\0\34\0\1\0\0\0\1\0\20\375agentbo\0\0\0\0\0\0\0\1" OPT("\4\320",
									       "\0\0\0\0\0\0")) },
	{ "no address", BYTES(PLAIN), AB_DNS_NOERROR, NULL, 0,
	  BYTES(HEAD("\201\200", ONE) NAME A_IN) },
	{ "no such name", BYTES(PLAIN), AB_DNS_NXDOMAIN, NULL, 0,
	  BYTES(HEAD("\201\203", ONE) NAME A_IN) },
	{ "the same with EDNS", BYTES(EDNS), AB_DNS_NXDOMAIN, NULL, 0,
	  BYTES(HEAD("\201\223", ONE_MORE) NAME A_IN OPT("\4\320", "\0\0\0\0\0\0")) },
	{ "recursion was not wanted", BYTES(HEAD("\0\0", ONE) NAME A_IN), AB_DNS_REFUSED, NULL, 0,
	  BYTES(HEAD("\200\205", ONE) NAME A_IN) },
	{ "flags of ours only", BYTES(HEAD("\7\357", ONE) NAME A_IN), AB_DNS_NOERROR, NULL, 0,
	  BYTES(HEAD("\201\200", ONE) NAME A_IN) },
	{ "what it must not be", BYTES(HEAD("\1\0", ONE) "\300\14" A_IN), AB_DNS_FORMERR, NULL, 0,
	  BYTES(HEAD("\201\201", "\0\0\0\0\0\0\0\0")) },
	{ "an opcode, which is kept", BYTES(HEAD("\50\0", ONE)), AB_DNS_NOTIMP, NULL, 0,
	  BYTES(HEAD("\250\204", "\0\0\0\0\0\0\0\0")) },
	{ "a code of more bits",
	  BYTES(HEAD("\1\0", ONE_MORE) NAME A_IN OPT("\20\0", "\0\7\0\0\0\0")), AB_DNS_BADVERS,
	  NULL, 0, BYTES(HEAD("\201\200", ONE_MORE) NAME A_IN OPT("\4\320", "\1\0\0\0\0\0")) },
};

static void test_answers(void)
{
	uint8_t answer[AB_DNS_ANSWER_MAX];
	enum ab_dns_code code;
	struct ab_dns_query q;

	for (size_t i = 0; i < AB_COUNT(answers); i++) {
		int r = ab_dns_parse(answers[i].query, answers[i].query_len, &q, &code);
		size_t n = ab_dns_answer(&q, answers[i].code, (const uint8_t *)answers[i].addr,
					 answers[i].addr_len, answer);

		ok(r == 0 || code == answers[i].code, "a query");
		ok(n == answers[i].len && memcmp(answer, answers[i].answer, n) == 0, "answer: %s",
		   answers[i].what);
		ok(ab_dns_parse(answer, n, &q, &code) < 0, "which is no query itself");
	}
}

static void test_longest(void)
{
	static const uint8_t query[] = HEAD("\1\0", ONE_MORE) LABEL63 LABEL63 LABEL63 LABEL61
		"\0" A_IN OPT("\20\0", "\0\0\0\0\0\0");
	uint8_t answer[AB_DNS_ANSWER_MAX], addr[16] = { 0 };
	enum ab_dns_code code;
	struct ab_dns_query q;
	size_t n = 0;

	if (ab_dns_parse(query, sizeof(query) - 1, &q, &code) == 0)
		n = ab_dns_answer(&q, AB_DNS_NOERROR, addr, 16, answer);
	ok(n == 12 + 259 + 28 + 11, "the longest answer has %zu bytes", n);
}

int main(void)
{
	test_queries();
	test_refused();
	test_answers();
	test_longest();
	return done();
}
