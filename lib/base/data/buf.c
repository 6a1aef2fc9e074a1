#include "base/data/buf.h"

#include <endian.h>

#include "base/data/strv.h"

static char *memory_of(const struct ab_buf *b)
{
	return b->data ? b->data - b->skipped : NULL;
}

/* Move the text to the start of the memory. */
static void close_gap(struct ab_buf *b)
{
	if (!b->skipped)
		return;
	memmove(memory_of(b), b->data, b->len + 1);
	b->data = memory_of(b);
	if (b->wipe)
		explicit_bzero(b->data + b->len, b->skipped);
	b->skipped = 0;
}

static void reserve_room(struct ab_buf *b, size_t more)
{
	size_t need = b->len + more + 1, room = b->room ? b->room : 256;
	char *data;

	if (b->skipped + need <= b->room)
		return;
	close_gap(b);
	if (need <= b->room)
		return;
	while (room < need)
		room *= 2;
	if (b->wipe) {
		/* realloc() may leave a copy of the old bytes that nothing erases. */
		data = ab_alloc(room);
		if (b->data) {
			memcpy(data, b->data, b->len);
			explicit_bzero(b->data, b->room);
		}
		free(b->data);
	} else {
		data = ab_realloc(b->data, room);
	}
	b->data = data;
	b->room = room;
}

