#include "audit/show/page.h"

/* Colours are chosen for a contrast of 4.5 or more on their ground. */
static const char page_style[] =
#include "audit/show/page_style_text.h"
	;

void ab_page_begin(struct ab_buf *b, const char *title, const char *more_style)
{
	ab_buf_printf(b,
		      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		      "<meta http-equiv=\"Content-Security-Policy\" "
		      "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		      "<meta name=\"color-scheme\" content=\"light dark\">"
		      "<meta name=\"referrer\" content=\"no-referrer\">"
		      "<title>%s</title><style>%s%s</style></head>\n<body><main>",
		      title, page_style, more_style);
}

void ab_page_markup(struct ab_buf *b, const char *text, size_t len)
{
	static const char special[] = "&<>\"'";
	static const char *const escaped[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const char *which = text[i] ? strchr(special, text[i]) : NULL;

		if (!which)
			continue;
		ab_buf_add(b, text + from, i - from);
		ab_buf_puts(b, escaped[which - special]);
		from = i + 1;
	}
	ab_buf_add(b, text + from, len - from);
}
