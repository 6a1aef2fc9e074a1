/* Classes of characters, held against those of the C locale. */
#include "base/text/ascii.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

static int hex_of(int c)
{
	char text[2] = { (char)c };

	return c > 0 && isxdigit(c) ? (int)strtol(text, NULL, 16) : -1;
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
	return done();
}
