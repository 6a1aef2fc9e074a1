/* How many boxes a pool keeps: what happened to its boxes, one letter each, and what follows. */
#include "session/warm/pool_pace.h"

#include "base/base.h"
#include "tap.h"

enum { SIZE = 4 };

#define EIGHT "xxxxxxxx"
#define RUNS "rrrrrrrrrrrrrrrr" /* 16 */

/* x: a box did not fit; f: it did; r: a run without a box. */
static const struct {
	const char *happens;
	size_t boxes;
	const char *name;
} cases[] = {
	{ "", SIZE, "a new pool" },
	{ "ffffffffffff", SIZE, "all fit" },
	{ "xxxxxxx", SIZE, "seven did not: too few are known" },
	{ EIGHT, 0, "eight did not" },
	{ "xfxfxfxf", SIZE, "half of them" },
	{ "xfxfxfxx", 0, "more than half" },
	{ "ffffffffxxxx", SIZE, "half of the last eight" },
	{ "ffffffffxxxxx", 0, "more than half of the last eight" },
	{ "ffxxxxxrrrrr" RUNS, SIZE, "runs without a box say nothing about boxes" },
	{ EIGHT "xxxxffff", 0, "boxes that were taken before change nothing" },
	{ EIGHT "rrrrrrrrrrrrrrr", 0, "fifteen runs later" },
	{ EIGHT RUNS, 1, "sixteen runs later: one, to try" },
	{ EIGHT RUNS "r", 1, "until it is taken" },
	{ EIGHT RUNS "f", SIZE, "it fits: all again" },
	{ EIGHT RUNS "fxxx", SIZE, "with a new count" },
	{ EIGHT RUNS "f" EIGHT, 0, "which can be as bad" },
	{ EIGHT RUNS "f" EIGHT RUNS, 1, "and is then no worse than the first" },
	{ EIGHT RUNS "x", 0, "it does not fit" },
	{ EIGHT RUNS "x" RUNS, 0, "sixteen runs after that" },
	{ EIGHT RUNS "x" RUNS RUNS, 1, "twice as many" },
	{ EIGHT RUNS "x" RUNS RUNS "x" RUNS RUNS RUNS "rrrrrrrrrrrrrrr", 0, "and so on" },
	{ EIGHT RUNS "x" RUNS RUNS "x" RUNS RUNS RUNS RUNS "f", SIZE, "until one fits" },
};

static size_t play(const char *happens, unsigned *ret_backs)
{
	struct ab_pool_pace pace = { 0 };

	*ret_backs = 0;
	for (; *happens; happens++)
		if (*happens == 'r')
			ab_pool_pace_run(&pace);
		else
			*ret_backs += ab_pool_pace_box(&pace, *happens == 'f');
	return ab_pool_pace_boxes(&pace, SIZE);
}

/* It never gives up. */
static void check_longest(void)
{
	struct ab_pool_pace pace = { 0 };
	unsigned longest = 0;

	for (int i = 0; i < 100; i++) {
		unsigned runs = 0;

		while (ab_pool_pace_boxes(&pace, SIZE))
			(void)ab_pool_pace_box(&pace, false);
		for (; !ab_pool_pace_boxes(&pace, SIZE); runs++)
			ab_pool_pace_run(&pace);
		longest = runs > longest ? runs : longest;
	}
	ok(longest == 1024, "the longest rest");
}

int main(void)
{
	unsigned backs;

	for (size_t i = 0; i < AB_COUNT(cases); i++)
		ok(play(cases[i].happens, &backs) == cases[i].boxes, "%s", cases[i].name);
	(void)play(EIGHT "xxxx" RUNS "x", &backs);
	ok(backs == 2, "it says each time when it steps back");
	check_longest();
	return done();
}
