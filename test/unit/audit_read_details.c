/*
 * Members of a record, found without a parser: a table of cases, each cut at
 * every byte, and random documents about which it must agree with the JSON
 * library.
 */
#include "audit/read/details.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "guard.h"
#include "tap.h"

static const char *const names[] = { "a", "domain", "n", "list", "\xc3\xa9" };

static const struct {
	const char *line;
	const char *seen; /* kind and decoded value of each; NULL: refused */
} cases[] = {
	{ "{}", "-----" },
	{ " { } ", "-----" },
	{ "{\"a\":\"x\"}", "\"x\"----" },
	{ "{\"a\":\"x\",\"a\":\"y\"}", "\"y\"----" },
	{ "{\"A\":1,\"aa\":2,\"\":3}", "-----" },
	{ "{\"domain\":\"x.y\",\"n\":-12}", "-\"x.y\"-12--" },
	{ "{ \"n\" : 0 , \"a\" : null }", "null-0--" },
	{ "{\"n\":1.5e3,\"a\":true}", "true-?--" },
	{ "{\"n\":9223372036854775807}", "--9223372036854775807--" },
	{ "{\"n\":-9223372036854775808}", "---9223372036854775808--" },
	{ "{\"n\":9223372036854775808}", "--?--" },
	{ "{\"list\":[1,{\"a\":\"]\"}],\"a\":false}", "false--[1,{\"a\":\"]\"}]-" },
	{ "{\"\\u0061\":\"\\u00e9\\n\\\"\\\\\\/\\ud83d\\ude00\"}",
	  "\"\xc3\xa9\n\"\\/\xf0\x9f\x98\x80\"----" },
	{ "{\"\\u00e9\":1}", "----1" },
	{ "{\"\xc3\xa9\":1}", "----1" },
	{ "{\"a\":\"\\ud83d\"}", "\"\xef\xbf\xbd\"----" },
	{ "{\"a\":\"\\ud83dx\\u0000\"}", "\"\xef\xbf\xbdx\xef\xbf\xbd\"----" },
	/* What is no record. */
	{ "", NULL },
	{ "[]", NULL },
	{ "{\"a\":1", NULL },
	{ "{\"a\":}", NULL },
	{ "{\"a\" 1}", NULL },
	{ "{\"a\":01}", NULL },
	{ "{\"a\":1,}", NULL },
	{ "{\"a\":1}}", NULL },
	{ "{\"a\":1} {", NULL },
	{ "{\"a\":\"\x01\"}", NULL },
	{ "{\"a\":\"\\x\"}", NULL },
	{ "{\"a\":\"\\u12g4\"}", NULL },
	{ "{\"a\":[}", NULL },
	{ "{\"a\":[1}]}", NULL },
	{ "{\"a\":tru}", NULL },
	{ "{\"a\":-}", NULL },
	{ "{\"a\":1e}", NULL },
	{ "{a:1}", NULL },
};

static void add_seen(struct ab_buf *b, const struct ab_detail *f)
{
	int64_t number = ab_detail_number(f, 0);

	switch (f->kind) {
	case AB_DETAIL_NONE:
		ab_buf_puts(b, "-");
		break;
	case AB_DETAIL_NULL:
		ab_buf_puts(b, "null");
		break;
	case AB_DETAIL_FALSE:
		ab_buf_puts(b, "false");
		break;
	case AB_DETAIL_TRUE:
		ab_buf_puts(b, "true");
		break;
	case AB_DETAIL_NUMBER:
		if (number == ab_detail_number(f, 1))
			ab_buf_printf(b, "%lld", (long long)number);
		else
			ab_buf_puts(b, "?");
		break;
	case AB_DETAIL_TEXT:
		ab_buf_puts(b, "\"");
		ab_detail_add(f, b);
		ab_buf_puts(b, "\"");
		break;
	case AB_DETAIL_NESTED:
		ab_buf_add(b, f->at, f->len);
		break;
	}
}

static void check_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		size_t len = strlen(cases[i].line);
		struct ab_detail f[AB_COUNT(names)];
		ab_autobuf struct ab_buf b = { 0 };
		int r = ab_details_find(guarded(cases[i].line, len), len, names, AB_COUNT(names),
					f);

		for (size_t k = 0; r == 0 && k < AB_COUNT(names); k++)
			add_seen(&b, &f[k]);
		is_str(r == 0 ? b.data : NULL, cases[i].seen, cases[i].line);
	}
}

