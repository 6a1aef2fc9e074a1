#include "proxy/secrets/escapes.h"

#include <string.h>

#include "base/data/mem.h"
#include "base/text/ascii.h"

/* What a cut-off escape may become: a number between two texts. */
struct shape {
	char lead[6];
	uint8_t base, digits;
	char end; /* or '\0' */
};

struct word {
	char text[AB_ESCAPE_LONGEST + 1];
	char c;
};

static const struct shape url_shapes[] = { { "%", 16, 2, '\0' } };
static const struct shape twice_shapes[] = { { "%25", 16, 2, '\0' }, { "%", 16, 2, '\0' } };
static const struct shape backslash_shapes[] = {
	{ "\\u00", 16, 2, '\0' },
	{ "\\x", 16, 2, '\0' },
};
static const struct shape html_shapes[] = {
	{ "&#", 10, 2, ';' },	 { "&#", 10, 3, ';' },	{ "&#0", 10, 3, ';' },
	{ "&#00", 10, 3, ';' },	 { "&#x", 16, 2, ';' }, { "&#x0", 16, 2, ';' },
	{ "&#x00", 16, 2, ';' }, { "&#X", 16, 2, ';' }, { "&#X0", 16, 2, ';' },
	{ "&#X00", 16, 2, ';' },
};

static const struct word backslash_words[] = {
	{ "\\\"", '"' },
	{ "\\'", '\'' },
	{ "\\/", '/' },
	{ "\\\\", '\\' },
};
/* Every name of HTML 5 for one printable ASCII character that fits. */
static const struct word html_words[] = {
	{ "&amp;", '&' },    { "&AMP;", '&' },	  { "&lt;", '<' },    { "&LT;", '<' },
	{ "&gt;", '>' },     { "&GT;", '>' },	  { "&quot;", '"' },  { "&QUOT;", '"' },
	{ "&apos;", '\'' },  { "&sol;", '/' },	  { "&bsol;", '\\' }, { "&lowbar;", '_' },
	{ "&period;", '.' }, { "&equals;", '=' }, { "&plus;", '+' },  { "&colon;", ':' },
	{ "&semi;", ';' },   { "&comma;", ',' },  { "&excl;", '!' },  { "&num;", '#' },
	{ "&dollar;", '$' }, { "&percnt;", '%' }, { "&lpar;", '(' },  { "&rpar;", ')' },
	{ "&ast;", '*' },    { "&midast;", '*' }, { "&quest;", '?' }, { "&commat;", '@' },
	{ "&lsqb;", '[' },   { "&lbrack;", '[' }, { "&rsqb;", ']' },  { "&rbrack;", ']' },
	{ "&Hat;", '^' },    { "&grave;", '`' },  { "&lcub;", '{' },  { "&lbrace;", '{' },
	{ "&verbar;", '|' }, { "&vert;", '|' },	  { "&rcub;", '}' },  { "&rbrace;", '}' },
};

static const struct kind {
	char mark;
	const struct shape *shapes;
	size_t nshapes;
	const struct word *words;
	size_t nwords;
	const char *uses; /* besides hexadecimal digits */
} kinds[AB_ESCAPE_COUNT] = {
	[AB_ESCAPE_URL] = { '%', url_shapes, AB_COUNT(url_shapes), NULL, 0, "%" },
	[AB_ESCAPE_URL_TWICE] = { '%', twice_shapes, AB_COUNT(twice_shapes), NULL, 0, "%" },
	[AB_ESCAPE_BACKSLASH] = { '\\', backslash_shapes, AB_COUNT(backslash_shapes),
				  backslash_words, AB_COUNT(backslash_words), "\\ux\"'/" },
	[AB_ESCAPE_HTML] = { '&', html_shapes, AB_COUNT(html_shapes), html_words,
			     AB_COUNT(html_words), "&#;ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ" },
};

uint8_t ab_escape_mark(enum ab_escape escape)
{
	return (uint8_t)kinds[escape].mark;
}

bool ab_escape_uses(enum ab_escape escape, uint8_t c)
{
	return c && (ab_hex((char)c) >= 0 || strchr(kinds[escape].uses, c));
}

static int digit_value(uint8_t c, unsigned base)
{
	int n = ab_hex((char)c);

	return n < (int)base ? n : -1;
}

static size_t shape_length(const struct shape *shape)
{
	return strlen(shape->lead) + shape->digits + (shape->end != '\0');
}

/* The digit of `c` at this place, from the left; more than a digit: it does not
 * fit. */
static unsigned digit_of(const struct shape *shape, uint8_t c, size_t place)
{
	unsigned n = c;

	for (size_t i = place + 1; i < shape->digits; i++)
		n /= shape->base;
	return place ? n % shape->base : n;
}

/* Do the bytes agree with the shape as far as they go? `c`: of which character
 * they must be; -1: of any. */
