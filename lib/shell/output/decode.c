#include "base/text/base64.h"
#include "shell/command/grammar.h"
#include "shell/output/output.h"

/* The value of a digit in an alphabet, or -1. */
static int find_digit(const char *alphabet, char c)
{
	const char *p = c ? strchr(alphabet, c) : NULL;

	return p ? (int)(p - alphabet) : -1;
}

static bool decode_digits(struct ab_output *out, struct ab_text in, const char *digits,
			  unsigned width)
{
	unsigned bits = 0, have = 0;

	for (uint32_t i = 0; i < in.len; i++) {
		int d;

		if (in.s[i] == '\n' || in.s[i] == '\r')
			continue;
		d = find_digit(digits, in.s[i]);
		if (d < 0)
			break;
		bits = (bits << width | (unsigned)d) & 0xffff;
		have += width;
		if (have < 8)
			continue;
		have -= 8;
		ab_output_byte(out, (char)(bits >> have));
	}
	return true;
}

bool ab_decode_base64(struct ab_output *out, struct ab_text in)
{
	return decode_digits(out, in,
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6);
}

bool ab_decode_base32(struct ab_output *out, struct ab_text in)
{
	return decode_digits(out, in, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5);
}

bool ab_decode_hex(struct ab_output *out, struct ab_text in)
{
	int high = -1;

	for (uint32_t i = 0; i < in.len; i++) {
		int d = (int)ab_digit(in.s[i]);

		if (d >= 16)
			continue;
		if (high >= 0)
			ab_output_byte(out, (char)(high << 4 | d));
		high = high < 0 ? d : -1;
	}
	return true;
}

void ab_encode_base64(struct ab_output *out, struct ab_text in, bool lines)
{
	enum { LINE = 57 }; /* bytes in a line of 76 digits */
	char text[AB_BASE64_ROOM(LINE)];

	while (in.len) {
		uint32_t n = in.len < LINE ? in.len : LINE;

		ab_output_add(out, text, ab_base64_encode(in.s, n, AB_BASE64_STANDARD, text));
		if (lines)
			ab_output_byte(out, '\n');
		in = ab_text_rest(in, n);
	}
}

void ab_encode_hex(struct ab_output *out, struct ab_text in)
{
	for (uint32_t i = 0; i < in.len; i++) {
		unsigned char c = (unsigned char)in.s[i];

		ab_output_byte(out, "0123456789abcdef"[c >> 4]);
		ab_output_byte(out, "0123456789abcdef"[c & 15]);
		if (i % 30 == 29 || i + 1 == in.len)
			ab_output_byte(out, '\n');
	}
}

bool ab_decode_rev(struct ab_output *out, struct ab_text in)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i <= in.len; i++) {
		if (i < in.len && (in.s[i] & 0x80))
			return false;
		if (i < in.len && in.s[i] != '\n')
			continue;
		for (uint32_t j = i; j > from; j--)
			ab_output_byte(out, in.s[j - 1]);
		if (i < in.len)
			ab_output_byte(out, '\n');
		from = i + 1;
	}
	return true;
}

struct set {
	unsigned char v[512];
	size_t len;
};

static bool add_range(struct set *set, unsigned char from, unsigned char to)
{
	for (unsigned c = from; c <= to; c++) {
		if (set->len == sizeof(set->v))
			return false;
		set->v[set->len++] = (unsigned char)c;
	}
	return from <= to;
}

/* [:upper:] and the like: adds their bytes in order of codes. */
static bool add_class(struct set *set, struct ab_text *t)
{
	static const struct {
		const char *name;
		const char *ranges;
	} classes[] = {
		{ "[:alnum:]", "09AZaz" }, { "[:alpha:]", "AZaz" }, { "[:blank:]", "\t\t  " },
		{ "[:digit:]", "09" },	   { "[:lower:]", "az" },   { "[:space:]", "\t\r  " },
		{ "[:upper:]", "AZ" },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (!ab_text_skip(t, classes[i].name))
			continue;
		for (const char *p = classes[i].ranges; *p; p += 2)
			if (!add_range(set, (unsigned char)p[0], (unsigned char)p[1]))
				return false;
		return true;
	}
	return false;
}

/* One byte of a set, with escapes decoded. */
static bool take_byte(struct ab_text *t, unsigned char *ret)
{
	static const char letters[] = "abfnrtv\\", codes[] = "\a\b\f\n\r\t\v\\";
	unsigned char c = (unsigned char)*t->s;
	unsigned n, digits;
	int d;

	*t = ab_text_rest(*t, 1);
	*ret = c;
	if (c & 0x80)
		return false;
	if (c != '\\' || !t->len)
		return true;
	d = find_digit(letters, *t->s);
	if (d >= 0) {
		*ret = (unsigned char)codes[d];
		*t = ab_text_rest(*t, 1);
		return true;
	}
	n = ab_read_digits(t, 8, 3, &digits);
	if (digits)
		*ret = (unsigned char)n;
	return digits && n < 256;
}

static bool read_set(struct ab_text t, struct set *ret)
{
	ret->len = 0;
	while (t.len) {
		unsigned char from, to;

		if (t.len > 1 && t.s[0] == '[' && strchr(":=", t.s[1])) {
			if (!add_class(ret, &t))
				return false;
			continue;
		}
		if (!take_byte(&t, &from))
			return false;
		to = from;
		if (t.len > 1 && ab_text_skip(&t, "-") && !take_byte(&t, &to))
			return false;
		if (!add_range(ret, from, to))
			return false;
	}
	return true;
}

enum { DELETED = 256 };

static bool make_map(const struct set sets[2], size_t nsets, bool removed, bool complement,
		     uint16_t map[256])
{
	if (removed ? nsets != 1 : nsets != 2 || complement || !sets[1].len)
		return false;
	for (unsigned c = 0; c < 256; c++)
		map[c] = (uint16_t)(complement ? DELETED : c);
	for (size_t i = 0; i < sets[0].len; i++) {
		unsigned char c = sets[0].v[i];
		size_t last = sets[1].len;

		if (removed)
			map[c] = (uint16_t)(complement ? c : DELETED);
		else
			map[c] = sets[1].v[i < last ? i : last - 1];
	}
	return true;
}

bool ab_decode_tr(struct ab_output *out, const struct ab_simple *command)
{
	struct set sets[2] = { { .len = 0 }, { .len = 0 } };
	bool removed = false, complement = false;
	uint16_t map[256];
	size_t n = 0;

	for (struct ab_opt_walk w = ab_opt_begin_as(command, "tr"); ab_opt_next(&w);) {
		if (w.what == AB_OPT_OPERAND) {
			if (n == 2 || w.value.unknown || !read_set(w.value.text, &sets[n++]))
				return false;
		} else if (ab_opt_is(&w, 'd', "delete")) {
			removed = true;
		} else if (ab_opt_is(&w, 'c', "complement") || ab_opt_is(&w, 'C', NULL)) {
			complement = true;
		} else {
			return false;
		}
	}
	if (!make_map(sets, n, removed, complement, map))
		return false;
	for (uint32_t i = 0; i < command->in.text.len; i++) {
		unsigned c = map[(unsigned char)command->in.text.s[i]];

		if (c != DELETED)
			ab_output_byte(out, (char)c);
	}
	return true;
}
