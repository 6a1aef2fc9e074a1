#ifndef AB_SHELL_SYNTAX_QUOTE_H
#define AB_SHELL_SYNTAX_QUOTE_H
/* Quotes words so that a shell reads them back unchanged. */
#include <stddef.h>

struct ab_buf;

/* One word; unchanged if nothing in it is special to a shell. */
void ab_quote(struct ab_buf *b, const char *word);
/* The words, separated by blanks. */
void ab_quote_argv(struct ab_buf *b, const char *const *argv, size_t argc);

#endif
