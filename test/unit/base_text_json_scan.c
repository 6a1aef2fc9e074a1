#include "base/text/json_scan.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/data/mem.h"
#include "guard.h"
#include "json_compare.h"
#include "tap.h"

static bool scans(const char *text, size_t len, struct ab_json_scan *s)
{
	return ab_json_scan_parse(s, guarded(text, len), len) == 0;
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
	"{\"\":0,\"a\":{\"a\":1},\"b\":{\"a\":2},\"\\u00e9\":[\"\\u0001\",\"\\uffff\"]}",
	"[9223372036854775807,-9223372036854775808,1E+2,-0.0]",
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
	"{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":2}", "[{\"x\":{\"b\":1,\"c\":2,\"b\":3}}]",
	"9223372036854775808", "-9223372036854775809", "{\"\\u0000\":1}", "{\"\xff\":1}",
};
/* clang-format on */

static void test_acceptance(void)
{
	ab_autoscan struct ab_json_scan s = { 0 };

	for (size_t i = 0; i < AB_COUNT(good); i++) {
		size_t n = strlen(good[i]);

		ok(scans(good[i], n, &s), "good %zu is accepted", i);
		is_str(compare_with_jansson(good[i], n), NULL, "and decoded as by jansson");
	}
	for (size_t i = 0; i < AB_COUNT(bad); i++) {
		size_t n = strlen(bad[i]);

		ok(!scans(bad[i], n, &s), "bad %zu is refused", i);
		is_str(compare_with_jansson(bad[i], n), NULL, "by jansson too");
	}
	ok(!scans("{}\0", 3, &s), "a NUL after the value is refused");
	ok(!scans("\"a\0b\"", 5, &s), "a NUL in a string is refused");
	ok(!scans("[5\0]", 4, &s), "a NUL after a number is refused, which jansson overlooks");
	ok(scans("1e999", 5, &s) && s.nodes->kind == '.',
	   "a fraction is not decoded, so any is accepted, unlike by jansson");
}

/* How often the two differ over all beginnings of a text. */
static size_t count_differences(const char *text, size_t len, size_t *cuts)
{
	size_t differ = 0;

	for (size_t n = 0; n <= len; n++, ++*cuts)
		if (compare_with_jansson(guarded(text, n), n)) {
			printf("# cut at %zu: %s: %.*s\n", n, compare_with_jansson(text, n), (int)n,
			       text);
			differ++;
		}
	return differ;
}

static void test_cut(void)
{
	size_t differ = 0, cuts = 0;

	for (size_t i = 0; i < AB_COUNT(good); i++)
		differ += count_differences(good[i], strlen(good[i]), &cuts);
	for (size_t i = 0; i < AB_COUNT(bad); i++)
		differ += count_differences(bad[i], strlen(bad[i]), &cuts);
	ok(differ == 0, "cut at each of %zu places both agree", cuts);
}

static struct {
	size_t files, cuts, differ;
} corpus;

static int visit_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	enum { CUT_MAX = 3000, FILE_MAX = 100000 };
	ab_autofree char *text = NULL;
	size_t len;
	FILE *f;

	(void)ftw;
	if (type != FTW_F || st->st_size > FILE_MAX)
		return 0;
	f = fopen(path, "r");
	text = ab_alloc(FILE_MAX);
	len = fread(text, 1, FILE_MAX, f);
	fclose(f);
	corpus.files++;
	corpus.differ += compare_with_jansson(guarded(text, len), len) != NULL;
	corpus.differ += count_differences(text, len < CUT_MAX ? len : CUT_MAX, &corpus.cuts);
	return 0;
}

static void test_corpus(void)
{
	static const char *const folders[] = { "share", "test/data", "test/fuzz/corpus" };

	for (size_t i = 0; i < AB_COUNT(folders); i++) {
		ab_autofree char *path = ab_printf("%s/%s", getenv("AB_SOURCE_ROOT"), folders[i]);

		ok(nftw(path, visit_file, 16, FTW_PHYS) == 0, "all files in %s are compared",
		   folders[i]);
	}
	ok(corpus.files > 100 && corpus.differ == 0,
	   "%zu files, cut at %zu places, are to us what they are to jansson", corpus.files,
	   corpus.cuts);
}

