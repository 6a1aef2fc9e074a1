#include "audit/read/details.h"

enum { DEPTH = 64 };

struct cursor {
	const char *p, *end;
};

static bool skip_char(struct cursor *c, char wanted)
{
	if (c->p == c->end || *c->p != wanted)
		return false;
	c->p++;
	return true;
}

static void skip_blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

/* The value of the four hex digits at p; -1 if they are not there. */
static int32_t read_hex4(const char *p, const char *end)
{
	int32_t unit = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = ab_hex(p[i]);

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* After the backslash. */
static bool skip_escape(struct cursor *c)
{
	if (c->p == c->end || !*c->p || !strchr("\"\\/bfnrtu", *c->p))
		return false;
	if (*c->p++ != 'u')
		return true;
	if (read_hex4(c->p, c->end) < 0)
		return false;
	c->p += 4;
	return true;
}

/* Test eight bytes at once: none ends a string, and none is forbidden in one.
 * A byte that underflows borrows from the next one, which may then look bad as
 * well; but at least one byte really is. */
static bool are_plain(const char *p)
{
	const uint64_t ones = 0x0101010101010101, highs = ones << 7;
	uint64_t x, quote, back;

	memcpy(&x, p, sizeof(x));
	quote = x ^ ones * '"';
	back = x ^ ones * '\\';
	return !((((x - ones * ' ') & ~x) | ((quote - ones) & ~quote) | ((back - ones) & ~back)) &
		 highs);
}

static void skip_plain(struct cursor *c)
{
	static const bool plain[256] = {
		[' ' ... '!'] = true,
		['#' ... '['] = true,
		[']' ... 255] = true,
	};
	const char *p = c->p;

	while (c->end - p >= 8 && are_plain(p))
		p += 8;
	while (p < c->end && plain[(unsigned char)*p])
		p++;
	c->p = p;
}

static bool take_text(struct cursor *c, struct ab_detail *ret)
{
	if (!skip_char(c, '"'))
		return false;
	ret->kind = AB_DETAIL_TEXT;
	ret->at = c->p;
	for (;;) {
		skip_plain(c);
		if (c->p == c->end)
			return false;
		if (*c->p == '"')
			break;
		if (*c->p++ != '\\' || !skip_escape(c))
			return false;
	}
	ret->len = (size_t)(c->p++ - ret->at);
	return true;
}

static bool skip_digits(struct cursor *c)
{
	const char *from = c->p;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	return c->p > from;
}

static bool take_number(struct cursor *c, struct ab_detail *ret)
{
	ret->kind = AB_DETAIL_NUMBER;
	ret->at = c->p;
	skip_char(c, '-');
	if (!skip_char(c, '0') && !skip_digits(c))
		return false;
	if (skip_char(c, '.') && !skip_digits(c))
		return false;
	if (skip_char(c, 'e') || skip_char(c, 'E')) {
		if (!skip_char(c, '+'))
			skip_char(c, '-');
		if (!skip_digits(c))
			return false;
	}
	ret->len = (size_t)(c->p - ret->at);
	return true;
}

static bool take_word(struct cursor *c, const char *word, enum ab_detail_kind kind,
		      struct ab_detail *ret)
{
	size_t len = strlen(word);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, word, len) != 0)
		return false;
	*ret = (struct ab_detail){ kind, c->p, len };
	c->p += len;
	return true;
}

/* Check strings and brackets only; the reader of an element checks the rest. */
static bool take_nested(struct cursor *c, struct ab_detail *ret)
{
	struct ab_detail text;
	uint64_t objects = 0; /* a bit for each open bracket; 0: a list */
	size_t depth = 0;

	ret->kind = AB_DETAIL_NESTED;
	ret->at = c->p;
	while (c->p < c->end) {
		char sign = *c->p;

		if (sign == '"') {
			if (!take_text(c, &text))
				return false;
			continue;
		}
		c->p++;
		if (sign == '{' || sign == '[') {
			if (depth++ == DEPTH)
				return false;
			objects = objects << 1 | (sign == '{');
		} else if (sign == '}' || sign == ']') {
			if ((objects & 1) != (sign == '}'))
				return false;
			objects >>= 1;
			if (--depth == 0) {
				ret->len = (size_t)(c->p - ret->at);
				return true;
			}
		}
	}
	return false;
}

static bool take_value(struct cursor *c, struct ab_detail *ret)
{
	if (c->p == c->end)
		return false;
	switch (*c->p) {
	case '"':
		return take_text(c, ret);
	case '{':
	case '[':
		return take_nested(c, ret);
	case 't':
		return take_word(c, "true", AB_DETAIL_TRUE, ret);
	case 'f':
		return take_word(c, "false", AB_DETAIL_FALSE, ret);
	case 'n':
		return take_word(c, "null", AB_DETAIL_NULL, ret);
	default:
		return take_number(c, ret);
	}
}

struct wanted {
	const char *const *names;
	size_t n;
	/* Low bits of the first letters, to skip most members quickly. */
	uint32_t letters;
};

/* The index of its name; n if it is not wanted. */
static size_t find_name(const struct wanted *w, const struct ab_detail *key)
{
	bool escaped = key->len && memchr(key->at, '\\', key->len);

	if (!escaped && (!key->len || !(w->letters & 1u << (*key->at & 31))))
		return w->n;
	for (size_t i = 0; i < w->n; i++) {
		const char *name = w->names[i];

		if (escaped ? ab_detail_is(key, name)
			    : *name == *key->at && strncmp(name, key->at, key->len) == 0 &&
				      !name[key->len])
			return i;
	}
	return w->n;
}

