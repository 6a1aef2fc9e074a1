#pragma once
/* Characters of ASCII, independent of the locale. Other bytes and EOF are
 * passed through by ab_lower() and belong to no class. */
#include "base/data/libc.h"

static inline bool ab_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static inline int ab_lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static inline bool ab_is_alnum(int c)
{
	return ab_is_digit(c) || (ab_lower(c) >= 'a' && ab_lower(c) <= 'z');
}

/* Only letters, digits and characters of `more`? */
static inline bool ab_has_only(const char *s, size_t len, const char *more)
{
	for (size_t i = 0; i < len; i++)
		if (!ab_is_alnum(s[i]) && (!s[i] || !strchr(more, s[i])))
			return false;
	return true;
}

static inline bool ab_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The value of a hexadecimal digit, or -1. */
static inline int ab_hex(int c)
{
	if (ab_is_digit(c))
		return c - '0';
	c = ab_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character of the percent escape at `s` ("%41"), or -1: there is none. */
static inline int ab_percent(const char *s, size_t left)
{
	int high = left > 2 && s[0] == '%' ? ab_hex(s[1]) : -1;
	int low = high < 0 ? -1 : ab_hex(s[2]);

	return low < 0 ? -1 : high << 4 | low;
}

/* The character at *at, escaped or not; moves *at behind it. */
static inline unsigned char ab_percent_next(const char *s, size_t len, size_t *at)
{
	int c = ab_percent(s + *at, len - *at);

	*at += c < 0 ? 1 : 3;
	return (unsigned char)(c < 0 ? s[*at - 1] : c);
}

static inline bool ab_is_blank(int c)
{
	return c == ' ' || c == '\t';
}

/* A blank, or the end of a line. */
static inline bool ab_is_space(int c)
{
	return ab_is_blank(c) || c == '\r' || c == '\n';
}