static void check_cuts(void)
{
	struct ab_detail f[AB_COUNT(names)];
	bool good = true;

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const char *line = cases[i].line;
		const char *end = strrchr(line, '}');
		size_t len = end ? (size_t)(end - line) : 0;

		for (; cases[i].seen && len > 0; len--)
			good &= ab_details_find(guarded(line, len), len, names, AB_COUNT(names),
						f) < 0;
	}
	ok(good, "a record that is cut off is none");
}

static void check_depth(void)
{
	char line[256];
	struct ab_detail f[AB_COUNT(names)];

	for (int depth = 63; depth <= 65; depth++) {
		size_t n = (size_t)snprintf(line, sizeof(line), "{\"a\":");

		memset(line + n, '[', (size_t)depth);
		memset(line + n + depth, ']', (size_t)depth);
		snprintf(line + n + 2 * depth, 2, "}");
		ok((ab_details_find(line, strlen(line), names, AB_COUNT(names), f) == 0) ==
			   (depth <= 64),
		   "%d lists in each other", depth);
	}
}

static void check_lists(void)
{
	static const char *const one[] = { "l" };
	static const struct {
		const char *line, *seen;
	} lists[] = {
		{ "{\"l\":[]}", "" },
		{ "{\"l\":[1]}", "1;" },
		{ "{\"l\":[ \"a\" , [2,3] , {\"x\":[]} ]}", "\"a\";[2,3];{\"x\":[]};" },
		{ "{\"l\":{\"a\":1}}", "" },
		{ "{\"l\":7}", "" },
		{ "{\"l\":[1 2]}", "1;" },
		{ "{\"l\":[1,]}", "1;" },
		{ "{}", "" },
	};

	for (size_t i = 0; i < AB_COUNT(lists); i++) {
		ab_autobuf struct ab_buf b = { 0 };
		struct ab_detail list, element;
		size_t at = 0, len = strlen(lists[i].line);

		ab_buf_puts(&b, "");
		if (ab_details_find(guarded(lists[i].line, len), len, one, 1, &list) < 0)
			abort();
		while (ab_detail_next(&list, &at, &element)) {
			add_seen(&b, &element);
			ab_buf_puts(&b, ";");
		}
		is_str(b.data, lists[i].seen, lists[i].line);
	}
}

static void check_texts(void)
{
	static const char line[] = "{\"a\":\"x\\u00e9y\",\"n\":5}";
	struct ab_detail f[AB_COUNT(names)];
	char small[4], all[16];

	ab_details_find(line, strlen(line), names, AB_COUNT(names), f);
	ok(ab_detail_is(&f[0], "x\xc3\xa9y"), "a text is compared decoded");
	ok(!ab_detail_is(&f[0], "x\xc3\xa9") && !ab_detail_is(&f[0], "") &&
		   !ab_detail_is(&f[0], "x\xc3\xa9yz"),
	   "a beginning of it is another text");
	ok(!ab_detail_is(&f[2], "5"), "a number is no text");
	ok(ab_detail_copy(&f[0], all, sizeof(all)) == 4 && strcmp(all, "x\xc3\xa9y") == 0,
	   "a copy is decoded");
	ok(ab_detail_copy(&f[0], small, sizeof(small)) == 3 && strcmp(small, "x\xc3\xa9") == 0,
	   "a copy is cut to its room");
	ok(ab_detail_copy(&f[2], small, sizeof(small)) == 0 && !small[0], "a number has no text");
	ok(!ab_detail_dup(&f[1]), "nor has what is not there");
}

static uint32_t state = 1;