static void test_decoding(void)
{
	static const char text[] =
		"{\"\\u00e9\\ud83d\\ude00\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u20ac\",\"n\":[-7,0,true]}";
	ab_autoscan struct ab_json_scan s = { 0 };

	ok(scans(text, strlen(text), &s), "escapes and numbers are read");
	is_str(s.nodes[1].key, "\xc3\xa9\xf0\x9f\x98\x80", "a key is decoded");
	is_str(s.nodes[1].text, "\"\\/\b\f\n\r\t\xe2\x82\xac", "a string is decoded");
	ok(s.nodes[2].count == 3 && !s.nodes[2].text, "a list has no text, but a count");
	ok(s.nodes[3].integer == -7 && s.nodes[4].integer == 0 && s.nodes[5].kind == 't',
	   "so are numbers and words");
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
	ok(n[0].kind == '{' && n[0].span == 7 && n[0].line == 1 && n[0].column == 1 && n[0].up == 0,
	   "the outermost value holds all");
	ok(n[1].kind == '{' && n[1].up == 1 && n[1].line == 2 && n[1].column == 3 && n[1].span == 5,
	   "network is on line 2 and holds four values");
	ok(!strncmp(text + n[1].key_begin, "\"network\"", 9), "a key has its bytes");
	ok(n[2].kind == '"' && n[2].up == 1 && n[2].line == 3 && n[2].column == 5 &&
		   !strncmp(text + n[2].begin, "\"blocked\"", n[2].end - n[2].begin),
	   "a value has its bytes, line and column");
	ok(n[3].kind == '[' && n[4].up == 1 && n[4].line == 5 && n[5].line == 6 &&
		   n[5].column == 7 && !n[5].key,
	   "elements have lines and no key");
	ok(n[6].kind == '0' && n[6].up == 6 && n[6].line == 9 && n[0].count == 2,
	   "what comes after a group belongs to the outermost value");
	ab_json_scan_fini(&s);
	ok(ab_json_scan_parse(&s, "[\"\xc3\xa9\xe2\x82\xac\", 1]", 12) == 0 &&
		   s.nodes[2].column == 8,
	   "a column is a character, not a byte");
	ab_json_scan_fini(&s);
}

static void test_errors(void)
{
	static const struct {
		const char *text, *wrong, *right;
		unsigned line, column;
	} cases[] = {
#define QUOTED "use \"key\": value"
		{ "{\n\"a\": 1\n\"b\": 2\n}", "expected a comma or }",
		  "is a comma missing before this?", 3, 1 },
		{ "[1 2]", "expected a comma or ]", "is a comma missing before this?", 1, 4 },
		{ "{\n\"a\": [1,\n]}", "trailing comma", "remove it", 2, 8 },
		{ "{\n // x\n}", "JSON has no comments",
		  "remove it; each section can have a \"reason\"", 2, 2 },
		{ "{\"a\":\n/* */ 1}", "JSON has no comments",
		  "remove it; each section can have a \"reason\"", 2, 1 },
		{ "{\"a\": \"\xc3\xa9x\n\"}", "the string is not closed", "end it with \"", 1, 7 },
		{ "{\"a\" 1}", "expected a colon after the key", QUOTED, 1, 6 },
		{ "{a: 1}", "expected a key in quotes", QUOTED, 1, 2 },
		{ "{'a': 1}", "expected a key in quotes", "use double quotes", 1, 2 },
		{ "{\n\n", "unexpected end of file", "is a \", ] or } missing?", 3, 1 },
		{ "{\"a\":", "unexpected end of file", "is a \", ] or } missing?", 1, 6 },
		{ "{}\n{}", "unexpected text after the last bracket",
		  "a settings file is one object", 2, 1 },
		{ "{\"a\":1,\n \"b\":{\"a\":2},\n\"a\":3, \"b\":4}", "duplicate key",
		  "remove one of them", 3, 1 },
		{ "[\"\xc3\xa9\xff\"]", "invalid UTF-8", "save the file as UTF-8 text", 1, 4 },
		{ "[\"a\tb\"]", "control character in a string",
		  "escape it: \\t is a tab, \\n a line break", 1, 4 },
		{ "[\"\\d\"]", "unknown escape in a string", "write a backslash as \\\\", 1, 3 },
		{ "[\"\\ud800x\"]", "half of a surrogate pair",
		  "write the character itself, in UTF-8", 1, 3 },
		{ "[\"x\\u0000\"]", "\\u0000 is not allowed in a string", "remove it", 1, 4 },
		{ "[-012]", "a number cannot start with 0", "remove the 0", 1, 3 },
		{ "[12345678901234567890]", "the number is too large",
		  "the largest is 9223372036854775807", 1, 2 },
		{ "[True]", "expected a value",
		  "use a string in quotes, a number, true, false, [ ... ] or { ... }", 1, 2 },
		{ "\xef\xbb\xbf{}", "the file starts with a byte order mark",
		  "save it as UTF-8 without one", 1, 1 },
	};
	struct ab_json_scan s = { 0 };

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		int r = ab_json_scan_parse(&s, cases[i].text, strlen(cases[i].text));

		ok(r < 0 && s.line == cases[i].line && s.column == cases[i].column,
		   "error %zu is at %u:%u (%u:%u)", i, cases[i].line, cases[i].column, s.line,
		   s.column);
		is_str(s.wrong, cases[i].wrong, "it says what is wrong");
		is_str(s.right, cases[i].right, "and what would be right");
	}
	ok(ab_json_scan_parse(&s, "{\"\\u0061\":1,\"a\":1}", 18) < 0, "a duplicate");
	is_str(s.key, "a", "has its name");
	ok(ab_json_scan_parse(&s, "{\0", 2) < 0, "a NUL byte");
	is_str(s.wrong, "unexpected NUL byte", "is called so");
	ab_json_scan_fini(&s);
}

