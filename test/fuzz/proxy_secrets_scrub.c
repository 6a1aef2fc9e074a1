/*
 * What a server may say, with values (@0 to @3 in the input) and a signature (@s) in it: however
 * the bytes are cut, the same comes out, as long as what went in, and without
 * a value; also as events and in chunks, whose borders are within values.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/text/base64.h"
#include "proxy/wire/http_chunks.h"
#include "proxy/secrets/scrub.h"
#include "proxy/secrets/signatures.h"
#include "../unit/vault_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SIGNATURE "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"

static struct ab_vault *vault;
static struct ab_scrub *scrub;

static void check(bool right)
{
	if (!right)
		abort();
}

/* Values for @N. */
static void fill(const uint8_t *data, size_t size, struct ab_buf *out)
{
	for (size_t i = 0; i < size; i++) {
		unsigned n = i + 1 < size ? data[i + 1] - (unsigned)'0' : 255;

		if (data[i] == '@' && i + 1 < size && data[i + 1] == 's') {
			ab_buf_add(out, SIGNATURE, strlen(SIGNATURE));
			i++;
		} else if (data[i] == '@' && n < HELP_COUNT) {
			ab_buf_add(out, help_values[n], strlen(help_values[n]));
			i++;
		} else {
			ab_buf_add(out, data + i, 1);
		}
	}
}

/* Pieces of many sizes, by a number. */
struct cuts {
	uint32_t state;
};

static size_t next_cut(struct cuts *c, size_t max)
{
	c->state = c->state * 1664525 + 1013904223;
	return 1 + (c->state >> 16) % max;
}

/* What comes in is kept until it is final. */
static void take(struct ab_buf *kept, const void *data, size_t len, bool end, struct ab_buf *out)
{
	size_t n, done;
	uint8_t *s;

	ab_buf_add(kept, data, len);
	n = kept->len;
	s = malloc(n + !n); /* reading past it is seen */
	if (n)
		memcpy(s, ab_buf_bytes(kept), n);
	done = ab_scrub_take(scrub, s, n, end);
	check(done <= n && (!end || done == n));
	check(memcmp(s + done, ab_buf_bytes(kept) + done, n - done) == 0);
	/* An event that is complete does not wait. */
	check(n < 2 || s[n - 1] != '\n' || s[n - 2] != '\n' || done == n);
	ab_buf_add(out, s, done);
	ab_buf_skip(kept, done);
	free(s);
}

static void scrub_cut(const struct ab_buf *in, uint32_t seed, size_t max, struct ab_buf *out)
{
	struct cuts cuts = { seed };
	struct ab_buf kept = { 0 };
	size_t at = 0, len = in->len;

	while (at < len) {
		size_t n = next_cut(&cuts, max);

		n = n < len - at ? n : len - at;
		take(&kept, ab_buf_bytes(in) + at, n, at + n == len, out);
		at += n;
	}
	ab_buf_fini(&kept);
}

/* The same body in chunks, taken out of them, whatever pieces come. */
static void scrub_chunks(const struct ab_buf *in, uint32_t seed, struct ab_buf *out)
{
	struct cuts cuts = { seed };
	struct ab_buf wire = { 0 }, kept = { 0 };
	struct ab_http_chunks chunks = { 0 };
	size_t len = in->len, n;
	bool over = false;
	char line[32];

	for (size_t at = 0; at < len; at += n) {
		n = next_cut(&cuts, 40);
		n = n < len - at ? n : len - at;
		snprintf(line, sizeof(line), "%zx%s\r\n", n, seed & 1 ? ";a=b" : "");
		ab_buf_add(&wire, line, strlen(line));
		ab_buf_add(&wire, ab_buf_bytes(in) + at, n);
		ab_buf_add(&wire, "\r\n", 2);
	}
	ab_buf_add(&wire, "0\r\n\r\n", 5);
	for (size_t at = 0; at < wire.len; at++) {
		const uint8_t *byte = ab_buf_bytes(&wire) + at;
		uint64_t left = chunks.left;

		check(!over && ab_http_chunks_take(&chunks, byte, 1, NULL, NULL, &over) == 1);
		if (chunks.left < left)
			take(&kept, byte, 1, false, out);
	}
	check(over);
	take(&kept, "", 0, true, out);
	ab_buf_fini(&wire);
	ab_buf_fini(&kept);
}

static void check_same(const struct ab_buf *a, const struct ab_buf *b)
{
	check(a->len == b->len &&
	      (!a->len || memcmp(ab_buf_bytes(a), ab_buf_bytes(b), a->len) == 0));
}

/*
 * The value in a form, in lines and cut as the input says, after and before bytes of the input: it is
 * always replaced.
 */