static uint32_t pick(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static json_t *random_value(int depth)
{
	static const char *const texts[] = { "",
					     "x",
					     "a\"b\\c",
					     "\xc3\xa9\n\t",
					     "\xf0\x9f\x98\x80",
					     "}]",
					     "/\x7f\x01",
					     "a longer text that has nothing special in it" };
	json_t *v;

	switch (pick(depth > 3 ? 6 : 8)) {
	case 0:
		return json_null();
	case 1:
		return json_true();
	case 2:
		return json_false();
	case 3:
		return json_integer((json_int_t)pick(1 << 20) - (1 << 19));
	case 4:
		return json_real(pick(1000) / 7.0);
	case 5:
		return json_string(texts[pick(AB_COUNT(texts))]);
	case 6:
		v = json_array();
		for (uint32_t n = pick(4); n > 0; n--)
			json_array_append_new(v, random_value(depth + 1));
		return v;
	default:
		v = json_object();
		for (uint32_t n = pick(4); n > 0; n--)
			json_object_set_new(v, texts[pick(AB_COUNT(texts))],
					    random_value(depth + 1));
		return v;
	}
}

static bool same(const json_t *want, const struct ab_detail *f)
{
	ab_autofree char *text = ab_detail_dup(f);
	json_t *again;
	bool equal;

	switch (f->kind) {
	case AB_DETAIL_NONE:
		return !want;
	case AB_DETAIL_NULL:
		return json_is_null(want);
	case AB_DETAIL_FALSE:
		return json_is_false(want);
	case AB_DETAIL_TRUE:
		return json_is_true(want);
	case AB_DETAIL_NUMBER:
		if (json_is_real(want))
			return ab_detail_number(f, 7) == 7;
		return json_is_integer(want) &&
		       ab_detail_number(f, INT64_MIN) == json_integer_value(want);
	case AB_DETAIL_TEXT:
		return json_is_string(want) && strcmp(json_string_value(want), text) == 0 &&
		       ab_detail_is(f, json_string_value(want));
	case AB_DETAIL_NESTED:
		again = json_loadb(f->at, f->len, 0, NULL);
		equal = again && json_equal(again, want);
		json_decref(again);
		return equal;
	}
	return false;
}

/* The library's own spellings of it. */
static bool agree(const json_t *doc, size_t flags)
{
	ab_autofree char *line = json_dumps(doc, flags);
	struct ab_detail f[AB_COUNT(names)];
	size_t len = strlen(line);

	if (ab_details_find(guarded(line, len), len, names, AB_COUNT(names), f) < 0)
		return false;
	for (size_t i = 0; i < AB_COUNT(names); i++)
		if (!same(json_object_get(doc, names[i]), &f[i]))
			return false;
	return true;
}

static void check_random(void)
{
	static const size_t flags[] = { JSON_COMPACT, 0, JSON_INDENT(2), JSON_ENSURE_ASCII,
					JSON_ESCAPE_SLASH };
	bool good = true;

	for (int i = 0; i < 4000 && good; i++) {
		json_t *doc = json_object();

		for (uint32_t n = pick(8); n > 0; n--)
			json_object_set_new(doc, pick(4) ? names[pick(AB_COUNT(names))] : "no",
					    random_value(0));
		good = agree(doc, flags[pick(AB_COUNT(flags))]);
		json_decref(doc);
	}
	ok(good, "4000 random documents: the same as the JSON library");
}

/* One byte of a document is another: what we refuse, it refuses. */
static void check_mutations(void)
{
	static const char bytes[] = "{}[]\",:\\u01 ae-.";
	bool good = true;

	for (int i = 0; i < 20000 && good; i++) {
		json_t *doc = json_object(), *again;
		ab_autofree char *line = NULL;
		struct ab_detail f[AB_COUNT(names)];
		size_t len;

		json_object_set_new(doc, "a", random_value(1));
		json_object_set_new(doc, "list", random_value(1));
		line = json_dumps(doc, JSON_COMPACT);
		json_decref(doc);
		len = strlen(line);
		line[pick((uint32_t)len)] = bytes[pick(sizeof(bytes) - 1)];
		again = json_loadb(line, len, 0, NULL);
		if (ab_details_find(guarded(line, len), len, names, AB_COUNT(names), f) < 0) {
			good = !again;
		} else if (again) {
			for (size_t k = 0; k < AB_COUNT(names); k++)
				good &= same(json_object_get(again, names[k]), &f[k]);
		}
		if (!good)
			printf("# %s\n", line);
		json_decref(again);
	}
	ok(good, "20000 damaged ones: it takes all that the library takes");
}

int main(void)
{
	check_cases();
	check_cuts();
	check_depth();
	check_lists();
	check_texts();
	check_random();
	check_mutations();
	return done();
}