/* With comments the reader sees what the strict one sees without them. */
static void test_comments(void)
{
	/* clang-format off */
	static const char *const fine[] = {
		"//\n{}", "{} //", "{}/**/", "/***/{}", "/*/*/{}", "// \xc3\xa9\r\n[1]", "[1,]", "{\"a\":1,}",
		"{ // one\n\"a\" /*:*/ : /*,*/ [ 1 /* */ , // ]\n 2 , ] , }",
		"[\"// no \\\" /* comment */\"]", "[1 /* \n\t\r\n */ ]",
	};
	static const struct {
		const char *text, *wrong;
		unsigned line, column;
	} wrong[] = {
		{ "{\n /* x\n}", "the comment is not closed", 2, 2 },
		{ "{} /*/", "the comment is not closed", 1, 4 },
		{ "{} / x", "unexpected /", 1, 4 },
		{ "{} /", "unexpected /", 1, 4 },
		{ "{ # x\n}", "unexpected #", 1, 3 },
		{ "{ // \r \"a\":1 }", "unexpected character in a comment", 1, 6 },
		{ "{ // \xe2\x80\xa8 \n}", "unexpected character in a comment", 1, 6 },
		{ "{ /* \xc3\xa9 \x1b[2J */ }", "unexpected character in a comment", 1, 8 },
		{ "{ /* \xff */ }", "unexpected character in a comment", 1, 6 },
		{ "[,]", "expected a value", 1, 2 },
		{ "[1,,]", "expected a value", 1, 4 },
		{ "{,}", "expected a key in quotes", 1, 2 },
		{ "{\"a\":1, // x\n\"a\":2,}", "duplicate key", 2, 1 },
	};
	/* clang-format on */
	struct ab_json_scan s = { 0 };

	for (size_t i = 0; i < AB_COUNT(fine); i++) {
		size_t len = strlen(fine[i]);

		ok(ab_jsonc_scan_parse(&s, guarded(fine[i], len), len) == 0,
		   "accepted with comments: %s", fine[i]);
		is_str(compare_without_comments(fine[i], len), NULL, "and read as without them");
	}
	for (size_t i = 0; i < AB_COUNT(wrong); i++) {
		size_t len = strlen(wrong[i].text);

		ok(ab_jsonc_scan_parse(&s, guarded(wrong[i].text, len), len) < 0 &&
			   s.line == wrong[i].line && s.column == wrong[i].column,
		   "refused with comments at %u:%u: %s", s.line, s.column, wrong[i].text);
		is_str(s.wrong, wrong[i].wrong, "it says what is wrong");
	}
	ok(ab_jsonc_scan_parse(&s, "/*\0*/{}", 7) < 0, "a NUL byte in a comment is refused");
	ab_json_scan_fini(&s);
}

/* Keys that are as hard as possible to keep apart. */
static void test_many_keys(void)
{
	enum { KEYS = AB_SCAN_NODES - 1, LONG = 56 };
	char *text = malloc(KEYS * (LONG + 16) + 16), *p = text;
	ab_autoscan struct ab_json_scan s = { 0 };
	clock_t begin = clock();
	size_t last;

	*p++ = '{';
	for (int i = 0; i < KEYS; i++)
		p += sprintf(p, "%s\"%0*d\":1", i ? "," : "", LONG, i);
	last = (size_t)(p - text) - 4;
	*p++ = '}';
	ok(ab_json_scan_parse(&s, text, (size_t)(p - text)) == 0 && s.len == KEYS + 1,
	   "as many keys as there may be are told apart");
	text[last] = text[last] == '0' ? '1' : '0';
	ok(ab_json_scan_parse(&s, text, (size_t)(p - text)) < 0 &&
		   !strcmp(s.wrong, "duplicate key"),
	   "and one that is there twice is found");
	ok(clock() - begin < 2 * CLOCKS_PER_SEC, "in little time");
	free(text);
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
	test_corpus();
	test_decoding();
	test_positions();
	test_errors();
	test_comments();
	test_many_keys();
	test_bounds();
	return done();
}
