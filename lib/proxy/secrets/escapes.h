#pragma once
/*
 * Escapes of single characters, as servers write them: in URLs (%41), in URLs
 * that are escaped twice (%2541), after a backslash (\u0041, \x41, \/) and in
 * HTML (&#65; &#x41; &amp;), there also with leading zeros and without the
 * semicolon (&#00065, &amp). And line breaks between digits: CR LF, LF or CR,
 * as they are or as escapes (\n, %0D%0A, &#10;). Pure.
 */
#include "base/base.h"

enum ab_escape {
	AB_ESCAPE_NONE,
	AB_ESCAPE_URL,
	AB_ESCAPE_URL_TWICE, /* or once */
	AB_ESCAPE_BACKSLASH,
	AB_ESCAPE_HTML,
	AB_ESCAPE_WRAP, /* line breaks only */
	AB_ESCAPE_COUNT,
};

enum { AB_ESCAPE_LONGEST = 16 };

/* The byte with which every escape of this kind begins. */
static inline uint8_t ab_escape_mark(enum ab_escape escape)
{
	return (uint8_t) "\0%%\\&\n"[escape];
}

static inline size_t ab_escape_longest(enum ab_escape escape)
{
	static const uint8_t longest[AB_ESCAPE_COUNT] = { 0, 3, 5, 6, AB_ESCAPE_LONGEST, 1 };

	return longest[escape];
}

/* The escape at `s`: its length and its character; 0: there is none, or it is
 * cut off. At the end of the data it may be a part of a longer one. */
unsigned ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret);

/* Is this a cut-off escape that may be of `c`, or one of `c` that may get
 * longer? Or of any character, if `c` is the mark: whether the mark itself is
 * meant is not known yet. */
bool ab_escape_is_cut(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c);

/* May an escape of this kind contain the byte? */
bool ab_escape_uses(enum ab_escape escape, uint8_t c);

static inline bool ab_is_line_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

/* The length of the line break at `s`; 0: there is none. */
unsigned ab_line_break_read(const uint8_t *s, size_t left, enum ab_escape escape);
/* Is this a cut-off escape of a line end? */
bool ab_line_break_is_cut(const uint8_t *s, size_t left, enum ab_escape escape);
