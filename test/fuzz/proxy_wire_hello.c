/*
 * Any bytes as a client's first ones: once decided, always the same; never
 * undecided at the limit; what looks like TLS or HTTP from its first bytes is
 * never passed as something else; the name does not depend on how the hello
 * is cut into records.
 */
#include "proxy/wire/hello.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum ab_first (*look_fn)(const uint8_t *data, size_t len, struct ab_hello *ret);

static bool same(const struct ab_hello *a, const struct ab_hello *b)
{
	return a->has_name == b->has_name && a->ech == b->ech &&
	       strcmp(a->name.text, b->name.text) == 0;
}

static enum ab_first look(look_fn fn, const uint8_t *data, size_t size, struct ab_hello *ret)
{
	/* A copy of exactly this size: reading past it is seen. */
	uint8_t *copy = malloc(size ? size : 1);
	enum ab_first r;

	memset(ret, 0, sizeof(*ret));
	if (size)
		memcpy(copy, data, size);
	r = fn(copy, size, ret);
	free(copy);
	if (r == AB_FIRST_TLS &&
	    (ret->used == 0 || ret->used > size || ret->has_name != (ret->name.text[0] != '\0') ||
	     ret->name.kind != AB_HOST_NAME))
		abort();
	if (r == AB_FIRST_MORE && size >= AB_HELLO_MAX)
		abort();
	return r;
}

static void check_cut(look_fn fn, const uint8_t *data, size_t size, enum ab_first decided,
		      const struct ab_hello *whole)
{
	struct ab_hello part;
	enum ab_first p = look(fn, data, size, &part);

	if (p != AB_FIRST_MORE &&
	    (p != decided ||
	     (p == AB_FIRST_TLS && (!same(whole, &part) || whole->used != part.used))))
		abort();
}

/* The first few lengths, and some of the others. */
static void check_cuts(look_fn fn, const uint8_t *data, size_t size)
{
	struct ab_hello whole;
	enum ab_first decided = look(fn, data, size, &whole);

	for (size_t n = 0; n < 14 && n < size; n++)
		check_cut(fn, data, n, decided, &whole);
	for (size_t i = 1; i < 6 && size > 14; i++)
		check_cut(fn, data, size - size * i * i / 36 - 1, decided, &whole);
}

/* The same message in records of seven bytes. */
static void check_pieces(const uint8_t *data, const struct ab_hello *whole)
{
	static uint8_t out[2 * AB_HELLO_MAX];
	struct ab_hello again;
	size_t at = 0, len = 0, piece = 0;

	while (at < whole->used) {
		size_t n = (size_t)data[at + 3] << 8 | data[at + 4];

		for (size_t i = 0; i < n; i++) {
			if (piece % 7 == 0) {
				memcpy(out + len, "\26\3\1\0", 4);
				len += 5;
			}
			out[len] = data[at + 5 + i];
			out[len - 1 - piece % 7] = (uint8_t)(piece % 7 + 1);
			len++;
			piece++;
			if (len + 16 > sizeof(out))
				return;
		}
		at += 5 + n;
	}
	if (len > AB_HELLO_MAX)
		return;
	if (look(ab_hello_detect, out, len, &again) != AB_FIRST_TLS || !same(whole, &again) ||
	    again.used != len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_hello h, again;
	enum ab_first r = look(ab_hello_detect, data, size, &h);

	check_cuts(ab_hello_detect, data, size);
	check_cuts(ab_hello_read, data, size);
	check_cuts(ab_hello_again, data, size);
	if (r == AB_FIRST_TLS) {
		check_pieces(data, &h);
		if (look(ab_hello_again, data, size, &again) != r || !same(&h, &again))
			abort();
		look(ab_hello_again, data + h.used, size - h.used, &again);
	}
	if (r == AB_FIRST_OTHER && size >= 2 && data[0] >= 20 && data[0] <= 24 && data[1] == 3)
		abort();
	if (r == AB_FIRST_OTHER && size >= 11 && memcmp(data, "GET / HTTP/", 11) == 0)
		abort();
	/* Decided once, decided for good. */
	if (size > 0 && ab_hello_retry(data, size - 1) != AB_RETRY_MORE &&
	    ab_hello_retry(data, size - 1) != ab_hello_retry(data, size))
		abort();
	return 0;
}
