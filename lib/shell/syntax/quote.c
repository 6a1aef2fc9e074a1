#include "shell/syntax/quote.h"

#include "shell/syntax/ast.h"

/* Letters, digits and these are never special to a shell. */
static bool is_plain(char c)
{
	return ab_is_name_byte(c) || (c && strchr("@%+:,./-", c));
}

void ab_quote(struct ab_buf *b, const char *word)
{
	const char *p = word;

	while (is_plain(*p))
		p++;
	if (!*p && p != word) {
		ab_buf_puts(b, word);
		return;
	}
	ab_buf_puts(b, "'");
	for (p = word; *p;) {
		size_t run = strcspn(p, "'");

		ab_buf_add(b, p, run);
		p += run;
		if (*p) {
			ab_buf_puts(b, "'\\''");
			p++;
		}
	}
	ab_buf_puts(b, "'");
}

void ab_quote_argv(struct ab_buf *b, const char *const *argv, size_t argc)
{
	for (size_t i = 0; i < argc; i++) {
		if (i)
			ab_buf_puts(b, " ");
		ab_quote(b, argv[i]);
	}
}
