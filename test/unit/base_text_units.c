#include "base/text/units.h"

#include <inttypes.h>

#include "base/data/mem.h"
#include "tap.h"

#define BAD UINT64_MAX /* no case has it as its value */

struct unit_case {
	const char *text;
	uint64_t want;
};

static const struct unit_case digits[] = {
	{ "0", 0 },    { "7", 7 },    { "0080", 80 }, { "999999999999999999", 999999999999999999 },
	{ "", BAD },   { "-1", BAD }, { "+1", BAD },  { "1000000000000000000", BAD },
	{ " 1", BAD }, { "1 ", BAD }, { "1K", BAD },  { "0x1", BAD },
	{ "/", BAD },  { ":", BAD },
};

static const struct unit_case sizes[] = {
	{ "0", 0 },
	{ "1", 1 },
	{ "512", 512 },
	{ "1K", 1024 },
	{ "512K", 524288 },
	{ "10M", 10485760 },
	{ "4G", 4294967296 },
	{ "4GiB", 4294967296 },
	{ "1T", 1099511627776 },
	{ "16777215T", 16777215ULL << 40 },
	{ "16777216T", BAD },
	{ "18446744073709551614", UINT64_MAX - 1 },
	{ "18446744073709551616", BAD },
	{ "", BAD },
	{ "K", BAD },
	{ "-1", BAD },
	{ "+1", BAD },
	{ " 1", BAD },
	{ "1 ", BAD },
	{ "1 K", BAD },
	{ "1k", BAD },
	{ "1Ki", BAD },
	{ "1KB", BAD },
	{ "1iB", BAD },
	{ "1.5G", BAD },
	{ "0x10", BAD },
	{ "1KK", BAD },
};

static const struct unit_case durations[] = {
	{ "0", 0 },
	{ "5", 5000 },
	{ "250ms", 250 },
	{ "30s", 30000 },
	{ "30m", 1800000 },
	{ "1h", 3600000 },
	{ "2d", 172800000 },
	{ "1h30m", 5400000 },
	{ "1d2h3m4s5ms", 93784005 },
	{ "1m500ms", 60500 },
	{ "213503982334d", 213503982334ULL * 86400000 },
	{ "213503982335d", BAD },
	{ "18446744073709551s999ms", BAD },
	{ "", BAD },
	{ "m", BAD },
	{ "-5", BAD },
	{ "30m1h", BAD },
	{ "1h1h", BAD },
	{ "1h30", BAD },
	{ "1 h", BAD },
	{ "1h ", BAD },
	{ "1.5h", BAD },
	{ "1w", BAD },
	{ "1H", BAD },
};

static void test_parse(const char *what, const struct unit_case *cases, size_t len,
		       int (*parse)(const char *, uint64_t *))
{
	for (size_t i = 0; i < len; i++) {
		uint64_t got = 4711;
		int r = parse(cases[i].text, &got);

		if (cases[i].want == BAD)
			ok(r == -1 && got == 4711, "%s \"%s\" is refused, nothing written", what,
			   cases[i].text);
		else
			ok(r == 0 && got == cases[i].want, "%s \"%s\" is %" PRIu64, what,
			   cases[i].text, cases[i].want);
	}
}

static int parse_digits(const char *s, uint64_t *ret)
{
	return ab_parse_digits(s, strlen(s), ret) ? 0 : -1;
}

static void test_format(void)
{
	char size[24], time[48];
	static const uint64_t values[] = {
		0,	    1,		999,	    1000,	    1023,     1024,
		1025,	    60000,	5400000,    86400000,	    93784005, 1048576,
		4294967296, 1ULL << 40, UINT64_MAX, UINT64_MAX - 1,
	};

	is_str(ab_format_size(0, size), "0", "no bytes");
	is_str(ab_format_size(1023, size), "1023", "bytes without a unit");
	is_str(ab_format_size(1536, size), "1536", "only exact units");
	is_str(ab_format_size(4294967296, size), "4G", "the largest unit");
	is_str(ab_format_duration(0, time), "0s", "no time");
	is_str(ab_format_duration(5400000, time), "1h30m", "as people write it");
	is_str(ab_format_duration(250, time), "250ms", "less than a second");

	for (size_t i = 0; i < AB_COUNT(values); i++) {
		uint64_t back = 0;

		ok(ab_parse_size(ab_format_size(values[i], size), &back) == 0 && back == values[i],
		   "size %s reads back", size);
		ok(ab_parse_duration(ab_format_duration(values[i], time), &back) == 0 &&
			   back == values[i],
		   "duration %s reads back", time);
	}
}

int main(void)
{
	test_parse("size", sizes, AB_COUNT(sizes), ab_parse_size);
	test_parse("duration", durations, AB_COUNT(durations), ab_parse_duration);
	test_parse("digits", digits, AB_COUNT(digits), parse_digits);
	test_format();
	return done();
}
