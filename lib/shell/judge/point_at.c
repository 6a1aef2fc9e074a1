#include "shell/judge/point_at.h"

/* Sorted. Characters two columns wide; a missing one only shifts a mark. */
static const struct {
	uint32_t from, to;
} wide[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0xa4cf },	  { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },	  { 0xff00, 0xff60 },
	{ 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd },
};

static size_t get_width(uint32_t c)
{
	if (c >= 0x300 && c <= 0x36f)
		return 0; /* combines with the previous one */
	for (size_t i = 0; i < AB_COUNT(wide) && c >= wide[i].from; i++)
		if (c <= wide[i].to)
			return 2;
	return 1;
}

struct ab_glyph ab_glyph_get(struct ab_text text, size_t at)
{
	const char *s = text.s + at;
	struct ab_glyph g = { .bytes = 1 };
	uint32_t c = 0;
	size_t n = ab_utf8_get(s, text.len - at, &c);
	int len;

	if (n && !ab_utf8_hidden(c)) {
		memcpy(g.text, s, n);
		g.len = g.bytes = n;
		g.cols = get_width(c);
		g.room = c < 0x80 ? 1 : 2;
		return g;
	}
	if (n == 1 && (c == '\n' || c == '\t'))
		len = snprintf(g.text, sizeof(g.text), "\\%c", c == '\n' ? 'n' : 't');
	else if (n > 1)
		len = snprintf(g.text, sizeof(g.text), c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	else
		len = snprintf(g.text, sizeof(g.text), "\\x%02x", (unsigned char)*s);
	g.bytes = n ? n : 1;
	g.len = g.cols = g.room = (size_t)len;
	return g;
}

/* Advance *at up to `to` or by `most` columns; returns the columns passed. Printable
 * ASCII has a fast path, for long lines. */
static size_t skip_columns(struct ab_text text, size_t *at, size_t to, size_t most)
{
	size_t cols = 0;

	while (*at < to && cols < most) {
		struct ab_glyph g;

		if (text.s[*at] >= ' ' && text.s[*at] <= '~') {
			cols++;
			++*at;
			continue;
		}
		g = ab_glyph_get(text, *at);
		cols += g.cols;
		*at += g.bytes;
	}
	return cols;
}

static size_t count_columns(struct ab_text text, size_t to, size_t most)
{
	size_t at = 0;

	return skip_columns(text, &at, to < text.len ? to : text.len, most);
}

static void put_repeated(struct ab_buf *b, char c, size_t n)
{
	while (n--)
		ab_buf_add(b, &c, 1);
}

void ab_point(struct ab_buf *b, struct ab_text text, struct ab_span range, const char *indent,
	      size_t room)
{
	size_t part = count_columns(text, range.from, SIZE_MAX);
	size_t start = 0, col, at = 0, marks = 0, before;

	if (count_columns(text, text.len, room + 1) > room) {
		room -= strlen("......");
		start = part > room / 3 ? part - room / 3 : 0;
	}
	col = skip_columns(text, &at, text.len, start);
	start = col;
	before = start ? strlen("...") : 0;
	ab_buf_puts(b, indent);
	put_repeated(b, '.', before);
	while (at < text.len) {
		struct ab_glyph g = ab_glyph_get(text, at);

		if (col + g.cols > start + room)
			break;
		if (at >= range.from && at < range.to)
			marks += g.cols;
		ab_buf_add(b, g.text, g.len);
		col += g.cols;
		at += g.bytes;
	}
	ab_buf_puts(b, at < text.len ? "...\n" : "\n");
	ab_buf_puts(b, indent);
	put_repeated(b, ' ', before + (part > start ? part - start : 0));
	put_repeated(b, '^', marks ? marks : 1);
	ab_buf_puts(b, "\n");
}
