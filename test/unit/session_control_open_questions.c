/* The open questions: whatever the order in which they came, a list of them in
 * parts leaves none out. */
#include "session/control/open_questions.h"

#include "tap.h"

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
	return done();
}
