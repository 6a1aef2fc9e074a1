#pragma once
/*
 * Removes sequences from the box's output that do more than control the screen:
 * those that read or write the clipboard, print, program keys, start a transfer
 * or a command, or make the terminal send text that the box has chosen or that is
 * on the screen. Such an answer reaches whoever reads the terminal next.
 *
 * Questions whose answers consist of numbers (cursor, size, colours, modes, kind
 * of terminal) pass, and are noted in `asked`.
 *
 * Pure and of fixed size for any bytes; all zero is the start. The stream may be
 * cut anywhere. Expects a terminal that reads UTF-8.
 */
#include "base/base.h"
#include "terminal/csi.h"

enum { AB_SCREEN_FILTER_HELD = 256 };

struct ab_screen_filter {
	uint8_t state;
	uint8_t kind;  /* the byte that began the string: ] P X ^ _ */
	uint8_t more;  /* bytes missing of a character in UTF-8 */
	bool lead;     /* the last byte may begin an eight-bit control character */
	bool escape;   /* an ESC in a string, of which the next byte decides */
	bool overlong; /* the sequence did not fit into `held` */
	bool asks;     /* a "?" in the string is a question */
	bool asked;    /* a question passed; may be cleared */
	struct ab_csi csi;
	uint16_t len;
	char held[AB_SCREEN_FILTER_HELD]; /* the sequence so far, undecided */
};

/* The most bytes that ab_screen_filter_take() writes for `len`. */
#define AB_SCREEN_FILTER_ROOM(len) (2 * (len) + AB_SCREEN_FILTER_HELD)

/* Returns the number of bytes written to `ret`. */
size_t ab_screen_filter_take(struct ab_screen_filter *filter, const void *data, size_t len,
			     char *ret);
