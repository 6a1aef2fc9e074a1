/*
 * Values that come back: each form is replaced, the length stays, and it does
 * not matter how the bytes are cut.
 */
#include "proxy/secrets/scrub.h"

#include <stdio.h>

#include "base/data/buf.h"
#include "base/data/ascii.h"
#include "base/text/base64.h"
#include "proxy/secrets/escapes.h"
#include "tap.h"
#include "vault_help.h"

/* All at once. */
static char *whole(struct ab_scrub *scrub, const char *in)
{
	char *s = ab_strdup(in);

	if (ab_scrub_take(scrub, (uint8_t *)s, strlen(s), true) != strlen(s))
		abort();
	return s;
}

/* In pieces of `step`; what is not final is given again. */
static char *pieces(struct ab_scrub *scrub, const char *in, size_t step)
{
	char *s = ab_strdup(in);
	size_t len = strlen(s), final = 0;

	for (size_t end = step; final < len; end += step) {
		size_t n = end < len ? end : len;
		/* its own memory: nothing behind it is touched */
		uint8_t *part = ab_alloc(n - final + 1);
		size_t done;

		memcpy(part, s + final, n - final);
		part[n - final] = 0xa5;
		done = ab_scrub_take(scrub, part, n - final, n == len);
		if (part[n - final] != 0xa5)
			abort();
		memcpy(s + final, part, done);
		final += done;
		free(part);
		if (n == len && final < len)
			abort();
	}
	return s;
}

static void check(struct ab_scrub *scrub, const struct ab_vault *vault, const char *in,
		  const char *out, const char *name)
{
	char *text = help_fill(vault, in), *want = help_fill(vault, out);
	char *got = whole(scrub, text);
	size_t wrong = 0;

	is_str(got, want, name);
	for (size_t step = 1; step <= strlen(text); step++) {
		char *cut = pieces(scrub, text, step);

		wrong += strcmp(cut, got) != 0;
		free(cut);
	}
	ok(!wrong, "however it is cut");
	free(text);
	free(want);
	free(got);
}

