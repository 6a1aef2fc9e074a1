/* The open questions: whatever the order in which they came, a list of them in
 * parts leaves none out. */
#include "session/control/open_questions.h"

#include "tap.h"

/* When the user is told outside of the terminal. */
static void check_notices(void)
{
	enum { AFTER = AB_NOTICE_AFTER_MS, GAP = AB_NOTICE_GAP_MS, T = 100000 };
	static const struct {
		bool seen;
		uint64_t last, now, wait;
		const char *name;
	} cases[] = {
		{ false, 0, T, 0, "at once where nobody can see it" },
		{ true, 0, T, AFTER, "later where a terminal shows it" },
		{ true, 0, T + AFTER - 1, 1, "not a moment before" },
		{ true, 0, T + AFTER, 0, "but then" },
		{ false, T - 1000, T, GAP - 1000, "not soon after the last time" },
		{ false, T - GAP, T, 0, "but after a while" },
		{ true, T + AFTER - 1, T + AFTER, GAP - 1, "the later of the two counts" },
	};
	struct ab_host_question wanted = { .number = 1 };
	struct ab_open_questions qs = { 0 };
	const struct ab_open_question *q;
	uint64_t ms = 0;

	ok(!ab_open_questions_unseen(&qs, false, 0, T, &ms), "nothing to tell");
	ab_open_questions_add(&qs, &wanted, T);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		q = ab_open_questions_unseen(&qs, cases[i].seen, cases[i].last, cases[i].now, &ms);
		ok(q && ms == cases[i].wait, "%s: %llu ms", cases[i].name, (unsigned long long)ms);
	}
	ab_open_questions_noticed(&qs);
	ok(!ab_open_questions_unseen(&qs, false, 0, T, &ms), "once for each question");
	wanted.number = 2;
	ab_open_questions_add(&qs, &wanted, T + 1);
	q = ab_open_questions_unseen(&qs, false, 0, T + 1, &ms);
	ok(q && q->wanted.number == 2, "and again for a new one");
	ab_open_questions_fini(&qs);
}

int main(void)
{
	static const uint32_t came[] = { 7, 3, 9, 0, 1, 8 };
	static const uint32_t want[] = { 0, 1, 3, 7, 8, 9 };
	const struct ab_open_question *q;
	struct ab_open_questions qs = { 0 };
	size_t n = 0;

	ok(!ab_open_questions_from(&qs, 0), "there is none");
	for (size_t i = 0; i < 6; i++) {
		struct ab_host_question wanted = { .number = came[i] };

		ab_open_questions_add(&qs, &wanted, 0);
	}
	ok(qs.v[0]->wanted.number == 7, "the first that came is the oldest");
	for (q = ab_open_questions_from(&qs, 0); q;
	     q = ab_open_questions_from(&qs, q->wanted.number + 1))
		ok(n < 6 && q->wanted.number == want[n++], "number %u", q->wanted.number);
	ok(n == 6, "all of them");
	ab_open_questions_remove(&qs, 3);
	q = ab_open_questions_from(&qs, 2);
	ok(q && q->wanted.number == 7, "one that is gone is passed over");
	ab_open_questions_fini(&qs);
	check_notices();
	return done();
}
