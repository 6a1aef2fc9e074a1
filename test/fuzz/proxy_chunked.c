/*
 * Any bytes as a chunked body: how they are cut changes nothing, and a plain
 * decoder finds the same end.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "proxy/wire/http_chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The length of the body as anyone would find it; -1: no end. */
static ssize_t plain_end(const char *s, size_t len)
{
	size_t at = 0;

	for (;;) {
		const char *end = memmem(s + at, len - at, "\r\n", 2);
		unsigned long long n;

		if (!end)
			return -1;
		n = strtoull(s + at, NULL, 16);
		at = (size_t)(end - s) + 2;
		if (!n)
			break;
		if (n > len - at || len - at - n < 2)
			return -1;
		at += n + 2;
	}
	for (;;) {
		const char *end = memmem(s + at, len - at, "\r\n", 2);
		size_t line = at;

		if (!end)
			return -1;
		at = (size_t)(end - s) + 2;
		if ((size_t)(end - s) == line)
			return (ssize_t)at;
	}
}

/* In pieces of `step`; -1: malformed; else what was taken. */
static ssize_t feed(const char *s, size_t len, size_t step, bool *ret_over)
{
	struct ab_http_chunks c = { 0 };
	size_t at = 0;

	*ret_over = false;
	while (at < len && !*ret_over) {
		size_t n = len - at < step ? len - at : step;
		ssize_t r = ab_http_chunks_take(&c, s + at, n, NULL, NULL, ret_over);

		if (r < 0)
			return -1;
		if ((size_t)r > n || ((size_t)r < n && !*ret_over))
			abort();
		at += (size_t)r;
	}
	return (ssize_t)at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = { 1, 2, 3, 7, 64 };
	bool over, other;
	ssize_t end;
	char *s = malloc(size + 1);

	if (size)
		memcpy(s, data, size);
	s[size] = '\0'; /* for strtoull */
	end = feed(s, size, size ? size : 1, &over);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (feed(s, size, steps[i], &other) != end || over != other)
			abort();
	if (end >= 0 && over && plain_end(s, size) != end)
		abort();
	free(s);
	return 0;
}
