/* What a notice passes on of a text with words of the box. */
#include "consent/ask/notice.h"

#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

static const struct {
	const char *text, *want;
} cases[] = {
	{ "", "" },
	{ "files.example.com:443 needs your approval (and 2 more): agentbox watch 7kq2x",
	  "files.example.com:443 needs your approval (and 2 more): agentbox watch 7kq2x" },
	{ "[2001:db8::1]:80", "[2001:db8::1]:80" },
	{ "#(touch x) #{pane} %H", "?(touch x) ?"
				   "?pane? ?H" },
	{ "<a href=\"x\">&amp;</a>", "?a href?"
				     "?x?"
				     "?"
				     "?amp?"
				     "?"
				     "?a?" },
	{ "a;b\\c$d`e\n\x1b]0;t\a", "a?b?c?d?e?"
				    "?]0?t?" },
	{ "\xc3\xa9\xff", "???" },
};

int main(void)
{
	char clean[AB_NOTICE_ROOM], big[2 * AB_NOTICE_ROOM];

	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_notice_clean(cases[i].text, strlen(cases[i].text), clean);
		is_str(clean, cases[i].want, "only plain characters");
	}
	ab_notice_clean("a\0b", 3, clean);
	is_str(clean, "a?b", "a NUL does not end it");
	memset(big, 'x', sizeof(big));
	ab_notice_clean(big, sizeof(big), clean);
	ok(strlen(clean) == AB_NOTICE_ROOM - 1, "it is cut");
	return done();
}
