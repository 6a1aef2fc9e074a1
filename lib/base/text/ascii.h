#ifndef AB_BASE_TEXT_ASCII_H
#define AB_BASE_TEXT_ASCII_H
/* Characters of ASCII, independent of the locale. Other bytes and EOF are
 * passed through by ab_lower() and belong to no class. */
#include <stdbool.h>

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

/* The value of a hexadecimal digit, or -1. */
static inline int ab_hex(int c)
{
	if (ab_is_digit(c))
		return c - '0';
	c = ab_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
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

#endif