void ab_buf_add(struct ab_buf *b, const void *data, size_t len)
{
	reserve_room(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void *ab_buf_room(struct ab_buf *b, size_t len)
{
	reserve_room(b, len);
	return b->data + b->len;
}

void ab_buf_add_used(struct ab_buf *b, size_t used)
{
	b->len += used;
	b->data[b->len] = '\0';
	if (!b->len)
		ab_buf_fini(b);
}

void ab_buf_skip(struct ab_buf *b, size_t len)
{
	if (len == b->len) {
		ab_buf_fini(b);
		return;
	}
	if (b->wipe)
		explicit_bzero(b->data, len);
	b->data += len;
	b->skipped += len;
	b->len -= len;
}

void ab_buf_printf(struct ab_buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	reserve_room(b, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

size_t ab_utf8_get(const char *text, size_t left, uint32_t *ret_c)
{
	static const struct {
		unsigned char mask, lead;
		size_t len;
		uint32_t least;
	} form[] = {
		{ 0x80, 0x00, 1, 0 },
		{ 0xe0, 0xc0, 2, 0x80 },
		{ 0xf0, 0xe0, 3, 0x800 },
		{ 0xf8, 0xf0, 4, 0x10000 },
	};
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;

	for (size_t i = 0; i < AB_COUNT(form) && left >= form[i].len; i++) {
		if ((s[0] & form[i].mask) != form[i].lead)
			continue;
		c = s[0] & (unsigned char)~form[i].mask;
		for (size_t k = 1; k < form[i].len; k++) {
			if ((s[k] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[k] & 0x3f);
		}
		if (c < form[i].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return 0;
		*ret_c = c;
		return form[i].len;
	}
	return 0;
}

size_t ab_utf8_put(uint32_t c, char ret[4])
{
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		ret[i] = (char)(0x80 | (c & 0x3f));
	ret[0] = (char)(leads[n] | c);
	return n;
}

bool ab_utf8_hidden(uint32_t c)
{
	/* Sorted. Control characters, characters that a terminal may omit, and
	 * blanks other than the normal space. */
	static const struct {
		uint32_t from, to;
	} hidden[] = {
		{ 0x00, 0x1f },	      { 0x7f, 0xa0 },	    { 0xad, 0xad },
		{ 0x34f, 0x34f },     { 0x61c, 0x61c },	    { 0x115f, 0x1160 },
		{ 0x1680, 0x1680 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
		{ 0x2000, 0x200f },   { 0x2028, 0x202f },   { 0x205f, 0x206f },
		{ 0x2800, 0x2800 },   { 0x3000, 0x3000 },   { 0x3164, 0x3164 },
		{ 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb },   { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < AB_COUNT(hidden) && c >= hidden[i].from; i++)
		if (c <= hidden[i].to)
			return true;
	return false;
}

size_t ab_utf8_count(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

const char *ab_utf8_tail(const char *text, size_t most)
{
	for (size_t n = ab_utf8_count(text); n > most; n--)
		for (text++; ((unsigned char)*text & 0xc0) == 0x80; text++)
			;
	return text;
}

size_t ab_printable(const char *text, size_t left)
{
	uint32_t c;
	size_t n = ab_utf8_get(text, left, &c);

	return n && !ab_utf8_hidden(c) ? n : 0;
}

bool ab_all_printable(const char *s)
{
	size_t left = strlen(s), n;

	for (; left && (n = ab_printable(s, left)) > 0; s += n)
		left -= n;
	return left == 0;
}

/* Printable ASCII except the quote and the backslash. */
static const bool is_plain[256] = {
	[' ' ... '!'] = true,
	['#' ... '['] = true,
	[']' ... '~'] = true,
};

/* How many of these eight bytes are plain, from the first on. All are tested at once: a
 * byte that is not sets its highest bit; one that is too small borrows in the subtraction,
 * so that only the bytes after it may look bad as well. */
static size_t count_plain(const char *s)
{
	const uint64_t ones = 0x0101010101010101, highs = ones << 7;
	uint64_t x, quote, back, bad;

	memcpy(&x, s, sizeof(x));
	x = le64toh(x);
	quote = x ^ ones * '"';
	back = x ^ ones * '\\';
	bad = (x | (x + ones) | (x - ones * 0x20) | (quote - ones) | (back - ones)) & highs;
	return bad ? (size_t)__builtin_ctzll(bad) / 8 : 8;
}

typedef uint8_t block __attribute__((vector_size(16)));

/* Are all these sixteen bytes plain? */
static bool is_plain_block(const char *s)
{
	block x, bad;
	uint64_t halves[2];

	memcpy(&x, s, sizeof(x));
	bad = (block)(x - ' ' > '~' - ' ') | (block)(x == '"') | (block)(x == '\\');
	memcpy(halves, &bad, sizeof(bad));
	return !(halves[0] | halves[1]);
}

/*
 * Add the text up to the first byte that needs more than a backslash before it, and
 * return its length. There is room for a backslash before each byte, and for eight bytes
 * more.
 */
static size_t add_simple(struct ab_buf *b, const char *s, size_t len)
{
	char *to = b->data + b->len;
	size_t n = 0, plain;

	while (len - n >= sizeof(block) && is_plain_block(s + n)) {
		memcpy(to, s + n, sizeof(block));
		to += sizeof(block);
		n += sizeof(block);
	}
	/* The last bytes once more with those before them, which are plain too. */
	if (n && len - n < sizeof(block) && is_plain_block(s + len - sizeof(block))) {
		memcpy(to + (len - n) - sizeof(block), s + len - sizeof(block), sizeof(block));
		to += len - n;
		n = len;
	}
	while (n < len) {
		if (len - n >= 8) {
			plain = count_plain(s + n);
			memcpy(to, s + n, 8);
			to += plain;
			n += plain;
			if (plain == 8)
				continue;
		}
		if (!is_plain[(unsigned char)s[n]]) {
			if (s[n] != '"' && s[n] != '\\')
				break;
			*to++ = '\\';
		}
		*to++ = s[n++];
	}
	b->len = (size_t)(to - b->data);
	return n;
}

static void add_hex(struct ab_buf *b, const char *lead, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	char text[2] = { digits[c >> 4], digits[c & 15] };

	ab_buf_puts(b, lead);
	ab_buf_add(b, text, sizeof(text));
}

/* Add a text that begins with a byte that needs more than a backslash before it. */
static __attribute__((noinline)) void add_escaped(struct ab_buf *b, const char *s, size_t len)
{
	const char *end = s + len;
	uint32_t c = 0;
	size_t n;

	while (s < end) {
		b->data[b->len] = '\0';
		n = ab_utf8_get(s, (size_t)(end - s), &c);
		if (n == 0)
			ab_buf_puts(b, "\\ufffd");
		else if (!ab_utf8_hidden(c))
			ab_buf_add(b, s, n);
		else if (c < 0x80)
			add_hex(b, "\\u00", (unsigned char)c);
		else if (c < 0x10000)
			ab_buf_printf(b, "\\u%04x", c);
		else
			ab_buf_printf(b, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10),
				      0xdc00 | (c & 0x3ff));
		s += n ? n : 1;
		reserve_room(b, 2 * (size_t)(end - s) + 1 + 8);
		s += add_simple(b, s, (size_t)(end - s));
	}
}

void ab_buf_json_n(struct ab_buf *b, const char *s, size_t len)
{
	size_t simple;

	reserve_room(b, 2 * len + 2 + 8);
	b->data[b->len++] = '"';
	simple = add_simple(b, s, len);
	if (simple < len)
		add_escaped(b, s + simple, len - simple);
	b->data[b->len++] = '"';
	b->data[b->len] = '\0';
}

void ab_buf_json(struct ab_buf *b, const char *s)
{
	ab_buf_json_n(b, s, strlen(s));
}

/* A function cannot take the address of a va_list that it was given. */
struct values {
	va_list ap;
};

/* These return false if there is no value. */

static bool add_list(struct ab_buf *b, struct values *values)
{
	const struct ab_strv *list = va_arg(values->ap, const struct ab_strv *);
	size_t len = list ? list->len : 0;

	ab_buf_puts(b, "[");
	for (size_t i = 0; i < len; i++) {
		ab_buf_puts(b, i ? "," : "");
		ab_buf_json(b, list->v[i]);
	}
	ab_buf_puts(b, "]");
	return len > 0;
}

static bool add_text(struct ab_buf *b, const char *how, struct values *values)
{
	size_t len = how[0] == '.' ? (size_t)va_arg(values->ap, int) : 0;
	const char *text = va_arg(values->ap, const char *);

	if (!text)
		ab_buf_puts(b, "null");
	else if (how[0] == '.')
		ab_buf_json_n(b, text, len);
	else if (how[0] == '-')
		ab_buf_puts(b, text);
	else
		ab_buf_json(b, text);
	return text != NULL;
}

static bool add_number(struct ab_buf *b, const char *how, bool negative, struct values *values)
{
	if (strncmp(how, "hh", 2) == 0)
		ab_buf_puts(b, va_arg(values->ap, int) ? "true" : "false");
	else if ((how[0] == 'j' || how[0] == 'l') && negative)
		ab_buf_printf(b, "%jd", va_arg(values->ap, intmax_t));
	else if (how[0] == 'j' || how[0] == 'l')
		ab_buf_printf(b, "%ju", va_arg(values->ap, uintmax_t));
	else if (how[0] == 'z')
		ab_buf_printf(b, "%zu", va_arg(values->ap, size_t));
	else if (negative)
		ab_buf_printf(b, "%d", va_arg(values->ap, int));
	else
		ab_buf_printf(b, "%u", va_arg(values->ap, unsigned int));
	return true;
}

/* *at is behind the percent sign, and then behind the value. */
static bool add_value(struct ab_buf *b, const char **at, struct values *values)
{
	const char *how = *at, *kind = how + strspn(how, "-.*hljz");

	*at = kind + 1;
	if (*kind == 's')
		return add_text(b, how, values);
	if (*kind == 'd' || *kind == 'u')
		return add_number(b, how, *kind == 'd', values);
	if (*kind != 'p')
		abort();
	return add_list(b, values);
}

/* Skip a comma that would be the first thing in an object or a list. */
static const char *skip_comma(const struct ab_buf *b, const char *at)
{
	return at + (*at == ',' && (!b->len || strchr("[{:", b->data[b->len - 1])));
}

void ab_buf_vjsonf(struct ab_buf *b, const char *pattern, va_list ap)
{
	const char *at = skip_comma(b, pattern);
	size_t optional = SIZE_MAX; /* where a member begins that may be left out */
	struct values values;

	va_copy(values.ap, ap);
	while (*at) {
		size_t n = strcspn(at, "%'?");

		ab_buf_add(b, at, n);
		at += n;
		if (*at == '%') {
			at++;
			if (!add_value(b, &at, &values) && optional != SIZE_MAX)
				b->data[b->len = optional] = '\0';
			optional = SIZE_MAX;
		} else if (*at == '\'') {
			ab_buf_puts(b, "\"");
			at++;
		} else if (*at) {
			optional = b->len;
			at = skip_comma(b, at + 1);
		}
	}
	va_end(values.ap);
}

void ab_buf_jsonf(struct ab_buf *b, const char *pattern, ...)
{
	va_list ap;

	va_start(ap, pattern);
	ab_buf_vjsonf(b, pattern, ap);
	va_end(ap);
}

void ab_buf_json_number(struct ab_buf *b, const char *key, bool known, int64_t n)
{
	if (known)
		ab_buf_jsonf(b, ",%s:%jd", key, n);
	else
		ab_buf_jsonf(b, ",%s:null", key);
}

void ab_buf_escape_n(struct ab_buf *b, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		size_t n = ab_printable(s, (size_t)(end - s));

		if (n > 0) {
			ab_buf_add(b, s, n);
			s += n;
		} else {
			add_hex(b, "\\x", (unsigned char)*s++);
		}
	}
}

void ab_buf_escape(struct ab_buf *b, const char *s)
{
	ab_buf_escape_n(b, s, strlen(s));
}

char *ab_escape(const char *s)
{
	struct ab_buf b = { 0 };

	ab_buf_escape(&b, s);
	return ab_buf_take(&b);
}

char *ab_buf_take(struct ab_buf *b)
{
	char *s;

	close_gap(b);
	s = b->data ? b->data : ab_strdup("");
	*b = (struct ab_buf){ 0 };
	return s;
}

void ab_buf_fini(struct ab_buf *b)
{
	if (b->wipe && b->data)
		explicit_bzero(memory_of(b), b->room);
	free(memory_of(b));
	/* The next bytes in it may be secret as well. */
	*b = (struct ab_buf){ .wipe = b->wipe };
}
