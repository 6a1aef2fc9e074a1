/* The threshold for denials: when it rings, and how often. */
#include "session/control/thresholds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static struct ab_threshold_alarm rung;

static struct ab_thresholds watch(uint64_t denials)
{
	memset(&rung, 0, sizeof(rung));
	return (struct ab_thresholds){ .denials = denials, .action = AB_ALARM_CUT };
}

static bool says(const char *text)
{
	char got[400];

	ab_alarm_text(&rung, got);
	if (strcmp(got, text) == 0)
		return true;
	printf("# %s\n", got);
	return false;
}

static void test_none(void)
{
	struct ab_thresholds m = watch(0);

	ok(!ab_thresholds_denied(&m, 0, 1 << 20, &rung), "and nothing rings");
}

static void test_denials(void)
{
	struct ab_thresholds m = watch(3);
	uint64_t t = 1000000;

	ok(!ab_thresholds_denied(&m, t, 3, &rung), "as many as are allowed");
	ok(!ab_thresholds_denied(&m, t + 60000, 3, &rung),
	   "a minute later they do not count any more");
	ok(ab_thresholds_denied(&m, t + 119000, 2, &rung), "but in less than that they do");
	ok(rung.value == 5 && rung.limit == 3 && rung.action == AB_ALARM_CUT && !rung.host[0],
	   "with numbers and the action");
	ok(says("5 accesses were denied in a minute (monitor.denialsPerMinute 3)"), "and words");
	ok(!ab_thresholds_denied(&m, t + 178000, 100, &rung), "it is silent for a minute");
	ok(ab_thresholds_denied(&m, t + 179000, 1, &rung) && rung.value == 101,
	   "and rings again then");
	ok(!ab_thresholds_denied(&m, t + 10 * 3600000, 1, &rung),
	   "hours later everything is forgotten");
	ok(!ab_thresholds_denied(&m, 0, 1, &rung), "a clock that goes back");
	ok(ab_thresholds_denied(&m, 0, UINT64_MAX, &rung) && rung.value == UINT64_MAX,
	   "and a number that is too large do no harm");
}

int main(void)
{
	test_none();
	test_denials();
	return done();
}
