#ifndef AB_SHELL_SYNTAX_QUOTE_H
#define AB_SHELL_SYNTAX_QUOTE_H
/* Words so that a shell reads them back as they are. */
#include <stddef.h>

struct ab_buf;

/* One word; as it is where nothing in it is special to a shell. */
void ab_quote(struct ab_buf *b, const char *word);
/* The words with a blank between them. */
void ab_quote_argv(struct ab_buf *b, const char *const *argv, size_t argc);

#endif
