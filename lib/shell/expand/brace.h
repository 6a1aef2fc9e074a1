#pragma once
/*
 * Brace expansion of a word's parts: {a,b}, {1..5}, nested, as bash does it.
 * Quoted parts and expansions stay unchanged.
 */
#include "shell/expand/expand.h"

struct ab_braces {
	const struct ab_part **v; /* lists of parts, one for each word */
	size_t len;
};

/* Is there anything to expand? A cheap test: most words have no braces. */
bool ab_brace_found(const struct ab_part *parts);
/* False: over a bound. */
bool ab_brace_expand(const struct ab_eval *e, const struct ab_part *parts, struct ab_braces *ret);
