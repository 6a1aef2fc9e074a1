#pragma once
/* Patterns of names: "*" is any text, "?" any one byte. Pure. */
#include "base/data/libc.h"

/* Does the pattern match the whole text? `fold`: letters of ASCII in any case. Quadratic at worst, and
 * linear for ordinary patterns. */
bool ab_glob_matches(const char *pattern, size_t pattern_len, const char *text, size_t len,
		     bool fold);
