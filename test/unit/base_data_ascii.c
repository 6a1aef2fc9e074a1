/* Classes of characters, held against those of the C locale; percent escapes. */
#include "base/data/ascii.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/data/buf.h"
#include "base/text/base64.h"
#include "tap.h"

static int hex_of(int c)
{
	char text[2] = { (char)c };

	return c > 0 && isxdigit(c) ? (int)strtol(text, NULL, 16) : -1;
}

static const struct {
	const char *in, *want, *form; /* NULL: refused */
} escapes[] = {
	{ "", "", "" },
	{ "a+b%20c", "a+b c", "a b c" },
	{ "%2B%2f%25%C3%a9", "+/%\xc3\xa9", "+/%\xc3\xa9" },
	{ "\xc3\xa9", "\xc3\xa9", "\xc3\xa9" },
	{ "%", NULL, NULL },
	{ "%4", NULL, NULL },
	{ "%4g", NULL, NULL },
	{ "%00", NULL, NULL },
	{ "a%0d%0aX: y", NULL, NULL },
	{ "a\n", NULL, NULL },
	{ "%7f", NULL, NULL },
	{ "%1f", NULL, NULL },
};

static void check_escapes(void)
{
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
		for (int form = 0; form < 2; form++) {
			const char *want = form ? escapes[i].form : escapes[i].want;
			struct ab_buf b = { 0 };
			bool good = ab_percent_add(&b, escapes[i].in, strlen(escapes[i].in), form);

			is_str(good ? b.data : NULL, want, escapes[i].in);
			ab_buf_fini(&b);
		}
	/* The end of the text counts, not what follows it. */
	ok(ab_percent("%41", 2) < 0 && ab_percent("%41", 3) == 'A', "cut in an escape");
}

int main(void)
{
	int wrong = 0;

	for (int c = EOF; c < 256; c++) {
		wrong += ab_is_digit(c) != !!isdigit(c) || ab_is_alnum(c) != !!isalnum(c);
		wrong += ab_lower(c) != tolower(c) || ab_hex(c) != hex_of(c);
		wrong += ab_is_blank(c) != !!isblank(c);
		wrong += ab_is_space(c) != (isspace(c) && c != '\v' && c != '\f');
	}
	ok(wrong == 0, "every byte, and the end of a file");
	for (int c = -128; c < EOF; c++)
		wrong += ab_is_digit(c) || ab_is_alnum(c) || ab_lower(c) != c || ab_hex(c) >= 0 ||
			 ab_is_blank(c) || ab_is_space(c);
	ok(wrong == 0, "a char with a sign");
	check_escapes();
	return done();
}
