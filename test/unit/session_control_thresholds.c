/* Thresholds of a run: what rings, when, and how often. */
#include "session/control/thresholds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static struct ab_threshold_alarm rung;

static struct ab_thresholds *watch(uint64_t denials, uint64_t host, uint64_t run, uint64_t hosts)
{
	struct ab_policy policy = { .monitor = { denials, host, run, hosts, AB_ALARM_CUT } };

	memset(&rung, 0, sizeof(rung));
	return ab_thresholds_new(&policy);
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
	struct ab_thresholds *m = watch(0, 0, 0, 0);

	ok(!ab_thresholds_denied(m, 0, 1 << 20, &rung) &&
		   !ab_thresholds_sent(m, "a.example", UINT64_MAX, &rung) &&
		   !ab_thresholds_opened(m, "a.example", &rung),
	   "and nothing rings");
	ab_thresholds_free(m);
	ab_thresholds_free(NULL);
}

static void test_denials(void)
{
	struct ab_thresholds *m = watch(3, 0, 0, 0);
	uint64_t t = 1000000;

	ok(!ab_thresholds_denied(m, t, 3, &rung), "as many as are allowed");
	ok(!ab_thresholds_denied(m, t + 60000, 3, &rung),
	   "a minute later they do not count any more");
	ok(ab_thresholds_denied(m, t + 119000, 2, &rung), "but in less than that they do");
	ok(rung.value == 5 && rung.limit == 3 && rung.action == AB_ALARM_CUT && !rung.host[0],
	   "with numbers and the action");
	ok(says("5 accesses were denied in a minute (monitor.denialsPerMinute 3)"), "and words");
	ok(!ab_thresholds_denied(m, t + 178000, 100, &rung), "it is silent for a minute");
	ok(ab_thresholds_denied(m, t + 179000, 1, &rung) && rung.value == 101,
	   "and rings again then");
	ok(!ab_thresholds_denied(m, t + 10 * 3600000, 1, &rung),
	   "hours later everything is forgotten");
	ok(!ab_thresholds_denied(m, 0, 1, &rung), "a clock that goes back");
	ok(ab_thresholds_denied(m, 0, UINT64_MAX, &rung) && rung.value == UINT64_MAX,
	   "and a number that is too large do no harm");
	ab_thresholds_free(m);
}

static void test_uploads(void)
{
	struct ab_thresholds *m = watch(0, 1000, 2500, 0);

	ok(!ab_thresholds_sent(m, "a.example", 1000, &rung), "up to the limit");
	ok(ab_thresholds_sent(m, "a.example", 1, &rung), "and beyond");
	is_str(rung.host, "a.example", "by the host");
	ok(says("1001 were sent to a.example (monitor.uploadPerHost 1000)"), "in words");
	ok(!ab_thresholds_sent(m, "a.example", 1, &rung), "once");
	ok(!ab_thresholds_sent(m, "b.example", 999, &rung), "another host has its own");
	ok(ab_thresholds_sent(m, "b.example", 999, &rung) && !strcmp(rung.host, "b.example"),
	   "and rings by itself");
	ok(ab_thresholds_sent(m, "c.example", 1, &rung) && !rung.host[0] && rung.value == 3001,
	   "then the run, which was crossed at the same time");
	ok(says("3001 were sent to all hosts together (monitor.uploadPerRun 2500)"), "in words");
	ok(!ab_thresholds_sent(m, "c.example", 1, &rung), "once");
	ab_thresholds_free(m);

	m = watch(0, 0, 100ULL << 20, 0);
	ok(ab_thresholds_sent(m, "a.example", (105ULL << 20) + 12345, &rung) &&
		   says("105M were sent to all hosts together (monitor.uploadPerRun 100M)"),
	   "large sizes as people write them");
	ab_thresholds_free(m);
}

static void test_hosts(void)
{
	struct ab_thresholds *m = watch(0, 0, 0, 2);

	ok(!ab_thresholds_opened(m, "a.example", &rung) &&
		   !ab_thresholds_opened(m, "b.example", &rung) &&
		   !ab_thresholds_opened(m, "a.example", &rung),
	   "the same host again is not a new one");
	ok(ab_thresholds_opened(m, "c.example", &rung) &&
		   says("3 different hosts were reached (monitor.newHosts 2)"),
	   "the third is one too many");
	ok(!ab_thresholds_opened(m, "d.example", &rung), "which is told once");
	ab_thresholds_free(m);
}

/* More hosts than are counted one by one. */
static void test_many(void)
{
	struct ab_thresholds *m = watch(0, 10, 0, 0);
	char name[300];
	size_t rang = 0;

	for (int i = 0; i < 4096; i++) {
		snprintf(name, sizeof(name), "h%d.example", i);
		rang += ab_thresholds_sent(m, name, 10, &rung);
	}
	ok(rang == 0, "4096 hosts have their own count");
	ok(!ab_thresholds_sent(m, "x.example", 10, &rung) &&
		   ab_thresholds_sent(m, "y.example", 1, &rung) && !strcmp(rung.host, "others"),
	   "all others share one");
	ok(ab_thresholds_sent(m, "h17.example", 1, &rung) && !strcmp(rung.host, "h17.example"),
	   "which takes nothing from the first");
	ab_thresholds_free(m);

	m = watch(0, 0, 0, 5000);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "h%d.example", i);
		rang += ab_thresholds_opened(m, name, &rung);
	}
	ok(rang == 0 && ab_thresholds_opened(m, "x.example", &rung) && rung.value == 5001,
	   "more hosts than that are still counted");
	ab_thresholds_free(m);

	m = watch(0, 5, 0, 0);
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ok(ab_thresholds_sent(m, name, 6, &rung), "a name that is too long");
	ab_thresholds_free(m);
}

int main(void)
{
	test_none();
	test_denials();
	test_uploads();
	test_hosts();
	test_many();
	for (size_t i = 0; i <= AB_ALARM_STOP; i++)
		ok(ab_alarm_names[i] && ab_alarm_names[i][0], "%s", ab_alarm_names[i]);
	return done();
}
