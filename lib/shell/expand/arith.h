#pragma once
/*
 * $(( )): numbers, known variables, + - * / % and parentheses. Anything else
 * is unknown. The text has already been expanded.
 */
#include "shell/expand/expand.h"

bool ab_arith(const struct ab_eval *e, struct ab_text text, int64_t *ret);