static bool agrees(const uint8_t *s, size_t left, const struct shape *shape, int c)
{
	size_t lead = strlen(shape->lead), n = left < lead ? left : lead;

	if (memcmp(s, shape->lead, n) != 0)
		return false;
	for (size_t i = 0; i < shape->digits && lead + i < left; i++) {
		int digit = digit_value(s[lead + i], shape->base);

		if (digit < 0 || (c >= 0 && (unsigned)digit != digit_of(shape, (uint8_t)c, i)))
			return false;
	}
	n = lead + shape->digits;
	return !shape->end || left <= n || s[n] == (uint8_t)shape->end;
}

/* The value of each hexadecimal digit, plus one. */
static const uint8_t digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static bool read_byte(const uint8_t *s, uint8_t *ret)
{
	unsigned high = digits[s[0]], low = digits[s[1]];

	*ret = (uint8_t)((high - 1) << 4 | (low - 1));
	return high && low;
}

static unsigned read_url(const uint8_t *s, size_t left, uint8_t *ret)
{
	return left >= 3 && read_byte(s + 1, ret) ? 3 : 0;
}

static unsigned read_url_twice(const uint8_t *s, size_t left, uint8_t *ret)
{
	size_t n = left < 5 ? left : 5;

	/* "%25" and one digit, or none yet: it may become either. */
	if (n >= 3 && memcmp(s, "%25", 3) == 0) {
		if (n == 5 && read_byte(s + 3, ret))
			return 5;
		if (n == 3 || (n == 4 && digits[s[3]]))
			return 0;
	}
	return read_url(s, left, ret);
}

static unsigned read_backslash(const uint8_t *s, size_t left, uint8_t *ret)
{
	if (left >= 6 && memcmp(s + 1, "u00", 3) == 0 && read_byte(s + 4, ret))
		return 6;
	if (left >= 4 && s[1] == 'x' && read_byte(s + 2, ret))
		return 4;
	if (left < 2 || (s[1] != '"' && s[1] != '\'' && s[1] != '/' && s[1] != '\\'))
		return 0;
	*ret = s[1];
	return 2;
}

static bool read_number(const uint8_t *s, size_t len, unsigned base, uint8_t *ret)
{
	unsigned n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned digit = digits[s[i]];

		if (!digit || digit > base)
			return false;
		n = n * base + digit - 1;
	}
	*ret = (uint8_t)n;
	return n <= UINT8_MAX;
}

static unsigned read_html(const uint8_t *s, size_t left, uint8_t *ret)
{
	size_t most = left < AB_ESCAPE_LONGEST ? left : AB_ESCAPE_LONGEST, n;
	uint64_t name = 0;

	for (n = 1; n < most && s[n] != ';'; n++)
		if (s[n] != '#' && !ab_is_alnum(s[n]))
			return 0;
	if (n == most || n < 3)
		return 0;
	if (s[1] == '#') {
		bool hex = ab_lower(s[2]) == 'x';
		size_t lead = hex ? 3 : 2;

		return n - lead >= 2 && read_number(s + lead, n - lead, hex ? 16 : 10, ret)
			       ? (unsigned)n + 1
			       : 0;
	}
	memcpy(&name, s, n + 1);
	for (size_t i = 0; i < AB_COUNT(html_words); i++)
		if (memcmp(html_words[i].text, &name, sizeof(name)) == 0) {
			*ret = (uint8_t)html_words[i].c;
			return (unsigned)n + 1;
		}
	return 0;
}

unsigned ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret)
{
	if (s[0] != (uint8_t)kinds[escape].mark)
		return 0;
	switch (escape) {
	case AB_ESCAPE_URL:
		return read_url(s, left, ret);
	case AB_ESCAPE_URL_TWICE:
		return read_url_twice(s, left, ret);
	case AB_ESCAPE_BACKSLASH:
		return read_backslash(s, left, ret);
	case AB_ESCAPE_HTML:
		return read_html(s, left, ret);
	case AB_ESCAPE_NONE:
	case AB_ESCAPE_COUNT:
		break;
	}
	return 0;
}

bool ab_escape_is_cut(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c)
{
	const struct kind *kind = &kinds[escape];
	bool any = c == (uint8_t)kind->mark;

	if (s[0] != (uint8_t)kind->mark)
		return false;
	for (size_t i = 0; i < kind->nshapes; i++)
		if (left < shape_length(&kind->shapes[i]) &&
		    agrees(s, left, &kind->shapes[i], any ? -1 : c))
			return true;
	for (size_t i = 0; i < kind->nwords; i++)
		if (left < strlen(kind->words[i].text) &&
		    memcmp(s, kind->words[i].text, left) == 0 &&
		    (any || kind->words[i].c == (char)c))
			return true;
	return false;
}
