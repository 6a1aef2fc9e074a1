#ifndef AB_SHELL_EXPAND_PARAM_H
#define AB_SHELL_EXPAND_PARAM_H
/*
 * What an operator makes of a parameter's value: ${x#w} ${x%%w} ${x/a/b}
 * ${x:1:2} ${x^^}. Exact, or not at all.
 */
#include "shell/syntax/field.h"

struct ab_arena;

/* `op` is everything behind the name. False: it cannot be known. */
bool ab_param_operate(struct ab_arena *arena, struct ab_text value, struct ab_text op,
		      struct ab_text *ret);

#endif
