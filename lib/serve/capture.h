#pragma once
/* The bytes of a command's stream as JSON. Pure. */
#include "base/base.h"

/* The beginning of a character whose rest has not come yet. */
struct ab_cut_char {
	char bytes[4];
	size_t len;
};

/*
 * Add an "output" event with these bytes, and those that were cut off before: as "text" if they are
 * UTF-8, else as "base64". `last`: nothing follows, so nothing is held back. Adds nothing if there
 * are no bytes to tell.
 */
void ab_output_event(struct ab_buf *b, uint64_t run, const char *stream, struct ab_cut_char *cut,
		     const char *data, size_t len, bool last);