static void test_plain(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_host one = help_host("api.one.test"), any = help_host("any.test"),
		       none = help_host("no.test");
	struct ab_scrub *scrub = help_scrub(vault, &one, 443);
	char *cut = ab_strndup(ab_vault_at(vault, HELP_ANY)->placeholder, 11);
	char *text;

	check(scrub, vault, "{\"token\":\"@0\"}", "{\"token\":\"$0\"}",
	      "a value becomes its placeholder");
	check(scrub, vault, "@0@0@1@0", "$0$0$1$0", "one behind the other");
	check(scrub, vault, "@3 stays", "@3 stays", "another host's value is bytes as any");
	check(scrub, vault, "sk-one-3fK9vQ2mZx7Lw0TgYb5NdR8", "sk-one-3fK9vQ2mZx7Lw0TgYb5NdR8",
	      "all but its last byte");
	check(scrub, vault, "sk-one-3fK@0", "sk-one-3fK$0", "behind its own begin");
	check(scrub, vault, "", "", "nothing");
	ab_scrubs_free(scrub);
	ok(!help_scrub(vault, &none, 443), "a host without secrets");
	ok(!help_scrub(vault, &one, 80), "another port");

	scrub = help_scrub(vault, &any, 443);
	text = whole(scrub, "<short-value>");
	ok(strncmp(text + 1, cut, 11) == 0 && strcmp(text + 12, ">") == 0,
	   "a short value becomes a cut placeholder");
	free(text);
	free(cut);
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

static void test_forms(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_host one = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &one, 443);
	const char *filled;

	filled = "a=$1xxxxxxxxxxxx&";
	check(scrub, vault, "a=0123%2Babc%2FDEF%3Dghi%2525%22q%5Cz&", filled, "percent-encoded");
	check(scrub, vault, "a=0123%2babc%2fDEF%3dghi%2525%22q%5cz&", filled, "with small digits");
	check(scrub, vault, "a=0123+abc/DEF=ghi%2525\"q\\z&", "a=$1xx&", "one character of it");
	check(scrub, vault, "\"0123+abc/DEF=ghi%25\\\"q\\\\z\"", "\"$1xx\"", "in JSON");
	check(scrub, vault, "\"0123+abc\\/DEF=ghi%25\\u0022q\\\\z\"", "\"$1xxxxxxx\"",
	      "with escapes of every kind");
	check(scrub, vault, "\\u0073k-one-3fK9vQ2mZx7Lw0TgYb5NdR8c", "$0xxxxx",
	      "of the first character");
	check(scrub, vault, "sk-one-3fK9vQ2mZx7Lw0TgYb5NdR8%63", "$0xx", "of the last");
	check(scrub, vault, "sk-one-3fK%39vQ2m\\u005ax7Lw0TgYb5NdR8c",
	      "sk-one-3fK%39vQ2m\\u005ax7Lw0TgYb5NdR8c", "nobody mixes the two");
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

static void test_base64(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_host one = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &one, 443);

	for (unsigned i = 0; i < 16; i++) {
		size_t which = i / 8;
		const struct ab_vault_entry *e = ab_vault_at(vault, which);
		char *text = ab_printf("%.*s%.*s; more text", (int)(i % 4), "user",
				       (int)e->value_len, e->value);
		size_t n = AB_BASE64_ROOM(strlen(text)), len;
		char *encoded = ab_alloc(n + 1), *decoded = ab_alloc(n);
		char *got;

		ab_base64_encode(text, strlen(text), i / 4 % 2, encoded);
		got = whole(scrub, encoded);
		ok(strlen(got) == n && ab_base64_decode(got, n, decoded, &len) &&
			   len == strlen(text) && !memmem(decoded, len, e->value, e->value_len) &&
			   memmem(decoded, len, e->placeholder + 1, e->value_len - 2),
		   "in base64 it is the placeholder's: %s", got);
		ok(memcmp(decoded, text, i % 4) == 0 &&
			   memcmp(decoded + len - 11, "; more text", 11) == 0,
		   "and what is around it stays");
		free(text);
		free(encoded);
		free(decoded);
		free(got);
	}
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

/* The characters of a value, each in one way. */
struct way {
	const char *name;
	const char *format; /* of one character */
	bool letters;	    /* also of letters and digits */
};

static const struct way ways[] = {
	{ "hexadecimal", "%02x", true },
	{ "hexadecimal, capital", "%02X", true },
	{ "percent, twice", "%%25%02X", true },
	{ "percent, twice, where needed", "%%25%02x", false },
	{ "\\x", "\\x%02x", true },
	{ "\\x where needed", "\\x%02X", false },
	{ "\\u", "\\u%04x", true },
	{ "entities, decimal", "&#%u;", true },
	{ "entities, decimal, where needed", "&#%u;", false },
	{ "entities, three digits", "&#%03u;", true },
	{ "entities, four digits", "&#%04u;", true },
	{ "entities, hexadecimal", "&#x%02x;", true },
	{ "entities, hexadecimal, capital", "&#X%02X;", true },
	{ "entities, four hexadecimal digits", "&#x%04X;", true },
	{ "entities, seven digits", "&#%07u;", true },
	{ "entities, twelve digits", "&#%012u;", true },
	{ "entities, twelve hexadecimal digits", "&#X%012x;", true },
	{ "entities without semicolon", "&#%u", true },
	{ "entities without semicolon, where needed", "&#%u", false },
	{ "entities, hexadecimal, without semicolon", "&#x%x", true },
	{ "entities, hexadecimal, without semicolon, where needed", "&#x%X", false },
	{ "entities, zeros and no semicolon", "&#x%05x", true },
};

/* Put it between two marks. */
static void encode(struct ab_buf *b, const char *value, const struct way *way)
{
	char one[16];

	ab_buf_puts(b, "<<");
	for (; *value; value++)
		if (way->letters || !ab_is_alnum(*value))
			ab_buf_add(b, one,
				   (size_t)snprintf(one, sizeof(one), way->format,
						    (unsigned char)*value));
		else
			ab_buf_add(b, value, 1);
	ab_buf_puts(b, ">>");
}

static void encode_utf16(struct ab_buf *b, const char *value, bool little)
{
	ab_buf_puts(b, "<<");
	for (; *value; value++) {
		uint8_t pair[2] = { 0, 0 };

		pair[!little] = (uint8_t)*value;
		ab_buf_add(b, pair, 2);
	}
	ab_buf_puts(b, ">>");
}

/* Nothing of it may stay that is longer than an escape. */
static bool keeps_part(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t same = 0;

	for (size_t i = 2; i + 2 < len; i++) {
		same = a[i] == b[i] ? same + 1 : 0;
		if (same >= 24)
			return true;
	}
	return false;
}

static void check_bytes(struct ab_scrub *scrub, const struct ab_buf *in, const char *name)
{
	size_t len = in->len, wrong = 0;
	uint8_t *whole_out = ab_alloc(len), *cut = ab_alloc(len);

	memcpy(whole_out, in->data, len);
	ab_scrub_take(scrub, whole_out, len, true);
	ok(!keeps_part(whole_out, (const uint8_t *)in->data, len) &&
		   memcmp(whole_out, "<<", 2) == 0 && memcmp(whole_out + len - 2, ">>", 2) == 0,
	   "%s: it is replaced, and nothing else", name);
	for (size_t step = 1; step < len; step++) {
		size_t done = 0;

		memcpy(cut, in->data, len);
		for (size_t end = step; done < len; end += step) {
			size_t n = end < len ? end : len;

			done += ab_scrub_take(scrub, cut + done, n - done, n == len);
		}
		wrong += memcmp(cut, whole_out, len) != 0;
	}
	ok(!wrong, "%s: however it is cut", name);
	free(whole_out);
	free(cut);
}

static void test_encoded(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_host one = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &one, 443);
	struct ab_buf b = { 0 };

	for (size_t v = HELP_BEARER; v <= HELP_HEADER; v++) {
		for (size_t i = 0; i < AB_COUNT(ways); i++) {
			encode(&b, help_values[v], &ways[i]);
			check_bytes(scrub, &b, ways[i].name);
			ab_buf_fini(&b);
		}
		for (int little = 0; little < 2; little++) {
			encode_utf16(&b, help_values[v], little);
			check_bytes(scrub, &b, little ? "UTF-16, little" : "UTF-16, big");
			ab_buf_fini(&b);
		}
	}
	/* 0123+abc/DEF=ghi%25"q\z */
	check(scrub, vault, "<0123&plus;abc&sol;DEF&equals;ghi&percnt;25&quot;q&bsol;z>",
	      "<$1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx>", "names of HTML");
	check(scrub, vault, "<0123+abc/DEF=ghi%25&quot;q\\z>", "<$1xxxxx>", "the usual one");
	check(scrub, vault, "<0123+abc/DEF=ghi&pct;25&quot;q\\z>",
	      "<0123+abc/DEF=ghi&pct;25&quot;q\\z>", "not a name");
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

/* The characters of `text` in lines of `columns`, the first one shorter by `shift`. */
static void wrap(struct ab_buf *b, const char *text, size_t columns, size_t shift,
		 const char *line_break)
{
	for (size_t i = 0; text[i]; i++) {
		if (i && (i + shift) % columns == 0)
			ab_buf_puts(b, line_break);
		ab_buf_add(b, text + i, 1);
	}
}

static const char *const line_breaks[] = {
	"\n",  "\r\n",	 "\r",	       "\\n",	"\\r\\n",     "\\u000a",      "\\u000d\\u000a",
	"%0A", "%0d%0a", "%250D%250A", "&#10;", "&#xD;&#xA;", "&#013;&#010;",
};

static char *encode_form(const char *value, int form)
{
	size_t len = strlen(value);
	char *ret = ab_alloc(2 * len + 1);

	if (form < 2)
		ab_base64_encode(value, len, (enum ab_base64)form, ret);
	for (size_t i = 0; form == 2 && i < len; i++)
		sprintf(ret + 2 * i, "%02x", (unsigned char)value[i]);
	return ret;
}

/* How many digits in a row stay as they were? */
static size_t longest_rest(const char *got, const char *in, const char *text, size_t line_break)
{
	size_t most = 0, n = 0, at = 2;

	for (size_t i = 0; text[i]; i++, at++) {
		at += in[at] == text[i] ? 0 : line_break;
		n = got[at] == in[at] ? n + 1 : 0;
		most = n > most ? n : most;
	}
	return most;
}

/* Lines of these widths; text cut into pieces of every length up to the first, then of every so many
 * more. The sanitizers need ten times as long for one. */
#ifdef AB_SANITIZED
static const size_t widths[] = { 2, 60 };
enum { EVERY_LENGTH = 4, MORE = 61 };
#else
static const size_t widths[] = { 2, 3, 4, 5, 6, 7, 8, 25, 42, 59, 60, 76 };
enum { EVERY_LENGTH = 40, MORE = 7 };
#endif

/* In lines, with every beginning. */
static void check_wrapped(struct ab_scrub *scrub, const char *value, int form,
			  const char *line_break)
{
	ab_autofree char *text = encode_form(value, form);
	size_t left = 0, wrong = 0, other = 0;

	for (size_t w = 0; w < AB_COUNT(widths); w++)
		for (size_t shift = 0; shift < widths[w] && shift < 6; shift++) {
			ab_autobuf struct ab_buf b = { 0 };
			ab_autofree char *all = NULL;

			ab_buf_puts(&b, "<<");
			wrap(&b, text, widths[w], shift, line_break);
			ab_buf_puts(&b, ">>");
			all = whole(scrub, b.data);
			/* A placeholder begins as the value does: "sk-one-". */
			left += longest_rest(all, b.data, text, strlen(line_break)) > 15;
			other += strncmp(all, "<<", 2) != 0 || strcmp(all + b.len - 2, ">>") != 0;
			for (size_t step = 1; step <= b.len;
			     step += step < EVERY_LENGTH ? 1 : MORE) {
				ab_autofree char *cut = pieces(scrub, b.data, step);

				wrong += strcmp(cut, all) != 0;
			}
		}
	ok(!left, "form %d in lines: nothing of it stays", form);
	ok(!other && !wrong, "and nothing else is replaced, however it is cut");
}

static void test_wrapped(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_host one = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &one, 443);

	for (size_t v = HELP_BEARER; v <= HELP_HEADER; v++)
		for (int form = 0; form < 3; form++)
			for (size_t i = 0; i < AB_COUNT(line_breaks); i++)
				check_wrapped(scrub, help_values[v], form, line_breaks[i]);
	/* What PHP writes: a slash with a backslash, and CR LF. */
	check(scrub, vault,
	      "MDEyMythhYmNcL0RFRj1naGk=", "MDEyMythhYmNcL0RFRj1naGk=", "another text");
	check(scrub, vault, "sk-one-3fK9vQ2mZ\nx7Lw0TgYb5NdR8c",
	      "sk-one-3fK9vQ2mZ\nx7Lw0TgYb5NdR8c", "lines of text are not one");
	check(scrub, vault, "736b2d6f6e652d3366\n\n4b397651326d5a78374c7730546759623",
	      "736b2d6f6e652d3366\n\n4b397651326d5a78374c7730546759623",
	      "an empty line parts them");
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

/* Nothing waits that could be no value. */
static void test_held(void)
{
	struct ab_vault *vault = help_vault();
	struct ab_host one = help_host("api.one.test");
	struct ab_scrub *scrub = help_scrub(vault, &one, 443);
	static const struct {
		const char *in;
		size_t held;
	} cases[] = {
		{ "data: {\"delta\":\"text\"}\n\n", 0 },
		{ "data: sk-one-\n\n", 0 },
		{ "data: sk-one-", 7 },
		{ "data: s", 1 },
		{ "sk-one-3fK9vQ2mZx7Lw0TgYb5NdR8c", 0 },
		{ "100%", 2 },
		{ "100% of", 0 },
		{ "one: %7", 2 },
		{ "one: %8", 0 },
		{ "!\\", 1 },
		{ "a\\n", 0 },
		{ "s%6b-one", 8 },
		{ "one: %257", 4 },
		{ "one: %258", 0 },
		{ "a \\x7", 3 },
		{ "a \\x8", 0 },
		{ "fish &", 1 },
		{ "fish & chip", 0 },
		{ "fish &amp", 0 },
		{ "fish &amp;", 0 },
		{ "&#11", 4 },
		{ "&#28", 0 },
	};

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		char *s = ab_strdup(cases[i].in);
		size_t len = strlen(s);

		ok(len - ab_scrub_take(scrub, (uint8_t *)s, len, false) == cases[i].held,
		   "%zu wait of %s", cases[i].held, cases[i].in);
		free(s);
	}
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

/* Same values, and one within another. */
static void test_several(void)
{
	static char name[] = "a.test:443", *hosts[] = { name };
	static const struct ab_secret list[] = {
		{ .name = "A", .hosts = { .v = hosts, .len = 1 } },
		{ .name = "B", .hosts = { .v = hosts, .len = 1 } },
		{ .name = "C", .hosts = { .v = hosts, .len = 1 } },
		{ .name = "D", .hosts = { .v = hosts, .len = 1 } },
	};
	static const char *const texts[] = {
		"inner-value-of-32-bytes-012345678",
		"inner-value-of-32-bytes-012345678-and-more-of-it",
		"inner-value-of-32-bytes-012345678",
		"before-inner-value-of-32-bytes-012345678-and-more",
	};
	struct ab_secrets secrets = { list, 4 };
	struct ab_host host = help_host("a.test");
	struct ab_vault *vault;
	struct ab_scrub *scrub;
	struct ab_error err;

	if (ab_vault_new(&secrets, help_seed, &vault, &err) < 0)
		abort();
	for (size_t i = 0; i < 4; i++)
		if (ab_vault_set(vault, i, texts[i], strlen(texts[i]), &err) < 0)
			abort();
	scrub = help_scrub(vault, &host, 443);
	check(scrub, vault, "<@2>", "<$0>", "the first of two that are equal");
	check(scrub, vault, "<@1>", "<$1>", "the longer of two");
	check(scrub, vault, "<@3>", "<$3>", "the one that begins first");
	check(scrub, vault, "<@0-and-more>", "<$0-and-more>", "the shorter one where it is that");
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

/* A value of one byte, over and over: no worse than any. */
static void test_repeating(void)
{
	struct ab_secret secret = help_secrets[HELP_BEARER];
	struct ab_secrets secrets = { &secret, 1 };
	struct ab_host host = help_host("api.one.test");
	struct ab_vault *vault;
	struct ab_scrub *scrub;
	struct ab_error err;
	char *s = ab_alloc(65536), *value = ab_alloc(1024);
	size_t final;

	memset(value, 'a', 1024);
	memset(s, 'a', 65536);
	if (ab_vault_new(&secrets, help_seed, &vault, &err) < 0 ||
	    ab_vault_set(vault, 0, value, 1024, &err) < 0)
		abort();
	scrub = help_scrub(vault, &host, 443);
	final = ab_scrub_take(scrub, (uint8_t *)s, 65535, false);
	ok(final == 63 * 1024 && !memmem(s, final, "aaaaaaaa", 8), "a value that repeats itself");
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
	free(s);
	free(value);
}

/* `n` bytes that look like nothing in particular. */
static char *make_value(size_t n)
{
	char *value = ab_alloc(n + 1);
	uint32_t state = 1;

	for (size_t i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		value[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[(state >> 16) % 36];
	}
	return value;
}

/* Its first `n` bytes in escapes, and "!". Returns the length. */
static size_t put_escaped(char *s, const char *value, size_t n, const char *format)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(s + len, format, value[i]);
	s[len++] = '!';
	return len;
}

/* In pieces as they come from a connection, the begin of the value again and
 * again, and in the end all of it. */
static void check_long(struct ab_scrub *scrub, const char *value, size_t n, const char *format)
{
	size_t one = put_escaped((char[16]){ 0 }, value, 1, format) - 1;
	char *s = ab_alloc(12 * (n * one + 1) + 1), *before;
	size_t len = 0, at = 0, begin;

	for (size_t i = 1; i <= 10; i++)
		len += put_escaped(s + len, value, n * i / 11, format);
	begin = len;
	before = ab_strndup(s, begin);
	len += put_escaped(s + len, value, n, format);
	for (size_t end = 16384; at < len; end += 16384) {
		size_t have = end < len ? end : len;

		at += ab_scrub_take(scrub, (uint8_t *)s + at, have - at, have == len);
	}
	ok(memcmp(s, before, begin) == 0, "%zu bytes in escapes: the begin of it stays", n);
	ok(s[begin] != format[0] && !memchr(s + begin, format[0], len - begin) && s[len - 1] == '!',
	   "all of it does not");
	free(s);
	free(before);
}

static void test_long(void)
{
	static const size_t lens[] = { 8, 9, 40, 1000, 16384 };
	struct ab_secret secret = help_secrets[HELP_BEARER];
	struct ab_secrets secrets = { &secret, 1 };
	struct ab_host host = help_host("api.one.test");

	for (size_t i = 0; i < AB_COUNT(lens); i++) {
		char *value = make_value(lens[i]);
		struct ab_vault *vault;
		struct ab_scrub *scrub;
		struct ab_error err;

		if (ab_vault_new(&secrets, help_seed, &vault, &err) < 0 ||
		    ab_vault_set(vault, 0, value, lens[i], &err) < 0)
			abort();
		scrub = help_scrub(vault, &host, 443);
		check_long(scrub, value, lens[i], "%%%02x");
		check_long(scrub, value, lens[i], "\\u%04x");
		ab_scrubs_free(scrub);
		ab_vault_free(vault);
		free(value);
	}
}

/* What looks like an escape and is part of another one, or of the value. */
static void test_within(void)
{
	static char name[] = "a.test:443", *hosts[] = { name };
	static const struct ab_secret list[] = {
		{ .name = "A", .hosts = { .v = hosts, .len = 1 } },
		{ .name = "B", .hosts = { .v = hosts, .len = 1 } },
	};
	static const char digits[] = "0041-begins-with-digits-0123456789";
	static const char marks[] = "x%41\\u0041\\ends-with-a-mark-0123456%";
	struct ab_secrets secrets = { list, 2 };
	struct ab_host host = help_host("a.test");
	struct ab_vault *vault;
	struct ab_scrub *scrub;
	struct ab_error err;

	if (ab_vault_new(&secrets, help_seed, &vault, &err) < 0 ||
	    ab_vault_set(vault, 0, digits, strlen(digits), &err) < 0 ||
	    ab_vault_set(vault, 1, marks, strlen(marks), &err) < 0)
		abort();
	scrub = help_scrub(vault, &host, 443);
	check(scrub, vault, "\\u@0", "\\u$0", "digits of an escape begin it");
	check(scrub, vault, "%0041-begins-with-digits-012345678%39", "%$0xx",
	      "and another one ends it");
	check(scrub, vault, "\\u0041-begins-with-digits-012345678\\u0039", "\\u$0xxxxx",
	      "as in JSON");
	check(scrub, vault, "\\\\u0030041-begins-with-digits-0123456789", "\\$0xxxxx",
	      "behind a backslash");
	check(scrub, vault, "<@1>", "<$1>", "a value with marks, as it is");
	check(scrub, vault, "x%2541\\u0041\\ends-with-a-mark-0123456%25;", "$1xxxx;",
	      "with its marks escaped");
	check(scrub, vault, "x%41\\\\u0041\\\\ends-with-a-mark-0123456%;", "$1xx;", "as in JSON");
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

/* One escape in the value, with and without a mark far before it, at every distance from the borders
 * of the blocks and of what is looked at together. */
static void test_places(void)
{
	static char name[] = "a.test:443", *hosts[] = { name };
	static const struct ab_secret list[] = { { .name = "A",
						   .hosts = { .v = hosts, .len = 1 } } };
	struct ab_secrets secrets = { list, 1 };
	struct ab_host host = help_host("a.test");
	struct ab_vault *vault;
	struct ab_scrub *scrub;
	struct ab_error err;
	size_t missed = 0, wrong = 0;

	if (ab_vault_new(&secrets, help_seed, &vault, &err) < 0 ||
	    ab_vault_set(vault, 0, "secret-of-this-test", 19, &err) < 0)
		abort();
	scrub = help_scrub(vault, &host, 443);
	for (size_t i = 0; i < 3 * 2 * 300; i++) {
		static const char *const forms[] = { "se%63ret-of-this-test",
						     "secret-of-this-\\u0074est",
						     "secret-of-this-tes&#x74;" };
		const char *form = forms[i % 3];
		size_t pad = i / 6, len = strlen(form);
		char text[1024], *got;

		memset(text, '.', sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		if (i / 3 % 2)
			text[pad / 2] = '%';
		memcpy(text + pad, form, len);
		got = whole(scrub, text);
		missed += memcmp(got + pad, form, len) == 0;
		wrong += memcmp(got, text, pad) != 0 ||
			 strcmp(got + pad + len, text + pad + len) != 0;
		free(got);
	}
	ok(!missed, "an escape is noticed wherever it is");
	ok(!wrong, "and nothing else is replaced");
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

static void test_former(void)
{
	static const char *const later[] = { "sk-one-second-value-0123", "sk-one-third", NULL,
					     "sk-one-fifth-value-012345678" };
	struct ab_vault *vault = help_vault();
	struct ab_host one = help_host("api.one.test");
	const char *first = "sk-one-3fK9vQ2mZx7Lw0TgYb5NdR8c";
	size_t left = 0, n = strlen(first);
	struct ab_scrub *scrub;
	struct ab_error err;
	char *text, coded[100];

	for (size_t i = 0; i < AB_COUNT(later); i++)
		if (ab_vault_set(vault, 0, later[i], later[i] ? strlen(later[i]) : 0, &err) < 0)
			abort();
	scrub = help_scrub(vault, &one, 443);
	for (size_t i = 0; i < AB_COUNT(later); i++) {
		if (!later[i])
			continue;
		text = whole(scrub, later[i]);
		left += strcmp(text, later[i]) == 0;
		free(text);
		coded[ab_base64_encode(later[i], strlen(later[i]), AB_BASE64_STANDARD, coded)] =
			'\0';
		text = whole(scrub, coded);
		left += strcmp(text, coded) == 0;
		free(text);
	}
	ok(!left, "values that were replaced are found as well");
	text = whole(scrub, first);
	ok(memcmp(text, first, n) != 0, "to the first one of a few");
	free(text);
	ab_scrubs_free(scrub);
	/* As many as a box can cause in hours (secrets/renew.c): with those before, all that are kept. */
	for (int i = 0; i < AB_VAULT_FORMER - 3; i++) {
		ab_autofree char *value = ab_printf("sk-one-value-number-%d", i);

		if (ab_vault_set(vault, 0, value, strlen(value), &err) < 0)
			abort();
	}
	scrub = help_scrub(vault, &one, 443);
	text = whole(scrub, first);
	ok(memcmp(text, first, n) != 0, "and of many");
	free(text);
	text = whole(scrub, "sk-one-value-of-others");
	is_str(text, "sk-one-value-of-others", "other text stays");
	free(text);
	ab_scrubs_free(scrub);
	ab_vault_free(vault);
}

int main(void)
{
	test_former();
	test_plain();
	test_forms();
	test_base64();
	test_encoded();
	test_wrapped();
	test_held();
	test_several();
	test_repeating();
	test_long();
	test_within();
	test_places();
	return done();
}
