/* Words about a run, over what the lists say. */
#include "proxy/filter/grants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static const struct ab_verdict none = { AB_ACCESS_DENY, AB_BASIS_NONE, "" },
			       ask = { AB_ACCESS_ASK, AB_BASIS_NONE, "" },
			       port = { AB_ACCESS_ASK, AB_BASIS_PORT, "x.y:1" },
			       allow = { AB_ACCESS_ALLOW, AB_BASIS_ALLOW, "x.y" },
			       learned = { AB_ACCESS_ALLOW, AB_BASIS_LEARNED, "" },
			       deny = { AB_ACCESS_DENY, AB_BASIS_DENY, "x.y" },
			       range = { AB_ACCESS_DENY, AB_BASIS_RANGE, "10.0.0.0/8" },
			       own = { AB_ACCESS_DENY, AB_BASIS_OWN, "" };

static void parse(const char *text, struct ab_host *ret)
{
	if (ab_host_parse(text, strlen(text), ret, NULL) < 0)
		abort();
}

/* "+x.y", "-x.y:443": what holds, and why. */
static const char *judge(const struct ab_grants *g, uint64_t now, const char *host, uint16_t at,
			 struct ab_verdict v)
{
	static char said[400];
	static const char signs[] = {
		[AB_ACCESS_DENY] = '-', [AB_ACCESS_ASK] = '?', [AB_ACCESS_ALLOW] = '+'
	};
	struct ab_host h;

	parse(host, &h);
	if (at)
		ab_grants_judge(g, now, &h, at, &v);
	else
		ab_grants_name(g, now, &h, &v);
	snprintf(said, sizeof(said), "%c%s%s", signs[v.access],
		 v.basis == AB_BASIS_GRANT ? "" : "list ", v.entry);
	return said;
}

static void check_order(void)
{
	struct ab_grants g = { 0 };

	is_str(judge(&g, 1, "x.y", 443, ask), "?list ", "nothing was said");
	ok(ab_grants_add(&g, 1, "X.Y", AB_GRANT_ALLOW, 0), "a yes");
	is_str(judge(&g, 1, "x.y", 443, ask), "+x.y", "lets through");
	is_str(judge(&g, 1, "x.y", 443, none), "+x.y", "without a question too");
	is_str(judge(&g, 1, "x.y", 80, port), "+x.y", "or with another port");
	is_str(judge(&g, 1, "x.y", 8080, ask), "?list ", "but a usual one");
	is_str(judge(&g, 1, "a.x.y", 443, ask), "?list ", "and nobody else");
	is_str(judge(&g, 1, "x.y", 443, allow), "+list x.y", "what the lists allow is theirs");
	is_str(judge(&g, 1, "x.y", 443, deny), "-list x.y", "it is weaker than the deny list");
	is_str(judge(&g, 1, "10.0.0.1", 443, range), "-list 10.0.0.0/8", "and than a range");
	ok(ab_grants_add(&g, 1, "10.0.0.1", AB_GRANT_ALLOW, 0) &&
		   ab_grants_add(&g, 1, "*.x.y:8443", AB_GRANT_DENY, 0),
	   "more words");
	is_str(judge(&g, 1, "10.0.0.1", 443, range), "-list 10.0.0.0/8",
	       "which lift no range either");
	is_str(judge(&g, 1, "10.0.0.1", 443, own), "-list ", "nor reach our own address");
	is_str(judge(&g, 1, "a.x.y", 8443, allow), "-*.x.y:8443",
	       "a no is stronger than the allow list");
	is_str(judge(&g, 1, "a.x.y", 8443, learned), "-*.x.y:8443", "and than learning");
	is_str(judge(&g, 1, "a.x.y", 443, allow), "+list x.y", "and means its port");
	ab_grants_fini(&g);
}

