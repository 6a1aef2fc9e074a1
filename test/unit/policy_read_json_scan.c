#include "policy/read/json_scan.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/data/mem.h"
#include "tap.h"

/* The text so that the byte behind it cannot be read. */
static char *guarded(const char *text, size_t len, void **ret_map, size_t *ret_size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (len + page - 1) / page * page;
	char *map =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE) < 0)
		abort();
	memcpy(map + room - len, text, len);
	*ret_map = map;
	*ret_size = room + page;
	return map + room - len;
}

static bool scans(const char *text, size_t len, struct ab_json_scan *s)
{
	void *map;
	size_t size;
	char *copy = guarded(text, len, &map, &size);
	int r = ab_json_scan_parse(s, copy, len);

	munmap(map, size);
	return r == 0;
}

static bool jansson_takes(const char *text, size_t len)
{
	json_t *j = json_loadb(text, len, JSON_DECODE_ANY, NULL);

	json_decref(j);
	return j != NULL;
}

static const char *const good[] = {
	"{}",
	"[]",
	"1",
	"\"x\"",
	"null",
	" true ",
	"\n\tfalse\r\n",
	"-0",
	"0.5",
	"1e9",
	"-1.25E-3",
	"[1,2,3]",
	"{\"a\":1}",
	"{\"a\":{\"b\":[{},[]]}}",
	"\"\\u00e9\\n\\\"\\\\\\/\\b\\f\\r\\t\"",
	"\"\\ud83d\\ude00\"",
	"\"\xc3\xa9 \xf0\x9f\x98\x80 \xed\x9f\xbf\"",
	"\"\x7f\"",
	"{\"network\":{\"mode\":\"blocked\",\"allow\":[\"a.b\",\"c.d\"]}}",
};

/* clang-format off */
static const char *const bad[] = {
	"", " ", "{", "}", "[", "]", "[1,]", "{\"a\":1,}", "{\"a\"}", "{\"a\":}",
	"{a:1}", "{1:1}", "[1 2]", "nul", "nullx", "tru", "TRUE", "+1", "01",
	"-", "1.", ".5", "1e", "1e+", "--1", "0x1", "\"", "\"\\\"", "\"\\x\"",
	"\"\\u12\"", "\"\\u0000\"", "\"\\ud800\"", "\"\\udc00\"",
	"\"\\ud800\\u0041\"", "\"\\ud800x\"", "\"a\nb\"", "\"\x01\"",
	"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
	"\"\xe2\x82\"", "{} {}", "[] x", "// no\n{}", "'a'", "{\"a\":1 \"b\":2}",
	"\xef\xbb\xbf{}", "[1,,2]", "{,}", "1 2",
};
/* clang-format on */

static void test_acceptance(void)
{
	struct ab_json_scan s = { 0 };

	for (size_t i = 0; i < AB_COUNT(good); i++) {
		size_t n = strlen(good[i]);

		ok(scans(good[i], n, &s) && jansson_takes(good[i], n),
		   "good %zu is accepted by both", i);
	}
	for (size_t i = 0; i < AB_COUNT(bad); i++) {
		size_t n = strlen(bad[i]);

		ok(!scans(bad[i], n, &s) && !jansson_takes(bad[i], n) && s.line >= 1 && s.wrong,
		   "bad %zu is refused by both, with a reason", i);
	}
	ok(!scans("{}\0", 3, &s), "a NUL behind the value is refused");
	ok(!scans("\"a\0b\"", 5, &s), "a NUL in a string is refused");
	ok(!scans("[5\0]", 4, &s), "so is one behind a number, which the library overlooks");
	ab_json_scan_fini(&s);
}

static void test_cut(void)
{
	struct ab_json_scan s = { 0 };
	size_t differ = 0, cuts = 0;

	for (size_t i = 0; i < AB_COUNT(good); i++)
		for (size_t n = 0; n <= strlen(good[i]); n++, cuts++)
			differ += scans(good[i], n, &s) != jansson_takes(good[i], n);
	for (size_t i = 0; i < AB_COUNT(bad); i++)
		for (size_t n = 0; n <= strlen(bad[i]); n++, cuts++)
			differ += scans(bad[i], n, &s) != jansson_takes(bad[i], n);
	ok(differ == 0, "cut at each of %zu places both agree", cuts);
	ab_json_scan_fini(&s);
}

