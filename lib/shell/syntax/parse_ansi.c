/*
 * $'..': decodes the escapes of C and a few more. As in bash, a zero byte ends
 * the string.
 */
#include "shell/syntax/lex.h"

struct decoder {
	const char *s, *end;
	char *out;
	bool ended;
};

/* Up to `most` digits; false: there are none. */
static bool read_number(struct decoder *d, unsigned base, unsigned most, uint32_t *ret)
{
	struct ab_text rest = { d->s, (uint32_t)(d->end - d->s) };
	unsigned n;

	*ret = ab_read_digits(&rest, base, most, &n);
	d->s = rest.s;
	return n > 0;
}

static void put_byte(struct decoder *d, uint32_t c)
{
	if (c & 0xff)
		*d->out++ = (char)c;
	else
		d->ended = true;
}

static void put_utf8(struct decoder *d, uint32_t c)
{
	int more = c < 0x80	   ? 0
		   : c < 0x800	   ? 1
		   : c < 0x10000   ? 2
		   : c < 0x200000  ? 3
		   : c < 0x4000000 ? 4
				   : 5;
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0, 0xf8, 0xfc };

	if (c > 0x7fffffff)
		return;
	put_byte(d, lead[more] | (c >> (6 * more)));
	while (more-- > 0)
		put_byte(d, 0x80 | ((c >> (6 * more)) & 0x3f));
}

/* \x \u \U: without digits they are text. */
static void decode_hex(struct decoder *d, char kind)
{
	int max = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
	bool braces = kind == 'x' && d->s < d->end && *d->s == '{';
	uint32_t n = 0;

	d->s += braces;
	if (!read_number(d, 16, braces ? 8 : max, &n)) {
		d->s -= braces;
		*d->out++ = '\\';
		*d->out++ = kind;
		return;
	}
	if (braces && d->s < d->end && *d->s == '}')
		d->s++;
	if (kind == 'x')
		put_byte(d, n & 0xff);
	else
		put_utf8(d, n);
}

static void decode_control(struct decoder *d)
{
	char c;

	if (d->s >= d->end) {
		*d->out++ = '\\';
		*d->out++ = 'c';
		return;
	}
	c = *d->s++;
	if (c == '\\' && d->s < d->end && *d->s == '\\')
		d->s++;
	put_byte(d, c == '?' ? 0x7f : c & 0x1f);
}

static void decode_escape(struct decoder *d)
{
	static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	const char *p;
	uint32_t n;
	char c;

	if (read_number(d, 8, 3, &n)) {
		put_byte(d, n & 0xff);
		return;
	}
	c = *d->s++;
	p = strchr(from, c);
	if (p) {
		*d->out++ = to[p - from];
	} else if (c == 'x' || c == 'u' || c == 'U') {
		decode_hex(d, c);
	} else if (c == 'c') {
		decode_control(d);
	} else {
		*d->out++ = '\\';
		*d->out++ = c;
	}
}

/* [from, to) contains no AB_UNKNOWN. True: the string ends in it. */
static bool add_decoded(struct ab_reader *r, struct ab_parts *parts, uint32_t from, uint32_t to)
{
	struct decoder d = { .s = r->s + from, .end = r->s + to };
	struct ab_part *part;
	char *text;

	if (!memchr(d.s, '\\', to - from)) {
		ab_parts_text(r, parts, from, to, true);
		return false;
	}
	text = d.out = ab_arena_alloc(r->arena, to - from);
	while (d.s < d.end && !d.ended) {
		if (*d.s != '\\' || d.end - d.s == 1) {
			*d.out++ = *d.s++;
			continue;
		}
		d.s++;
		decode_escape(&d);
	}
	part = ab_lex_new(r, sizeof(*part));
	part->kind = AB_PART_TEXT;
	part->quoted = true;
	part->range = ab_lex_span(r, from, to);
	part->text = (struct ab_text){ text, d.out - text };
	ab_parts_add(parts, part);
	return d.ended;
}

static uint32_t find_end_quote(struct ab_reader *r)
{
	uint32_t at = r->at;

	while (at < r->end && r->s[at] != '\'')
		at += r->s[at] == '\\' ? 2 : 1;
	r->work += at - r->at;
	return at;
}

void ab_parse_ansi(struct ab_reader *r, struct ab_parts *parts)
{
	uint32_t to = find_end_quote(r);

	if (to < r->end)
		ab_parts_single(r, parts, to, add_decoded);
	else
		ab_lex_fail(r, r->at - 1, "a quote is not closed");
}