static void check_newest(void)
{
	struct ab_grants g = { 0 };

	ab_grants_add(&g, 1, "x.y", AB_GRANT_DENY, 0);
	is_str(judge(&g, 1, "x.y", 8080, allow), "-x.y", "a no without a port means all of them");
	ab_grants_add(&g, 1, "x.y:8080", AB_GRANT_ALLOW, 0);
	is_str(judge(&g, 1, "x.y", 8080, ask), "+x.y:8080", "the newest holds where it means it");
	is_str(judge(&g, 1, "x.y", 443, ask), "-x.y", "and the older elsewhere");
	ab_grants_add(&g, 1, "x.y", AB_GRANT_ALLOW, 0);
	is_str(judge(&g, 1, "x.y", 443, ask), "+x.y", "a no is taken back");
	ok(g.len == 2, "and forgotten");
	ab_grants_add(&g, 1, "a.b", AB_GRANT_ANSWER, 0);
	is_str(judge(&g, 1, "a.b", 443, ask), "-a.b", "an answer counts");
	is_str(judge(&g, 1, "a.b", 9, ask), "-a.b", "for every port");
	is_str(judge(&g, 1, "a.b", 443, allow), "+list x.y", "that the list does not allow");
	ab_grants_add(&g, 1, "a.b:443", AB_GRANT_ALLOW, 0);
	ab_grants_add(&g, 1, "a.b", AB_GRANT_ANSWER, 0);
	is_str(judge(&g, 1, "a.b", 443, ask), "+a.b:443", "nor a grant");
	is_str(judge(&g, 1, "a.b", 9, ask), "-a.b", "for the others");
	ok(!ab_grants_add(&g, 1, "x y", AB_GRANT_ALLOW, 0), "no host, no word");
	ab_grants_fini(&g);
}

static void check_time(void)
{
	struct ab_grants g = { 0 };

	ab_grants_add(&g, 100, "x.y", AB_GRANT_ALLOW, 200);
	is_str(judge(&g, 199, "x.y", 443, ask), "+x.y", "a word for a while");
	is_str(judge(&g, 200, "x.y", 443, ask), "?list ", "is over then");
	ab_grants_add(&g, 300, "a.b", AB_GRANT_DENY, 400);
	ok(g.len == 1, "and makes room");
	is_str(judge(&g, 399, "a.b", 443, allow), "-a.b", "a no as well");
	is_str(judge(&g, 400, "a.b", 443, allow), "+list x.y", "can have an end");
	ab_grants_fini(&g);
}

static void check_names(void)
{
	struct ab_grants g = { 0 };

	ab_grants_add(&g, 1, "x.y:8080", AB_GRANT_ALLOW, 0);
	is_str(judge(&g, 1, "x.y", 0, none), "+x.y:8080", "a name resolves for one port");
	is_str(judge(&g, 1, "z.y", 0, none), "-list ", "another does not");
	ab_grants_add(&g, 1, "x.y", AB_GRANT_ANSWER, 0);
	is_str(judge(&g, 1, "x.y", 0, none), "+x.y:8080", "an answer takes no name away");
	ab_grants_add(&g, 1, "*.y", AB_GRANT_DENY, 0);
	is_str(judge(&g, 1, "x.y", 0, allow), "-*.y", "all of them do");
	is_str(judge(&g, 1, "x.y", 0, deny), "-list x.y", "and the deny list has the last word");
	ab_grants_fini(&g);
}

static void check_bound(void)
{
	struct ab_grants g = { 0 };
	char entry[32];

	ab_grants_add(&g, 1, "first.no", AB_GRANT_DENY, 0);
	ab_grants_add(&g, 1, "first.yes", AB_GRANT_ALLOW, 0);
	for (int i = 0; i < 2 * AB_GRANTS_MAX; i++) {
		snprintf(entry, sizeof(entry), "n%d.answer", i);
		ab_grants_add(&g, 1, entry, AB_GRANT_ANSWER, 0);
	}
	ok(g.len == AB_GRANTS_MAX, "they are bounded");
	is_str(judge(&g, 1, "n0.answer", 443, ask), "?list ", "the oldest answer goes");
	is_str(judge(&g, 1, "first.yes", 443, ask), "+first.yes", "before who is allowed");
	for (int i = 0; i < 2 * AB_GRANTS_MAX; i++) {
		snprintf(entry, sizeof(entry), "n%d.no", i);
		ab_grants_add(&g, 1, entry, AB_GRANT_DENY, 0);
	}
	ok(g.len == AB_GRANTS_MAX, "so they stay");
	is_str(judge(&g, 1, "first.yes", 443, ask), "?list ", "who is allowed goes next");
	is_str(judge(&g, 1, "first.no", 443, allow), "-first.no", "who is denied stays");
	ok(!ab_grants_add(&g, 1, "one.more", AB_GRANT_DENY, 0), "and that it is full is told");
	ab_grants_fini(&g);
}

int main(void)
{
	check_order();
	check_newest();
	check_time();
	check_names();
	check_bound();
	return done();
}