static void test_positions(void)
{
	static const char text[] = "{\n"
				   "  \"network\": {\n"
				   "    \"mode\": \"blocked\",\n"
				   "    \"allow\": [\n"
				   "      \"a.b\",\n"
				   "      \"c.d\"\n"
				   "    ]\n"
				   "  },\n"
				   "  \"x\": 12\n"
				   "}\n";
	struct ab_json_scan s = { 0 };
	const struct ab_json_scan_node *n;

	ok(ab_json_scan_parse(&s, text, strlen(text)) == 0 && s.len == 7,
	   "all seven values are found");
	n = s.nodes;
	ok(n[0].kind == '{' && n[0].next == 7 && n[0].line == 1, "the outermost value holds all");
	ok(n[1].kind == '{' && n[1].parent == 0 && n[1].line == 2 && n[1].next == 6,
	   "network is on line 2 and holds four values");
	ok(!strncmp(text + n[1].key_begin, "\"network\"", n[1].key_end - n[1].key_begin),
	   "a key has its bytes");
	ok(n[2].kind == '"' && n[2].parent == 1 && n[2].line == 3 &&
		   !strncmp(text + n[2].begin, "\"blocked\"", n[2].end - n[2].begin),
	   "a value has its bytes and line");
	ok(n[3].kind == '[' && n[4].parent == 3 && n[4].line == 5 && n[5].line == 6 &&
		   n[5].key_begin == n[5].key_end,
	   "elements have lines and no key");
	ok(n[6].kind == '0' && n[6].parent == 0 && n[6].line == 9,
	   "what stands behind a group belongs to the outermost value");
	ab_json_scan_fini(&s);
}

static void test_errors(void)
{
	static const struct {
		const char *text, *wrong;
		unsigned line;
	} cases[] = {
		{ "{\n\"a\": 1\n\"b\": 2\n}", "expected a comma or }", 3 },
		{ "{\n\"a\": [1,\n]}", "a comma with nothing behind it", 3 },
		{ "{\n // x\n}", "expected a key in quotes", 2 },
		{ "{\"a\":\n/* */ 1}", "JSON has no comments", 2 },
		{ "{\"a\": \"x\n\"}", "the string is not closed", 1 },
		{ "{\"a\" 1}", "expected a colon behind the key", 1 },
		{ "{\n\n", "expected a key in quotes", 3 },
		{ "{\"a\":", "the file ends too early", 1 },
		{ "{}\n{}", "something behind the last }", 2 },
	};
	struct ab_json_scan s = { 0 };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		int r = ab_json_scan_parse(&s, cases[i].text, strlen(cases[i].text));

		ok(r < 0 && s.line == cases[i].line, "error %zu is on line %u", i, cases[i].line);
		is_str(s.wrong, cases[i].wrong, "and says what is wrong");
	}
	ab_json_scan_fini(&s);
}

static void test_bounds(void)
{
	enum { MANY = AB_SCAN_NODES + 10 };
	char deep[2 * AB_SCAN_DEPTH + 3];
	char *many = malloc(2 * MANY + 2);
	struct ab_json_scan s = { 0 };

	memset(deep, '[', AB_SCAN_DEPTH);
	memset(deep + AB_SCAN_DEPTH, ']', AB_SCAN_DEPTH);
	ok(ab_json_scan_parse(&s, deep, 2 * AB_SCAN_DEPTH) == 0, "as deep as the bound is fine");
	memset(deep, '[', AB_SCAN_DEPTH + 1);
	memset(deep + AB_SCAN_DEPTH + 1, ']', AB_SCAN_DEPTH + 1);
	ok(ab_json_scan_parse(&s, deep, 2 * AB_SCAN_DEPTH + 2) < 0, "one deeper is refused");
	many[0] = '[';
	for (size_t i = 0; i < MANY; i++)
		memcpy(many + 1 + 2 * i, "1,", 2);
	many[2 * MANY] = ']';
	ok(ab_json_scan_parse(&s, many, 2 * MANY + 1) < 0 && !strcmp(s.wrong, "too many values"),
	   "too many values are refused");
	many[2 * 1000] = ']';
	ok(ab_json_scan_parse(&s, many, 2 * 1000 + 1) == 0 && s.len == 1001, "a thousand are not");
	free(many);
	ab_json_scan_fini(&s);
}

int main(void)
{
	test_acceptance();
	test_cut();
	test_positions();
	test_errors();
	test_bounds();
	return done();
}
