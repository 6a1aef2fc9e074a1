#ifndef AB_PROXY_SECRETS_ESCAPES_H
#define AB_PROXY_SECRETS_ESCAPES_H
/*
 * Escapes of single characters, as servers write them: in URLs (%41), in URLs
 * that are escaped twice (%2541), after a backslash (\u0041, \x41, \/) and in
 * HTML (&#65; &#x41; &amp;). Pure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_escape {
	AB_ESCAPE_NONE,
	AB_ESCAPE_URL,
	AB_ESCAPE_URL_TWICE, /* or once */
	AB_ESCAPE_BACKSLASH,
	AB_ESCAPE_HTML,
	AB_ESCAPE_COUNT,
};

enum { AB_ESCAPE_LONGEST = 8 };

/* The byte with which every escape of this kind begins. */
uint8_t ab_escape_mark(enum ab_escape escape);

/* The escape at `s`: its length and its character; 0: there is none, or it is
 * cut off. */
unsigned ab_escape_read(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t *ret);

/* Is this a cut-off escape that may be of `c`? Or of any character, if `c` is
 * the mark: whether the mark itself is meant is not known yet. */
bool ab_escape_is_cut(const uint8_t *s, size_t left, enum ab_escape escape, uint8_t c);

/* May an escape of this kind contain the byte? */
bool ab_escape_uses(enum ab_escape escape, uint8_t c);

#endif