static void put_form(const char *value, uint8_t how, struct ab_buf *out)
{
	static const char *const breaks[] = { "",	"\n",  "\r\n",	 "\r",	 "\\n",
					      "\\r\\n", "%0A", "%0D%0A", "&#10;" };
	static const char *const forms[] = { "%02x",	"%02X",	   "%%%02x",  "%%25%02X",
					     "\\x%02x", "\\u%04X", "&#%u;",   "&#%u",
					     "&#%09u;", "&#x%x",   "&#X%07x;" };
	const char *line_break = breaks[how / 16 % AB_COUNT(breaks)];
	size_t columns = 2 + how % 7 * 13, len = strlen(value);
	char text[1024], one[32];
	unsigned form = how % 13;

	if (form >= AB_COUNT(forms)) {
		len = ab_base64_encode(value, len, (enum ab_base64)(form - AB_COUNT(forms)), text);
		for (size_t i = 0; i < len; i++) {
			if (i && i % columns == 0)
				ab_buf_add(out, line_break, strlen(line_break));
			ab_buf_add(out, text + i, 1);
		}
		return;
	}
	for (size_t i = 0; i < len; i++) {
		if (form < 2 && i && i % columns == 0)
			ab_buf_add(out, line_break, strlen(line_break));
		ab_buf_add(out, one,
			   (size_t)snprintf(one, sizeof(one), forms[form],
					    (unsigned char)value[i]));
	}
}

static void check_form(const uint8_t *data, size_t size, uint32_t seed)
{
	struct ab_buf in = { 0 }, whole = { 0 };
	size_t half = size / 2, to;

	/* Between two bytes that belong to no form. */
	ab_buf_add(&in, data, half);
	ab_buf_add(&in, " <", 2);
	put_form(help_values[HELP_BEARER], (uint8_t)seed, &in);
	to = in.len;
	ab_buf_add(&in, "> ", 2);
	ab_buf_add(&in, data + half, size - half);
	scrub_cut(&in, seed, 1 + (seed >> 8) % 90, &whole);
	check(whole.len == in.len);
	check(memcmp(ab_buf_bytes(&whole) + to - 24, ab_buf_bytes(&in) + to - 24, 16) != 0);
	ab_buf_fini(&in);
	ab_buf_fini(&whole);
}

/* Is the value where it was sent? A cover can complete the rest of another value by chance: that one
 * was not sent. */
static bool is_left(const struct ab_buf *in, const struct ab_buf *out, const char *value)
{
	const uint8_t *s = ab_buf_bytes(out), *end = s + out->len, *at = s;
	size_t len = strlen(value);

	for (; (at = memmem(at, (size_t)(end - at), value, len)); at++)
		if (memcmp(ab_buf_bytes(in) + (at - s), value, len) == 0)
			return true;
	return false;
}

/* Each signature is crossed out, all but its first digits. false: there is the end of one: whether that is found
 * depends on where it is cut. */
static bool check_signatures(const struct ab_buf *in, const struct ab_buf *out)
{
	const uint8_t *s = ab_buf_bytes(in), *end = s + in->len, *at = s;
	size_t n = strlen(SIGNATURE), whole = 0, parts = 0;

	for (; (at = memmem(at, (size_t)(end - at), SIGNATURE, n)); at++, whole++)
		for (size_t k = 8; k < n; k++)
			check(ab_buf_bytes(out)[at - s + k] == 'x');
	for (at = s; (at = memmem(at, (size_t)(end - at), &SIGNATURE[48], n - 48)); at++)
		parts++;
	return parts == whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t bound[] = { HELP_BEARER, HELP_HEADER };
	struct ab_buf in = { 0 }, whole = { 0 };
	uint32_t seed = 0;

	if (!vault) {
		struct ab_host host = help_host("api.one.test");

		vault = help_vault();
		ab_signatures_keep(ab_vault_signatures(vault), SIGNATURE, 1);
		scrub = help_scrub(vault, &host, 443);
	}
	if (size < 4 || size > 2048)
		return 0;
	memcpy(&seed, data, 3);
	check_form(data + 3, size - 3, seed);
	fill(data + 3, size - 3, &in);
	scrub_cut(&in, 0, 1, &whole); /* byte by byte */
	check(whole.len == in.len);
	for (size_t i = 0; i < AB_COUNT(bound); i++)
		check(!is_left(&in, &whole, help_values[bound[i]]));
	size = check_signatures(&in, &whole) ? size : 0;
	for (size_t max = 2; size && max < 100000; max *= 7) {
		struct ab_buf cut = { 0 };

		scrub_cut(&in, seed, max, &cut);
		check_same(&cut, &whole);
		ab_buf_fini(&cut);
	}
	for (uint32_t i = 0; size && i < 2; i++) {
		struct ab_buf cut = { 0 };

		scrub_chunks(&in, seed + i, &cut);
		check_same(&cut, &whole);
		ab_buf_fini(&cut);
	}
	ab_buf_fini(&in);
	ab_buf_fini(&whole);
	return 0;
}
