#include "terminal/columns.h"

struct cell {
	char text[16];
	size_t len, bytes, cols;
};

static const char mark[] = "...";
enum { MARK = sizeof(mark) - 1 };

/* Latin, Greek, Cyrillic, and the scripts of East Asia. */
static bool stands_alone(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} letters[] = {
		{ 0xa1, 0xac },	    { 0xae, 0x2af },	{ 0x370, 0x482 },   { 0x48a, 0x52f },
		{ 0x1e00, 0x1fff }, { 0x3041, 0x3096 }, { 0x30a1, 0x30fa }, { 0x3400, 0x4dbf },
		{ 0x4e00, 0x9fff }, { 0xac00, 0xd7a3 },
	};

	for (size_t i = 0; i < AB_COUNT(letters); i++)
		if (c >= letters[i].from && c <= letters[i].to)
			return true;
	return false;
}

static struct cell get_cell(const char *s, size_t left)
{
	struct cell cell = { .bytes = 1 };
	uint32_t c = 0;
	size_t n = ab_utf8_get(s, left, &c);

	if (n == 1 && c >= ' ' && c <= '~') {
		cell.text[0] = *s;
		cell.len = cell.cols = 1;
		return cell;
	}
	if (n > 1 && stands_alone(c)) {
		memcpy(cell.text, s, n);
		cell.len = cell.bytes = n;
		cell.cols = 2;
		return cell;
	}
	cell.bytes = n ? n : 1;
	if (n > 1)
		cell.len = (size_t)snprintf(cell.text, sizeof(cell.text),
					    c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	else
		cell.len = (size_t)snprintf(cell.text, sizeof(cell.text), "\\x%02x",
					    (unsigned char)*s);
	cell.cols = cell.len;
	return cell;
}

size_t ab_columns_fit(struct ab_buf *b, const char *text, size_t len, size_t room, size_t *ret_cols)
{
	size_t at = 0, cols = 0;

	ab_buf_add(b, "", 0); /* b->data is a string even if nothing fits */
	while (at < len) {
		struct cell cell = get_cell(text + at, len - at);

		if (cols + cell.cols > room)
			break;
		ab_buf_add(b, cell.text, cell.len);
		cols += cell.cols;
		at += cell.bytes;
	}
	if (ret_cols)
		*ret_cols = cols;
	return at;
}

size_t ab_columns_width(const char *text)
{
	ab_autobuf struct ab_buf unused = { 0 };
	size_t cols;

	ab_columns_fit(&unused, text, strlen(text), SIZE_MAX, &cols);
	return cols;
}

static size_t put_mark(struct ab_buf *b, size_t room)
{
	size_t n = room > 2 * MARK ? MARK : 0;

	ab_buf_add(b, mark, n);
	return n;
}

size_t ab_columns_head(struct ab_buf *b, const char *text, size_t room)
{
	size_t len = strlen(text), before = b->len, cols, marked;

	if (ab_columns_fit(b, text, len, room, &cols) == len)
		return cols;
	b->len = before;
	marked = room > 2 * MARK ? MARK : 0;
	ab_columns_fit(b, text, len, room - marked, &cols);
	return cols + put_mark(b, room);
}

size_t ab_columns_tail(struct ab_buf *b, const char *text, size_t room)
{
	size_t len = strlen(text), width = ab_columns_width(text), at = 0;
	size_t cols, marked = 0;

	if (width > room) {
		marked = put_mark(b, room);
		while (at < len && width > room - marked) {
			struct cell cell = get_cell(text + at, len - at);

			width -= cell.cols;
			at += cell.bytes;
		}
	}
	ab_columns_fit(b, text + at, len - at, room, &cols);
	return marked + cols;
}

void ab_columns_wrap(struct ab_strv *lines, const char *first, const char *rest, const char *text,
		     size_t cols)
{
	size_t len = strlen(text), at = 0, margin = strlen(first);

	if (margin >= cols)
		first = rest = "", margin = 0;
	do {
		struct ab_buf line = { 0 };
		size_t n;

		ab_buf_puts(&line, at ? rest : first);
		n = ab_columns_fit(&line, text + at, len - at, cols - margin, NULL);
		ab_strv_give(lines, ab_buf_take(&line));
		if (n == 0) /* not even one character */
			return;
		at += n;
	} while (at < len);
}

/* How much of the text goes on this line: all of it, or up to a gap; 0: no gap fits. */
static size_t find_break(const char *text, const char *gap, size_t room)
{
	size_t best = 0;

	if (strlen(text) <= room)
		return strlen(text);
	for (const char *at = strstr(text, gap); at && (size_t)(at - text) <= room;
	     at = strstr(at + 1, gap))
		best = (size_t)(at - text);
	return best;
}

void ab_columns_words(struct ab_strv *lines, const char *first, const char *rest, const char *text,
		      const char *gap, size_t cols)
{
	size_t margin = strlen(first);

	while (*text) {
		size_t n = margin < cols ? find_break(text, gap, cols - margin) : 0;
		ab_autofree char *part = ab_strndup(text, n);

		if (n == 0) {
			ab_columns_wrap(lines, first, rest, text, cols);
			return;
		}
		ab_columns_wrap(lines, first, rest, part, cols);
		text += n;
		text += strspn(text, " ");
		first = rest;
	}
}
