#pragma once
/* Quotes words so that a shell reads them back unchanged. */
#include "base/base.h"

/* One word; unchanged if nothing in it is special to a shell. */
void ab_quote(struct ab_buf *b, const char *word);
/* The words, separated by blanks. */
void ab_quote_argv(struct ab_buf *b, const char *const *argv, size_t argc);
