#ifndef AB_BASE_TEXT_TEXTDIFF_H
#define AB_BASE_TEXT_TEXTDIFF_H
/*
 * The lines that went ("-line") and came ("+line") between two texts, escaped
 * for a terminal. Pure; bounded: past a size everything that is not a common
 * head or tail counts as changed.
 */
#include <stddef.h>

struct ab_strv;

void ab_text_diff(const char *old, size_t old_len, const char *new, size_t new_len,
		  struct ab_strv *ret_diff);

#endif
