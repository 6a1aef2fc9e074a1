/*
 * Signatures that come back: each is found as it is and escaped, however the bytes are cut, and for as
 * long as it may be valid.
 */
#include "proxy/secrets/signatures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "tap.h"

#define SIGNATURE "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
#define OTHER "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

enum { FIRST = 8 }; /* digits that stay */

/* In pieces of `step`; what is not final is given again, in memory of its own. */
static char *cover(const struct ab_signatures *signatures, const char *in, size_t step)
{
	size_t len = strlen(in), final = 0;
	char *s = ab_strdup(in);

	for (size_t end = step; final < len; end += step) {
		size_t n = end < len ? end : len, done;
		uint8_t *part = malloc(n - final + (n == final));

		memcpy(part, s + final, n - final);
		done = ab_signatures_cover(signatures, part, n - final, n == len);
		if (n == len && final + done != len)
			abort();
		memcpy(s + final, part, done);
		final += done;
		free(part);
	}
	return s;
}

static void check(const struct ab_signatures *signatures, const char *in, const char *want,
		  const char *name)
{
	ab_autofree char *got = cover(signatures, in, strlen(in) + 1);
	size_t wrong = 0;

	is_str(got, want, name);
	for (size_t step = 1; step <= strlen(in); step++) {
		ab_autofree char *cut = cover(signatures, in, step);

		wrong += strcmp(cut, want) != 0;
	}
	ok(!wrong, "however it is cut");
}

/* The signature with `every` so many of its digits in this form, and what is to become of it. */
static void write_form(const char *format, size_t every, struct ab_buf *in, struct ab_buf *want)
{
	for (size_t i = 0; SIGNATURE[i]; i++) {
		size_t before = in->len;

		if (i % every)
			ab_buf_add(in, &SIGNATURE[i], 1);
		else
			ab_buf_printf(in, format, SIGNATURE[i]);
		for (size_t k = before; k < in->len; k++)
			ab_buf_add(want, i < FIRST ? in->data + k : "x", 1);
	}
}

static void test_forms(void)
{
	static const char *const formats[] = { "%c",	  "%%%02x", "%%%02X", "%%25%02x", "\\u%04x",
					       "\\x%02X", "&#%u;",  "&#x%x;", "&#%09u;" };
	static const char *const around[][2] = {
		{ "", "" },
		{ "X-Amz-Signature=", "&X" },
		{ "a%3d", "%26" },
		{ "\"\\", "\\\"" },
		{ "0123abc", "" },
		{ "%", "%" },
		{ "&quot;", "&quot;" },
		{ "Signature=", "\r\n" },
		{ SIGNATURE " ", "" },
	};
	struct ab_signatures signatures = { 0 };

	ab_signatures_keep(&signatures, SIGNATURE, 1);
	for (size_t f = 0; f < AB_COUNT(formats); f++)
		for (size_t a = 0; a < AB_COUNT(around); a++) {
			ab_autobuf struct ab_buf in = { 0 }, want = { 0 };

			ab_buf_puts(&in, around[a][0]);
			ab_buf_printf(&want, "%s", around[a][0]);
			if (strstr(around[a][0], SIGNATURE))
				memset(want.data + FIRST, 'x', 64 - FIRST);
			write_form(formats[f], f ? 1 + a % 3 : 1, &in, &want);
			ab_buf_puts(&in, around[a][1]);
			ab_buf_puts(&want, around[a][1]);
			check(&signatures, in.data, want.data, in.data);
		}
	ab_signatures_fini(&signatures);
}

/* The twins: what is no signature of ours. */
static void test_others(void)
{
	static const char *const texts[] = {
		OTHER,
		OTHER "  file\n" OTHER "  other\n",
		"4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a8",
		"4F232C4386841EF735655705268965C44A0E4690BAA4ADEA153F7DB9FA80A0A9",
		"4f232c4386841ef735655705268965c44a0e4690 baa4adea153f7db9fa80a0a9",
		"0000000000000000000000000000000000000000000000000000000000000000000000",
		"%%%%%%%%&&&&&&&&\\\\\\\\\\\\\\xxxxxxxxxxxxxxxxxx;;;;;;;;;;;;;;;;;;;;;;;;##########",
		"feedfacefeedfacefeedfacefeedfacefeedfacefeedfacefeedfacefeedfacefeedface",
		"",
	};
	struct ab_signatures signatures = { 0 };

	check(&signatures, SIGNATURE, SIGNATURE, "none was made yet");
	ab_signatures_keep(&signatures, SIGNATURE, 1);
	for (size_t i = 0; i < AB_COUNT(texts); i++)
		check(&signatures, texts[i], texts[i], texts[i]);
	ab_signatures_fini(&signatures);
}

