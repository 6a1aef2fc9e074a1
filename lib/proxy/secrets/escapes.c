#include "proxy/secrets/escapes.h"

/* After a lead come two hexadecimal digits. */
enum { LEAD_DIGITS = 2, NAME_LONGEST = 8 };

struct word {
	char text[NAME_LONGEST + 1];
	char c;
};

static const char *const url_leads[] = { "%" };
static const char *const twice_leads[] = { "%25", "%" };
static const char *const backslash_leads[] = { "\\u00", "\\x" };

static const struct word backslash_words[] = {
	{ "\\\"", '"' },  { "\\'", '\'' }, { "\\/", '/' },
	{ "\\\\", '\\' }, { "\\n", '\n' }, { "\\r", '\r' },
};
/* Every name of HTML 5 for one printable ASCII character that fits. Browsers read the first ones
 * without the semicolon, too. */
enum { OLD_NAMES = 8 };
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
	const char *const *leads;
	size_t nleads;
	const struct word *words;
	size_t nwords;
	const char *uses; /* besides hexadecimal digits */
} kinds[AB_ESCAPE_COUNT] = {
	[AB_ESCAPE_URL] = { '%', url_leads, AB_COUNT(url_leads), NULL, 0, "%" },
	[AB_ESCAPE_URL_TWICE] = { '%', twice_leads, AB_COUNT(twice_leads), NULL, 0, "%" },
	[AB_ESCAPE_BACKSLASH] = { '\\', backslash_leads, AB_COUNT(backslash_leads), backslash_words,
				  AB_COUNT(backslash_words), "\\uxnr\"'/" },
	[AB_ESCAPE_HTML] = { '&', NULL, 0, html_words, AB_COUNT(html_words),
			     "&#;ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ" },
	[AB_ESCAPE_WRAP] = { '\n', NULL, 0, NULL, 0, "\r\n" },
};

bool ab_escape_uses(enum ab_escape escape, uint8_t c)
{
	return c && (ab_hex((char)c) >= 0 || strchr(kinds[escape].uses, c));
}

/* Do the bytes agree with the lead and its digits as far as they go? `c`: of which character they must be;
 * -1: of any. */
static bool agrees(const uint8_t *s, size_t left, const char *lead, int c)
{
	size_t n = strlen(lead);

	if (memcmp(s, lead, left < n ? left : n) != 0)
		return false;
	for (size_t i = 0; i < LEAD_DIGITS && n + i < left; i++) {
		int digit = ab_hex((char)s[n + i]);

		if (digit < 0 || (c >= 0 && digit != (i ? c & 15 : c >> 4)))
			return false;
	}
	return true;
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

	if (!high || !low)
		return false;
	*ret = (uint8_t)((high - 1) << 4 | (low - 1));
	return true;
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
	if (left < 2)
		return 0;
	for (size_t i = 0; i < AB_COUNT(backslash_words); i++)
		if (backslash_words[i].text[1] == (char)s[1]) {
			*ret = (uint8_t)backslash_words[i].c;
			return 2;
		}
	return 0;
}

enum { REFERENCE_DIGITS = 12 };

/* "&#65;", "&#x41;", up to twelve digits. A character has at most two or three of them after zeros, so
 * what follows it is known without a semicolon. *ret_digits: where they begin. */
static size_t read_digits(const uint8_t *s, size_t left, size_t *ret_digits, unsigned *ret)
{
	bool hex = left > 2 && ab_lower(s[2]) == 'x';
	unsigned base = hex ? 16 : 10;
	size_t first = hex ? 3 : 2, n = first;

	*ret = 0;
	for (; n < left && n - first < REFERENCE_DIGITS; n++) {
		unsigned digit = digits[s[n]];

		if (!digit || digit > base || *ret * base + digit - 1 > UINT8_MAX)
			break;
		*ret = *ret * base + digit - 1;
	}
	*ret_digits = first;
	return n;
}

static unsigned read_reference(const uint8_t *s, size_t left, uint8_t *ret)
{
	unsigned c;
	size_t first, n = read_digits(s, left, &first, &c);

	if (n == first)
		return 0;
	*ret = (uint8_t)c;
	return (unsigned)(n + (n < left && s[n] == ';'));
}

