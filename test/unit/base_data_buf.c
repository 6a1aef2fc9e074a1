#include "base/data/buf.h"

#include <stdbool.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "guard.h"
#include "tap.h"

static void test_growth(void)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autofree char *taken = NULL;
	ab_autofree char *empty = NULL;

	empty = ab_buf_take(&b);
	is_str(empty, "", "an empty buffer gives an empty text");
	for (int i = 0; i < 1000; i++)
		ab_buf_printf(&b, "%d,", i % 10);
	ok(b.len == 2000 && b.data[2000] == '\0', "grows and ends with NUL");
	ok(memcmp(b.data, "0,1,2,", 6) == 0 && memcmp(b.data + 1994, "7,8,9,", 6) == 0,
	   "what was added first and last is there");
	taken = ab_buf_take(&b);
	ok(strlen(taken) == 2000 && b.data == NULL && b.len == 0, "take leaves it empty");
	ab_buf_add(&b, "a\0b", 3);
	ok(b.len == 3 && memcmp(b.data, "a\0b", 4) == 0, "NUL is a byte");
	ab_buf_add(&b, NULL, 0);
	ok(b.len == 3, "nothing can be added");
}

/* Text from the box as a terminal, and as a log, may see it. */
static const struct {
	const char *name, *text, *screen, *json;
} cases[] = {
	{ "plain text", "make test", "make test", "\"make test\"" },
	{ "nothing", "", "", "\"\"" },
	{ "quotes and backslashes", "a\"b\\c", "a\"b\\c", "\"a\\\"b\\\\c\"" },
	{ "escape sequences", "\x1b[2J", "\\x1b[2J", "\"\\u001b[2J\"" },
	{ "newline, return, tab", "a\nb\rc\t", "a\\x0ab\\x0dc\\x09",
	  "\"a\\u000ab\\u000dc\\u0009\"" },
	{ "delete", "\x7f", "\\x7f", "\"\\u007f\"" },
	{ "two bytes", "\xc3\xa9", "\xc3\xa9", "\"\xc3\xa9\"" },
	{ "three bytes", "\xe2\x82\xac", "\xe2\x82\xac", "\"\xe2\x82\xac\"" },
	{ "four bytes", "\xf0\x9f\x8e\x81", "\xf0\x9f\x8e\x81", "\"\xf0\x9f\x8e\x81\"" },
	{ "a lone continuation", "a\x80z", "a\\x80z", "\"a\\ufffdz\"" },
	{ "a cut sequence", "\xe2\x82", "\\xe2\\x82", "\"\\ufffd\\ufffd\"" },
	{ "a sequence broken by text", "\xe2\x82z", "\\xe2\\x82z", "\"\\ufffd\\ufffdz\"" },
	{ "an overlong slash", "\xc0\xaf", "\\xc0\\xaf", "\"\\ufffd\\ufffd\"" },
	{ "an overlong three-byte form", "\xe0\x80\xaf", "\\xe0\\x80\\xaf",
	  "\"\\ufffd\\ufffd\\ufffd\"" },
	{ "a surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
	{ "beyond Unicode", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80",
	  "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
	{ "a byte that never occurs", "\xff", "\\xff", "\"\\ufffd\"" },
	{ "a C1 control (CSI)",
	  "\xc2\x9b"
	  "2J",
	  "\\xc2\\x9b2J", "\"\\u009b2J\"" },
	{ "a blank that parts no words", "\xc2\xa0", "\\xc2\\xa0", "\"\\u00a0\"" },
	{ "the first after it", "\xc2\xa1", "\xc2\xa1", "\"\xc2\xa1\"" },
	{ "an Arabic letter mark", "\xd8\x9c", "\\xd8\\x9c", "\"\\u061c\"" },
	{ "a tag, which is two in JSON", "\xf3\xa0\x81\xa1", "\\xf3\\xa0\\x81\\xa1",
	  "\"\\udb40\\udc61\"" },
	{ "right-to-left override", "\xe2\x80\xae", "\\xe2\\x80\\xae", "\"\\u202e\"" },
	{ "an isolate", "\xe2\x81\xa6", "\\xe2\\x81\\xa6", "\"\\u2066\"" },
	{ "a space without width", "\xe2\x80\x8b", "\\xe2\\x80\\x8b", "\"\\u200b\"" },
	{ "a byte order mark", "\xef\xbb\xbf", "\\xef\\xbb\\xbf", "\"\\ufeff\"" },
	{ "the dash beside them", "\xe2\x80\x90", "\xe2\x80\x90", "\"\xe2\x80\x90\"" },
};

static void test_escaping(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autobuf struct ab_buf json = { 0 };
		ab_autofree char *screen = ab_escape(cases[i].text);

		is_str(screen, cases[i].screen, cases[i].name);
		ab_buf_json(&json, cases[i].text);
		is_str(json.data, cases[i].json, cases[i].name);
	}
}

/* A text that is cut in the middle of a character, or holds a NUL. */
static void test_lengths(void)
{
	ab_autobuf struct ab_buf json = { 0 }, screen = { 0 };
	const char *none = NULL;

	ab_buf_json_n(&json, "a\0b\xc3\xa9", 4);
	is_str(json.data, "\"a\\u0000b\\ufffd\"", "a view as JSON");
	ab_buf_escape_n(&screen, "a\0b\xc3\xa9", 4);
	is_str(screen.data, "a\\x00b\\xc3", "a view for a terminal");
	json.len = 0;
	ab_buf_jsonf(&json, "{'a':%s,'b':%s}", "\"", none);
	is_str(json.data, "{\"a\":\"\\\"\",\"b\":null}", "members of an object");
	ok(ab_utf8_count("") == 0 && ab_utf8_count("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == 4,
	   "characters are counted, not bytes");
	is_str(ab_utf8_tail("a\xc3\xa9\xe2\x82\xac"
			    "b",
			    2),
	       "\xe2\x82\xac"
	       "b",
	       "the last two");
	is_str(ab_utf8_tail("\xc3\xa9", 1), "\xc3\xa9", "all of them if there are no more");
	is_str(ab_utf8_tail("\xc3\xa9", 0), "", "none");
	ok(ab_printable("\xc3\xa9", 2) == 2 && ab_printable("\xc3\xa9", 1) == 0 &&
		   ab_printable("", 0) == 0,
	   "nothing is read behind the end");
}

/* Bytes are tested in blocks: each length, with a quote at each place or at none, and a letter of two
 * bytes after it. */
static void test_blocks(void)
{
	bool same = true;

	for (size_t len = 0; len < 50; len++)
		for (size_t quote = 0; quote <= len; quote++) {
			ab_autobuf struct ab_buf text = { 0 }, want = { 0 }, got = { 0 };

			ab_buf_puts(&text, "");
			ab_buf_puts(&want, "\"");
			for (size_t i = 0; i < len; i++) {
				char letter = (char)('a' + i % 26);

				ab_buf_add(&text, i == quote ? "\"" : &letter, 1);
				if (i == quote)
					ab_buf_puts(&want, "\\\"");
				else
					ab_buf_add(&want, &letter, 1);
			}
			if (quote % 5 == 4) {
				ab_buf_puts(&text, "\xc3\xa9");
				ab_buf_puts(&want, "\xc3\xa9");
			}
			ab_buf_puts(&want, "\"");
			ab_buf_json_n(&got, guarded(text.data, text.len), text.len);
			same = same && strcmp(got.data, want.data) == 0;
		}
	ok(same, "a quote is escaped at each place of a text of each length");
}

/* Whatever two bytes come, what is shown holds no control character, and the
 * escaping of what is shown changes nothing more. */
static void test_every_pair(void)
{
	bool clean = true, stable = true;

	for (unsigned int pair = 0x100; pair < 0x10000; pair++) {
		char in[] = { (char)(pair >> 8), (char)(pair & 0xff), 0 };
		ab_autofree char *once = ab_escape(in);
		ab_autofree char *twice = ab_escape(once);

		for (const char *p = once; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				clean = false;
		stable = stable && strcmp(once, twice) == 0;
	}
	ok(clean, "no pair of bytes leaves a control character");
	ok(stable, "escaped text stays as it is");
}

/* Add and consume; compare with what a queue has. */
static void test_queue(bool wipe)
{
	static const size_t adds[] = { 1, 200, 3, 255, 256, 1000, 7, 5000 };
	struct ab_buf b = { .wipe = wipe };
	unsigned char next = 0, seen = 0;
	int wrong = 0;

	for (size_t round = 0; round < 200; round++) {
		size_t skip = b.len * (round % 5) / 4;

		for (size_t i = 0; i < adds[round % AB_COUNT(adds)]; i++, next++)
			ab_buf_add(&b, &next, 1);
		skip = skip < b.len ? skip : b.len;
		for (size_t i = 0; i < skip; i++)
			wrong += ab_buf_bytes(&b)[i] != seen++;
		ab_buf_skip(&b, skip);
		for (size_t i = 1; wipe && i <= b.skipped; i++)
			wrong += b.data[-(ptrdiff_t)i] != 0;
		for (size_t i = b.skipped + b.len; wipe && i < b.room; i++)
			wrong += b.data[i - b.skipped] != 0;
		wrong += b.data && b.data[b.len] != '\0';
	}
	ok(wrong == 0, "a queue keeps its order%s", wipe ? ", and nothing else" : "");
	ab_buf_skip(&b, b.len);
	ok(!b.data && !b.len && !b.room && !b.skipped && b.wipe == wipe,
	   "an empty queue has no memory");
	ab_buf_skip(&b, 0);
	ab_buf_puts(&b, "consumed, taken");
	ab_buf_skip(&b, 10);
	is_str(b.data, "taken", "the rest is a text");
	free(ab_buf_take(&b));
	ab_buf_puts(&b, "ab");
	ab_buf_skip(&b, 1);
	ab_buf_fini(&b);
	ok(!b.data && !b.skipped, "freed");
}

static void test_templates(void)
{
	ab_autobuf struct ab_buf b = { 0 };
	ab_autostrv struct ab_strv list = { 0 };
	const char *none = NULL;

	ab_buf_jsonf(&b, ",{'list':%p", ab_list(&list));
	ab_strv_add(&list, "a\"");
	ab_strv_add(&list, "b");
	ab_buf_jsonf(&b, ",'list':%p,'own':%-s,'none':%-s}", ab_list(&list), "[1]", none);
	is_str(b.data, "{\"list\":[],\"list\":[\"a\\\"\",\"b\"],\"own\":[1],\"none\":null}",
	       "lists, and JSON as it is");
	b.len = 0;
	ab_buf_jsonf(&b, "[%d,%u,%zu,%jd,%ju,%lld,%llu]", -1, UINT32_MAX, SIZE_MAX, INT64_MIN,
		     UINT64_MAX, -2ll, 2ull);
	is_str(b.data,
	       "[-1,4294967295,18446744073709551615,-9223372036854775808,18446744073709551615,-2,"
	       "2]",
	       "numbers");
	b.len = 0;
	ab_buf_jsonf(&b, "[");
	for (int i = 0; i < 3; i++)
		ab_buf_jsonf(&b, ",%hhd", (bool)(i == 1));
	ab_buf_jsonf(&b, ",%.*s,%.*s]\n", 3, "a\0'b", 0, "x");
	is_str(b.data, "[false,true,false,\"a\\u0000'\",\"\"]\n",
	       "flags, views, and a comma between elements only");
	b.len = 0;
	ab_buf_jsonf(&b, "{?,'a':%s?,'b':%s?,'c':%p?,'d':%s,'e':%s}", none, "x", NULL, none, none);
	is_str(b.data, "{\"b\":\"x\",\"e\":null}", "members without a value can be left out");
	is_str(ab_text_or_null(""), NULL, "an empty text is null");
	is_str(ab_text_or_null("%s"), "%s", "another is not");
}

int main(void)
{
	test_templates();
	test_queue(false);
	test_queue(true);
	test_growth();
	test_escaping();
	test_lengths();
	test_blocks();
	test_every_pair();
	return done();
}
