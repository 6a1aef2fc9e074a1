#ifndef AB_BASE_TEXT_TEXTDIFF_H
#define AB_BASE_TEXT_TEXTDIFF_H
/*
 * The lines that were removed ("-line") and added ("+line") between two texts,
 * escaped for a terminal. Pure and bounded: in a large text everything between
 * the common head and tail counts as changed.
 */
#include <stddef.h>

struct ab_strv;

void ab_text_diff(const char *old, size_t old_len, const char *new, size_t new_len,
		  struct ab_strv *ret_diff);

#endif
