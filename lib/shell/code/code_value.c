/* The values of the strings of a one-liner. */
#include "shell/code/code_scan.h"
#include "shell/syntax/grow.h"

void ab_code_add(struct ab_code_string *b, char c)
{
	AB_GROW(b->arena, b->s, b->len, b->room, 64);
	b->s[b->len++] = c;
}

void ab_code_add_unknown(struct ab_code_string *b)
{
	if (b->len == 0 || b->s[b->len - 1] != AB_UNKNOWN)
		ab_code_add(b, AB_UNKNOWN);
}

/* The byte with this number, in at most `most` digits. */
static const char *add_number(struct ab_code_string *b, const char *p, const char *end,
			      unsigned base, unsigned most)
{
	struct ab_text rest = { p, (uint32_t)(end - p) };
	unsigned digits;
	uint32_t n = ab_read_digits(&rest, base, most, &digits);

	ab_code_add(b, n > 0 && n < 0x100 ? (char)n : '?');
	return rest.s;
}

/* After the backslash. A zero byte would mean AB_UNKNOWN. */
static const char *add_escape(struct ab_code_string *b, const char *p, const char *end)
{
	static const char names[] = "abefnrtv";
	static const char values[] = "\a\b\033\f\n\r\t\v";
	const char *name;

	if (*p == 'x' || *p == 'u') {
		bool brace = p + 1 < end && p[1] == '{';
		unsigned most = *p == 'x' ? 2 : 4;

		p = add_number(b, p + 1 + brace, end, 16, brace ? 6 : most);
		return p + (brace && p < end && *p == '}');
	}
	if (*p >= '0' && *p <= '7')
		return add_number(b, p, end, 8, 3);
	name = *p ? strchr(names, *p) : NULL;
	if (name)
		ab_code_add(b, values[name - names]);
	else if (*p != '\n')
		ab_code_add(b, *p);
	return p + 1;
}

static const char *skip_braces(const char *p, const char *end)
{
	unsigned depth = 0;

	for (; p < end; p++) {
		depth += *p == '{';
		if (*p == '}' && --depth == 0)
			return p + 1;
	}
	return end;
}

/* The end of an interpolated expression here; NULL: there is none. */
static const char *skip_interpolation(enum ab_language language, const char *p, const char *end)
{
	char d = p + 1 < end ? p[1] : 0;

	switch (language) {
	case AB_LANG_PYTHON:
		return *p == '{' && d != '{' ? skip_braces(p, end) : NULL;
	case AB_LANG_RUBY:
		return *p == '#' && d == '{' ? skip_braces(p + 1, end) : NULL;
	case AB_LANG_NODE:
		return *p == '$' && d == '{' ? skip_braces(p + 1, end) : NULL;
	case AB_LANG_PERL:
	case AB_LANG_PHP:
		if (*p == '{' && d == '$' && language == AB_LANG_PHP)
			return skip_braces(p, end);
		if (*p == '$' && d == '{')
			return skip_braces(p + 1, end);
		if ((*p != '$' && (*p != '@' || language == AB_LANG_PHP)) || !ab_is_name_byte(d))
			return NULL;
		for (p++; p < end && ab_is_name_byte(*p);)
			p++;
		return p;
	case AB_LANG_AWK:
	case AB_LANG_LUA:
		break;
	}
	return NULL;
}

void ab_code_value(const struct ab_code_scan *s, const struct ab_token *t, struct ab_code_string *b)
{
	const char *p = s->text.s + t->from, *end = s->text.s + t->to;

	while (p < end) {
		const char *next;

		if (*p == AB_UNKNOWN) {
			ab_code_add_unknown(b);
			p++;
		} else if (*p == '\\' && t->style == AB_STRING_ESCAPES && p + 1 < end) {
			p = add_escape(b, p + 1, end);
		} else if (*p == '\\' && t->style == AB_STRING_PLAIN && p + 1 < end &&
			   (p[1] == '\\' || p[1] == '\'')) {
			ab_code_add(b, p[1]);
			p += 2;
		} else if (t->fills && (next = skip_interpolation(s->language, p, end))) {
			ab_code_add_unknown(b);
			p = next;
		} else {
			/* f"{{" is one brace */
			p += t->fills && s->language == AB_LANG_PYTHON && p + 1 < end &&
			     (*p == '{' || *p == '}') && p[1] == *p;
			ab_code_add(b, *p++);
		}
	}
}
