#pragma once
/*
 * Base64 (RFC 4648), both alphabets, and percent escapes. Pure.
 */
#include "base/base.h"

/* Room for `len` bytes in base64, with or without padding. */
#define AB_BASE64_ROOM(len) (((len) + 2) / 3 * 4)

enum ab_base64 {
	AB_BASE64_STANDARD, /* + and / */
	AB_BASE64_URL,	    /* - and _ */
};

/* With padding, unterminated. Returns the length. */
size_t ab_base64_encode(const void *data, size_t len, enum ab_base64 alphabet, char *ret);

/* The same at the end of a buffer, with or without padding. */
void ab_base64_add(struct ab_buf *out, const void *data, size_t len, enum ab_base64 alphabet,
		   bool padded);
/*
 * Either alphabet, padded or not; `ret` must have room for len / 4 * 3 + 3 bytes.
 * false if it is not base64.
 */
bool ab_base64_decode(const char *s, size_t len, void *ret, size_t *ret_len);

/* Add what percent escapes mean; `form`: a "+" is a blank. False: a broken escape or a control
 * character. */
bool ab_percent_add(struct ab_buf *out, const char *s, size_t len, bool form);

/* Is it a digit of that alphabet? */
bool ab_base64_digit(char c, enum ab_base64 alphabet);

/*
 * The digits that these bytes always produce, whatever comes before and after them.
 * `align` is the number of bytes (0 to 2) since the last whole group. *ret_at is
 * the position of the first digit in its group.
 */
size_t ab_base64_core(const void *data, size_t len, unsigned align, enum ab_base64 alphabet,
		      char *ret, size_t *ret_at);
