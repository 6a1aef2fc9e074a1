/* Keys in what a terminal sends, cut anywhere. */
#include "terminal/key_reader.h"

#include <stdlib.h>

#include "base/data/mem.h"
#include "tap.h"

#define E "\033"

static const struct {
	const char *name, *bytes;
	int want[4];
} cases[] = {
	{ "a letter", "o", { 'o' } },
	{ "two", "no", { 'n', 'o' } },
	{ "Ctrl-C", "\003", { 3 } },
	{ "up and down", E "[A" E "[B", { AB_KEY_UP, AB_KEY_DOWN } },
	{ "the same in application mode", E "OA" E "OB", { AB_KEY_UP, AB_KEY_DOWN } },
	{ "with a modifier", E "[1;5A", { AB_KEY_UP } },
	{ "pages", E "[5~" E "[6~", { AB_KEY_PAGE_UP, AB_KEY_PAGE_DOWN } },
	{ "home and end", E "[H" E "[4~", { AB_KEY_HOME, AB_KEY_END } },
	{ "a function key",
	  E "[15~" E "OP"
	    "n",
	  { 'n' } },
	{ "one of the console",
	  E "[[A"
	    "n",
	  { 'n' } },
	{ "a letter with Alt",
	  E "a"
	    "n",
	  { 'n' } },
	{ "where the cursor is",
	  E "[24;80R"
	    "n",
	  { 'n' } },
	{ "what the terminal is",
	  E "[?1;2c" E "[>0;136;0c"
	    "n",
	  { 'n' } },
	{ "that it is well",
	  E "[0n"
	    "o",
	  { 'o' } },
	{ "a colour",
	  E "]10;rgb:aaaa/aaaa/aaaa\007"
	    "n",
	  { 'n' } },
	{ "a colour, ended otherwise",
	  E "]11;rgb:0000/aaaa/0000" E "\\"
	    "n",
	  { 'n' } },
	{ "a title that says yes",
	  E "]laoaraoaro" E "\\"
	    "n",
	  { 'n' } },
	{ "a setting",
	  E "P1$r0m" E "\\"
	    "n",
	  { 'n' } },
	{ "a click, the old way",
	  E "[Moar"
	    "n",
	  { 'n' } },
	{ "a click",
	  E "[<0;10;10M"
	    "n",
	  { 'n' } },
	{ "a paste",
	  E "[200~aor" E "[201~"
	    "n",
	  { 'n' } },
	{ "a paste with keys in it",
	  E "[200~" E "[A"
	    "o" E "[201~"
	    "n",
	  { 'n' } },
	{ "a sequence that is broken off",
	  E "[12\030"
	    "n",
	  { 'n' } },
	{ "one after another that has not ended", E "[12" E "[A", { AB_KEY_UP } },
	{ "a number without end", E "[99999999999999999999999A", { AB_KEY_UP } },
};

static bool same(const int *got, size_t n, const int *want)
{
	for (size_t i = 0; i < n; i++)
		if (i >= 4 || got[i] != want[i])
			return false;
	return n == 4 || want[n] == 0;
}

static void test_cases(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		const char *bytes = cases[i].bytes;
		size_t len = strlen(bytes);
		bool fine = true;
		int got[256];

		for (size_t cut = 0; cut <= len; cut++) {
			struct ab_key_reader k = { 0 };
			size_t n = ab_key_reader_feed(&k, bytes, cut, got);

			n += ab_key_reader_feed(&k, bytes + cut, len - cut, got + n);
			fine = fine && same(got, n, cases[i].want);
		}
		ok(fine, "%s", cases[i].name);
	}
}

static void test_escape(void)
{
	struct ab_key_reader k = { 0 };
	int got[8];

	ok(!ab_key_reader_open(&k) && !ab_key_reader_alone(&k), "at the start no Escape");
	ok(ab_key_reader_feed(&k, E, 1, got) == 0 && ab_key_reader_open(&k),
	   "Escape may be the beginning of more");
	ok(ab_key_reader_alone(&k) && !ab_key_reader_open(&k) &&
		   ab_key_reader_feed(&k, "n", 1, got) == 1,
	   "or the key itself");
	ok(ab_key_reader_feed(&k, E "[", 2, got) == 0 && !ab_key_reader_open(&k) &&
		   !ab_key_reader_alone(&k),
	   "with more of it, it is not");
	k = (struct ab_key_reader){ 0 };
	ab_key_reader_feed(&k, E "[200~" E, 7, got);
	ok(!ab_key_reader_alone(&k), "nor in a paste");
}

int main(void)
{
	test_cases();
	test_escape();
	return done();
}
