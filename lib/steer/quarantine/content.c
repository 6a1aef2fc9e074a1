#include "steer/quarantine/content.h"

enum { HEX = 256, ROW = 16 };

bool ab_content_is_text(const char *data, size_t len)
{
	size_t odd = 0;

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = ab_printable(data + i, len - i);
		if (!data[i])
			return false;
		odd += !n && !strchr("\n\t\r", data[i]);
	}
	return odd * 10 <= len;
}

void ab_content_put_lines(struct ab_buf *b, const char *data, size_t len)
{
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;

		ab_buf_puts(b, "  | ");
		ab_buf_escape_n(b, data, n);
		ab_buf_puts(b, end ? "\n" : "\n  (no newline at the end)\n");
		n += end != NULL;
		data += n;
		len -= n;
	}
}

void ab_content_put_hex(struct ab_buf *b, const char *data, size_t len)
{
	for (size_t at = 0; at < len && at < HEX; at += ROW) {
		ab_buf_printf(b, "  %06zx ", at);
		for (size_t i = at; i < at + ROW && i < len; i++)
			ab_buf_printf(b, " %02x", (unsigned char)data[i]);
		ab_buf_puts(b, "\n");
	}
}
