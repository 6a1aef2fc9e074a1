#include "base/data/glob.h"

#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

static const struct {
	const char *pattern, *text;
	bool fold, matches;
} cases[] = {
	{ "", "", false, true },
	{ "", "a", false, false },
	{ "*", "", false, true },
	{ "**", "abc", false, true },
	{ "a*c", "abbbc", false, true },
	{ "a*c", "ac", false, true },
	{ "a*c", "abd", false, false },
	{ "*ab*cd", "xabyabcd", false, true },
	{ "*ab", "abab", false, true },
	{ "*ab", "aba", false, false },
	{ "a?c", "abc", false, true },
	{ "a?c", "ac", false, false },
	{ "?", "", false, false },
	{ "*_TOKEN", "MY_TOKEN", false, true },
	{ "*_TOKEN", "my_token", false, false },
	{ "*_TOKEN", "my_token", true, true },
	{ "*_token", "MY_TOKEN", true, true },
	{ "[a]", "a", false, false },
	{ "\xc3\xbc*", "\xc3\xbc\xff", true, true },
	{ "\xc3", "\xe3", true, false },
};

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++)
		ok(ab_glob_matches(cases[i].pattern, strlen(cases[i].pattern), cases[i].text,
				   strlen(cases[i].text), cases[i].fold) == cases[i].matches,
		   "\"%s\" and \"%s\"", cases[i].pattern, cases[i].text);
	ok(ab_glob_matches("a*b", 2, "axyz", 3, false), "only as long as they are");
	ok(!ab_glob_matches("a*b", 3, "axyb", 3, false), "and not longer");
	return done();
}