/* Nothing waits that could be no signature. */
static void test_held(void)
{
	static const struct {
		const char *in;
		size_t held;
	} cases[] = {
		{ "data: {\"delta\":\"text\"}\n\n", 0 },
		{ "{\"sha\":\"" OTHER "\"}", 0 },
		{ "{\"sha\":\"" OTHER "\\n\"}", 0 },
		{ "=12345678", 0 },
		{ "=123456789", 9 },
		{ "more: 123456789", 9 },
		{ "123456789.", 0 },
		{ "=12345678%6", 2 },
		{ "=123456789%6", 11 },
		{ "12%6", 4 },
		{ "=12345678%25", 3 },
		{ "=12345678%2f", 0 },
		{ "=12345678\\u00", 4 },
		{ "=12345678\\n", 0 },
		{ "100%", 4 },
		{ "=100%", 1 },
		{ "5", 1 },
		{ "&#", 2 },
		{ "&x", 0 },
		{ OTHER, 55 },
		{ OTHER "%", 56 },
	};
	struct ab_signatures signatures = { 0 };

	ab_signatures_keep(&signatures, SIGNATURE, 1);
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *s = ab_strdup(cases[i].in);
		size_t len = strlen(s),
		       held = len - ab_signatures_cover(&signatures, (uint8_t *)s, len, false);

		ok(held == cases[i].held, "%zu wait of %s", held, cases[i].in);
	}
	ab_signatures_fini(&signatures);
}

static const char *number(uint64_t n)
{
	static char text[65];

	/* Spread as names are. */
	n *= 0x9e3779b97f4a7c15;
	snprintf(text, sizeof(text), "%048x%016jx", 1, (uintmax_t)n);
	return text;
}

static bool is_found(const struct ab_signatures *signatures, uint64_t n)
{
	ab_autofree char *s = ab_strdup(number(n));

	ab_signatures_cover(signatures, (uint8_t *)s, strlen(s), true);
	return strcmp(s, number(n)) != 0;
}

/* All that may still be valid are found, whatever was made after them; and beyond a number none is made. */
static void test_many(void)
{
	enum { MOST = AB_SIGNATURES_MOST, LONG = AB_SIGNATURES_MS };
	struct ab_signatures signatures = { 0 };
	uint64_t n = 1, missing = 0;

	while (n <= MOST && ab_signatures_keep(&signatures, number(n), 1000))
		n++;
	ok(n == MOST + 1, "so many are kept");
	for (uint64_t i = 1; i <= MOST; i++)
		missing += !is_found(&signatures, i);
	ok(!missing, "and found");
	ok(!is_found(&signatures, n), "another one is not");
	ok(!ab_signatures_keep(&signatures, number(n), 1000 + LONG - 1),
	   "one more must not be sent");
	ok(!is_found(&signatures, n) && is_found(&signatures, 1), "that changes nothing");
	ok(ab_signatures_keep(&signatures, number(n), 1000 + LONG),
	   "when the first of them is not valid any more it may be");
	ok(is_found(&signatures, n) && is_found(&signatures, 1) && is_found(&signatures, MOST),
	   "all are still found");
	while (n < 2 * MOST && ab_signatures_keep(&signatures, number(n + 1), 1000 + LONG))
		n++;
	ok(n == 2 * MOST && is_found(&signatures, 1) && is_found(&signatures, n), "twice as many");
	ok(!ab_signatures_keep(&signatures, number(n + 1), 1000 + 2 * LONG - 1),
	   "not one more before the younger ones have got as old");
	ok(ab_signatures_keep(&signatures, number(n + 1), 1000 + 2 * LONG) &&
		   !is_found(&signatures, 1) && is_found(&signatures, MOST + 1),
	   "then the oldest ones are forgotten");
	ab_signatures_fini(&signatures);
}

int main(void)
{
	test_forms();
	test_others();
	test_held();
	test_many();
	return done();
}