static bool take_member(struct cursor *c, const struct wanted *w, struct ab_detail ret[])
{
	struct ab_detail key, value;
	size_t i;

	skip_blanks(c);
	if (!take_text(c, &key))
		return false;
	skip_blanks(c);
	if (!skip_char(c, ':'))
		return false;
	skip_blanks(c);
	if (!take_value(c, &value))
		return false;
	skip_blanks(c);
	i = find_name(w, &key);
	if (i < w->n)
		ret[i] = value;
	return true;
}

int ab_details_find(const char *line, size_t len, const char *const names[], size_t n,
		    struct ab_detail ret[])
{
	struct cursor c = { line, line + len };
	struct wanted w = { names, n, 0 };

	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct ab_detail){ 0 };
		w.letters |= 1u << (names[i][0] & 31);
	}
	skip_blanks(&c);
	if (!skip_char(&c, '{'))
		return -1;
	skip_blanks(&c);
	if (!skip_char(&c, '}')) {
		do {
			if (!take_member(&c, &w, ret))
				return -1;
		} while (skip_char(&c, ','));
		if (!skip_char(&c, '}'))
			return -1;
	}
	skip_blanks(&c);
	return c.p == c.end ? 0 : -1;
}

bool ab_details_one(const char *line, size_t len, const char *name, struct ab_detail *ret)
{
	if (ab_details_find(line, len, &name, 1, ret) == 0)
		return true;
	*ret = (struct ab_detail){ 0 };
	return false;
}

bool ab_detail_next(const struct ab_detail *list, size_t *at, struct ab_detail *ret)
{
	struct cursor c;

	if (list->kind != AB_DETAIL_NESTED || *list->at != '[')
		return false;
	c = (struct cursor){ list->at + *at, list->at + list->len };
	if (!skip_char(&c, *at ? ',' : '['))
		return false;
	skip_blanks(&c);
	if (!take_value(&c, ret))
		return false;
	skip_blanks(&c);
	*at = (size_t)(c.p - list->at);
	return true;
}

/* After "\u": one UTF-16 unit, or a surrogate pair. */
static uint32_t read_code_point(struct cursor *c)
{
	uint32_t high = (uint32_t)read_hex4(c->p, c->end);
	int32_t low;

	c->p += 4;
	if (high < 0xd800 || high > 0xdfff)
		return high ? high : 0xfffd;
	low = c->end - c->p >= 6 && c->p[0] == '\\' && c->p[1] == 'u' ? read_hex4(c->p + 2, c->end)
								      : -1;
	if (high > 0xdbff || low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	c->p += 6;
	return 0x10000 + ((high & 0x3ff) << 10) + ((uint32_t)low & 0x3ff);
}

/* Decode the next escape of a string that was checked before, or copy the next
 * byte. */
static size_t decode_next(struct cursor *c, char ret[4])
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *letter;

	if (*c->p != '\\') {
		ret[0] = *c->p++;
		return 1;
	}
	c->p++;
	if (*c->p == 'u') {
		c->p++;
		return ab_utf8_put(read_code_point(c), ret);
	}
	letter = strchr(from, *c->p);
	ret[0] = letter ? to[letter - from] : *c->p;
	c->p++;
	return 1;
}

static struct cursor open_text(const struct ab_detail *f)
{
	if (f->kind != AB_DETAIL_TEXT)
		return (struct cursor){ 0 };
	return (struct cursor){ f->at, f->at + f->len };
}

bool ab_detail_is(const struct ab_detail *field, const char *text)
{
	struct cursor c = open_text(field);
	char one[4];

	if (field->kind != AB_DETAIL_TEXT)
		return false;
	while (c.p < c.end) {
		size_t n = decode_next(&c, one);

		if (strncmp(text, one, n) != 0)
			return false;
		text += n;
	}
	return !*text;
}

size_t ab_detail_copy(const struct ab_detail *field, char *ret, size_t room)
{
	struct cursor c = open_text(field);
	size_t len = 0;
	char one[4];

	while (c.p < c.end) {
		size_t n = decode_next(&c, one);

		if (len + n >= room)
			break;
		memcpy(ret + len, one, n);
		len += n;
	}
	ret[len] = '\0';
	return len;
}

void ab_detail_add(const struct ab_detail *field, struct ab_buf *b)
{
	struct cursor c = open_text(field);
	char one[4];

	while (c.p < c.end) {
		size_t n = decode_next(&c, one);

		ab_buf_add(b, one, n);
	}
}

char *ab_detail_dup(const struct ab_detail *field)
{
	struct ab_buf b = { 0 };

	if (field->kind != AB_DETAIL_TEXT)
		return NULL;
	ab_detail_add(field, &b);
	return ab_buf_take(&b);
}

int64_t ab_detail_number(const struct ab_detail *field, int64_t otherwise)
{
	int64_t n = 0;
	bool minus;

	if (field->kind != AB_DETAIL_NUMBER)
		return otherwise;
	minus = field->at[0] == '-';
	for (size_t i = minus; i < field->len; i++) {
		int digit = field->at[i] - '0';

		if (digit < 0 || digit > 9 || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_sub_overflow(n, digit, &n))
			return otherwise;
	}
	/* Counted as a negative number, which has the larger range. */
	if (!minus && __builtin_sub_overflow(0, n, &n))
		return otherwise;
	return n;
}

uint64_t ab_detail_count(const struct ab_detail *field)
{
	int64_t n = ab_detail_number(field, 0);

	return n > 0 ? (uint64_t)n : 0;
}