/* May more digits, or a semicolon, follow it? `c`: and make it this character; -1: any. */
static bool reference_is_cut(const uint8_t *s, size_t left, int c)
{
	unsigned now, base = left > 2 && ab_lower(s[2]) == 'x' ? 16 : 10;
	size_t first, n;

	if (left < 2 || s[1] != '#')
		return left < 2;
	n = read_digits(s, left, &first, &now);
	if (n < left || n == first)
		return n == left || left < first;
	if (c < 0 || (unsigned)c == now)
		return true;
	for (; n - first < REFERENCE_DIGITS && c; n++) {
		c /= (int)base;
		if ((unsigned)c == now)
			return true;
	}
	return false;
}

static unsigned read_old_name(const uint8_t *s, size_t left, uint8_t *ret)
{
	for (size_t i = 0; i < OLD_NAMES; i++) {
		size_t n = strlen(html_words[i].text) - 1;

		if (n <= left && memcmp(s, html_words[i].text, n) == 0) {
			*ret = (uint8_t)html_words[i].c;
			return (unsigned)n;
		}
	}
	return 0;
}

static unsigned read_name(const uint8_t *s, size_t left, uint8_t *ret)
{
	size_t most = left < NAME_LONGEST ? left : NAME_LONGEST, n;
	uint64_t name = 0;

	for (n = 1; n < most && ab_is_alnum(s[n]); n++)
		;
	if (n == most || s[n] != ';')
		return read_old_name(s, left, ret);
	memcpy(&name, s, n + 1);
	for (size_t i = 0; i < AB_COUNT(html_words); i++)
		if (memcmp(html_words[i].text, &name, sizeof(name)) == 0) {
			*ret = (uint8_t)html_words[i].c;
			return (unsigned)n + 1;
		}
	return read_old_name(s, left, ret);
}

static unsigned read_html(const uint8_t *s, size_t left, uint8_t *ret)
{
	if (left < 3)
		return 0;
	return s[1] == '#' ? read_reference(s, left, ret) : read_name(s, left, ret);
}

unsigned ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret)
{
	if (s[0] != ab_escape_mark(escape))
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
	case AB_ESCAPE_WRAP:
	case AB_ESCAPE_COUNT:
		break;
	}
	return 0;
}

bool ab_escape_is_cut(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c)
{
	const struct kind *kind = &kinds[escape];
	bool any = c == (uint8_t)kind->mark;

	if (s[0] != (uint8_t)kind->mark || left >= AB_ESCAPE_LONGEST)
		return false;
	for (size_t i = 0; i < kind->nleads; i++)
		if (left < strlen(kind->leads[i]) + LEAD_DIGITS &&
		    agrees(s, left, kind->leads[i], any ? -1 : c))
			return true;
	for (size_t i = 0; i < kind->nwords; i++)
		if (left < strlen(kind->words[i].text) &&
		    memcmp(s, kind->words[i].text, left) == 0 &&
		    (any || kind->words[i].c == (char)c))
			return true;
	return escape == AB_ESCAPE_HTML && reference_is_cut(s, left, any ? -1 : c);
}

/* CR or LF, as it is or escaped: its length; or 0. */
static unsigned read_line_end(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret)
{
	unsigned n = 0;

	if (left && ab_is_line_end(s[0])) {
		*ret = s[0];
		return 1;
	}
	if (left)
		n = ab_escape_read(s, left, escape, ret);
	/* "&#10" may become "&#101". */
	if (n == left && left && ab_escape_is_cut(s, left, escape, ab_escape_mark(escape)))
		return 0;
	return n && ab_is_line_end(*ret) ? n : 0;
}

unsigned ab_line_break_read(const uint8_t *s, size_t left, enum ab_escape escape)
{
	uint8_t c = 0;
	unsigned n = read_line_end(s, left, escape, &c), more = 0;

	if (n && c == '\r')
		more = read_line_end(s + n, left - n, escape, &c);
	return n + (c == '\n' ? more : 0);
}

bool ab_line_break_is_cut(const uint8_t *s, size_t left, enum ab_escape escape)
{
	return ab_escape_is_cut(s, left, escape, '\r') || ab_escape_is_cut(s, left, escape, '\n');
}
