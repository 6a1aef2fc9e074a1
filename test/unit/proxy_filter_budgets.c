/* Budgets of a run: what may be sent, which hosts, and what rings. */
#include "proxy/filter/budgets.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static struct ab_threshold_alarm rung;
static size_t nrung;

static void ring(void *arg, const struct ab_threshold_alarm *alarm)
{
	(void)arg;
	rung = *alarm;
	nrung++;
}

static struct ab_budgets *limit(uint64_t host, uint64_t run, uint64_t hosts, enum ab_alarm action)
{
	struct ab_policy policy = { .monitor = { 0, host, run, hosts, action } };

	nrung = 0;
	memset(&rung, 0, sizeof(rung));
	return ab_budgets_new(&policy, ring, NULL);
}

static bool says(const char *text)
{
	char got[AB_ALARM_ROOM];

	ab_alarm_text(&rung, got);
	if (strcmp(got, text) == 0)
		return true;
	printf("# %s\n", got);
	return false;
}

/* Take and send. */
static uint64_t send_to(struct ab_budgets *b, const char *host, uint64_t n)
{
	struct ab_allowance *a = ab_budgets_allowance(b, host);
	uint64_t got = ab_allowance_take(a, n);

	ab_allowance_sent(a, got);
	return got;
}

static void test_none(void)
{
	ok(!limit(0, 0, 0, AB_ALARM_CUT), "without limits there are no budgets");
	ok(!ab_budgets_allowance(NULL, "a.example") && ab_budgets_admit(NULL, "a.example"),
	   "and everything may be sent");
	ab_budgets_lift(NULL);
	ab_budgets_free(NULL);
}

static void test_host(void)
{
	struct ab_budgets *b = limit(1000, 0, 0, AB_ALARM_CUT);
	struct ab_allowance *a = ab_budgets_allowance(b, "a.example");

	ok(send_to(b, "a.example", 600) == 600 && send_to(b, "a.example", 600) == 400,
	   "not one byte more than the limit");
	ok(nrung == 0, "which is no reason to ring");
	ok(send_to(b, "a.example", 1) == 0 && nrung == 1, "one more is");
	is_str(rung.host, "a.example", "by the host");
	ok(says("1000 were sent to a.example (monitor.uploadPerHost 1000)"), "in words");
	ok(send_to(b, "a.example", 1) == 0 && nrung == 1, "once");
	ok(send_to(b, "b.example", 1000) == 1000, "another host has its own");
	ab_allowance_return(a, 10);
	ok(send_to(b, "a.example", 20) == 10, "what was not sent can be sent later");
	ab_budgets_lift(b);
	ok(send_to(b, "a.example", 1 << 30) == 1 << 30, "a person can end the limit");
	ok(send_to(b, "b.example", 1) == 0, "but not that of others");
	ab_budgets_free(b);
}

static void test_run(void)
{
	struct ab_budgets *b = limit(1000, 1500, 0, AB_ALARM_CUT);

	ok(send_to(b, "a.example", 900) == 900 && send_to(b, "b.example", 900) == 600,
	   "all hosts together");
	ok(send_to(b, "b.example", 1) == 0 && nrung == 1 && !rung.host[0] &&
		   says("1500 were sent to all hosts together (monitor.uploadPerRun 1500)"),
	   "the run rings");
	ok(send_to(b, "a.example", 200) == 0 && nrung == 1, "for every host");
	ab_budgets_free(b);

	b = limit(0, (100ULL << 20) + 12345, 0, AB_ALARM_WARN);
	ok(send_to(b, "a.example", 200 << 20) == (100 << 20) + 12345 &&
		   send_to(b, "a.example", 100) == 100 && nrung == 1 &&
		   says("100M were sent to all hosts together (monitor.uploadPerRun 104869945)"),
	   "a warning holds nothing back");
	ok(send_to(b, "a.example", 100) == 100 && nrung == 1, "and comes once");
	ab_budgets_free(b);
}

static void test_hosts(void)
{
	struct ab_budgets *b = limit(0, 0, 2, AB_ALARM_STOP);

	ok(!ab_budgets_allowance(b, "a.example"), "bytes have no limit");
	ok(ab_budgets_admit(b, "a.example") && ab_budgets_admit(b, "b.example") &&
		   ab_budgets_admit(b, "a.example") && nrung == 0,
	   "the same host again is not a new one");
	ok(!ab_budgets_admit(b, "c.example") && nrung == 1 &&
		   says("3 different hosts were requested (monitor.newHosts 2)"),
	   "the third is one too many");
	ok(!ab_budgets_admit(b, "d.example") && nrung == 1, "as is any other");
	ok(ab_budgets_admit(b, "b.example"), "the first ones may be used");
	ab_budgets_lift(b);
	ok(ab_budgets_admit(b, "c.example"), "a person can end the limit");
	ab_budgets_free(b);

	b = limit(0, 0, 1, AB_ALARM_WARN);
	ok(ab_budgets_admit(b, "a.example") && ab_budgets_admit(b, "b.example") &&
		   ab_budgets_admit(b, "c.example") && nrung == 1,
	   "a warning lets them through");
	ab_budgets_free(b);
}

/* More hosts than are counted one by one. */
static void test_many(void)
{
	struct ab_budgets *b = limit(10, 0, 0, AB_ALARM_CUT);
	char name[300];
	size_t sent = 0;

	for (int i = 0; i < AB_BUDGET_HOSTS; i++) {
		snprintf(name, sizeof(name), "h%d.example", i);
		sent += send_to(b, name, 10);
	}
	ok(sent == 10 * AB_BUDGET_HOSTS && nrung == 0, "many hosts have their own");
	ok(send_to(b, "x.example", 10) == 10 && send_to(b, "y.example", 1) == 0 &&
		   strcmp(rung.host, "others") == 0,
	   "all others share one");
	ok(send_to(b, "h17.example", 1) == 0 && strcmp(rung.host, "h17.example") == 0,
	   "which takes nothing from the first");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ok(send_to(b, name, 6) == 0, "as do names that are too long");
	ab_budgets_lift(b);
	ok(send_to(b, name, 6) == 6, "and a person can end that, too");
	ab_budgets_free(b);

	b = limit(0, 0, 5000, AB_ALARM_CUT);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "h%d.example", i);
		sent += !ab_budgets_admit(b, name);
	}
	ok(sent == 10 * AB_BUDGET_HOSTS && !ab_budgets_admit(b, "x.example") && rung.value == 5001,
	   "more hosts than that are still counted");
	ab_budgets_free(b);
}

int main(void)
{
	test_none();
	test_host();
	test_run();
	test_hosts();
	test_many();
	for (size_t i = 0; i <= AB_ALARM_STOP; i++)
		ok(ab_alarm_names[i] && ab_alarm_names[i][0], "%s", ab_alarm_names[i]);
	return done();
}
