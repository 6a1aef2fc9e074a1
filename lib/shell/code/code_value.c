/* The values of the strings of a one-liner. */
#include "base/data/arena.h"
#include "shell/code/code_scan.h"

void ab_code_add(struct ab_code_string *b, char c)
{
	if (b->len == b->room) {
		uint32_t room = b->room ? 2 * b->room : 64;
		char *s = ab_arena_alloc(b->arena, room);

		if (b->len)
			memcpy(s, b->s, b->len);
		b->s = s;
		b->room = room;
	}
	b->s[b->len++] = c;
}

void ab_code_add_unknown(struct ab_code_string *b)
{
	if (b->len == 0 || b->s[b->len - 1] != AB_UNKNOWN)
		ab_code_add(b, AB_UNKNOWN);
}

/* Digits of a number in this base, at most `max` of them. */
static unsigned read_number(const char **p, const char *end, int base, int max)
{
	unsigned n = 0;

	while (*p < end && max-- > 0 && (int)ab_digit(**p) < base)
		n = n * (unsigned)base + (unsigned)(int)ab_digit(*(*p)++);
	return n;
}

/* After the backslash. A zero byte would mean AB_UNKNOWN. */
static const char *add_escape(struct ab_code_string *b, const char *p, const char *end)
{
	static const char names[] = "abefnrtv";
	static const char values[] = "\a\b\033\f\n\r\t\v";
	const char *name;
	unsigned n;

	if (*p == 'x' || *p == 'u') {
		bool brace = p + 1 < end && p[1] == '{';
		int max = *p == 'x' ? 2 : 4;

		p += 1 + brace;
		n = read_number(&p, end, 16, brace ? 6 : max);
		if (brace && p < end && *p == '}')
			p++;
		ab_code_add(b, n > 0 && n < 0x100 ? (char)n : '?');
		return p;
	}
	if (*p >= '0' && *p <= '7') {
		n = read_number(&p, end, 8, 3);
		ab_code_add(b, n > 0 && n < 0x100 ? (char)n : '?');
		return p;
	}
	name = *p ? strchr(names, *p) : NULL;
	if (name)
		ab_code_add(b, values[name - names]);
	else if (*p != '\n')
		ab_code_add(b, *p);
	return p + 1;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
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
		if ((*p != '$' && (*p != '@' || language == AB_LANG_PHP)) ||
		    !(is_name(d) || (d >= '0' && d <= '9')))
			return NULL;
		for (p++; p < end && (is_name(*p) || (*p >= '0' && *p <= '9'));)
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
