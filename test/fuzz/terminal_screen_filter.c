/*
 * The filter of the box's output: the same however the bytes are cut, never more
 * than its room, and nothing is left in its output that it would remove.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/screen_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_screen_filter whole = { 0 }, parts = { 0 }, again = { 0 };
	char *out, *cut, *twice;
	size_t n, at = 0, len = 0;

	if (size == 0)
		return 0;
	out = malloc(AB_SCREEN_FILTER_ROOM(size));
	cut = malloc(AB_SCREEN_FILTER_ROOM(size));
	n = ab_screen_filter_take(&whole, data, size, out);
	if (n > AB_SCREEN_FILTER_ROOM(size))
		abort();
	while (at < size) {
		size_t part = 1 + data[at] % 7;

		part = part < size - at ? part : size - at;
		len += ab_screen_filter_take(&parts, data + at, part, cut + len);
		at += part;
	}
	if (len != n || memcmp(out, cut, n) != 0 || memcmp(&whole, &parts, sizeof(whole)) != 0)
		abort();
	twice = malloc(AB_SCREEN_FILTER_ROOM(n));
	/* It waits for the byte after 0xc2. */
	len = ab_screen_filter_take(&again, out, n, twice);
	if (len + again.lead != n || memcmp(out, twice, len) != 0)
		abort();
	if (memchr(out, 5, n) || memmem(out, n, "\033]52", 4))
		abort();
	free(out);
	free(cut);
	free(twice);
	return 0;
}
