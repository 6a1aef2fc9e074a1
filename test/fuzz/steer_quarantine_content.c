#include "steer/quarantine/content.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A terminal may show all of it. */
static void check_safe(const struct ab_buf *b)
{
	for (size_t i = 0, n; i < b->len; i += n) {
		n = b->data[i] == '\n' ? 1 : ab_printable(b->data + i, b->len - i);
		if (n == 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	ab_autobuf struct ab_buf lines = { 0 }, hex = { 0 };

	if (ab_content_is_text(text, size) && memchr(text, '\0', size))
		abort();
	ab_content_put_lines(&lines, text, size);
	ab_content_put_hex(&hex, text, size);
	check_safe(&lines);
	check_safe(&hex);
	if (hex.len > 4096)
		abort();
	return 0;
}
