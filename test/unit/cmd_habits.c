/* Words and letters of other programs: what is none leaves the answer alone. */
#include "cmd/habits.c"

#include "tap.h"

static const struct {
	const char *word;
	char letter;
	const char *option; /* NULL: it is none */
} cases[] = {
	{ "network", 0, "net" }, { "tmpfs", 0, "" },  { "cwd", 0, "workspace" },
	{ "networ", 0, NULL },	 { "", 0, NULL },     { NULL, 'p', "publish" },
	{ NULL, 't', "" },	 { NULL, 'z', NULL }, { NULL, ' ', NULL },
	{ NULL, '\0', NULL },
};

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		struct habit habit = { .option = "untouched" };
		const char *want = cases[i].option;
		bool found = habit_option(cases[i].word, cases[i].letter, &habit);

		ok(found == (want != NULL), "word %s, letter %d", cases[i].word, cases[i].letter);
		is_str(habit.option, want ? want : "untouched", "its option");
	}
	return done();
}
