/* Work that two threads share: each piece is done once, and a failure ends it. */
#include "layer/walk/crew.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

enum { MOST = 2000 };

static atomic_int times[MOST];
static struct thread {
	size_t fails; /* this piece */
	int errnum;
} threads[2];
static size_t told;

static int do_piece(void *own, size_t i)
{
	struct thread *t = own;

	if (i == t->fails) {
		errno = t->errnum;
		return -1;
	}
	atomic_fetch_add(&times[i], 1);
	return 0;
}

static void hear(void *arg, size_t done)
{
	size_t *most = arg;

	if (done > *most)
		*most = done;
}

static int run_crew(size_t len, size_t fails, size_t *ret_at, size_t *ret_by)
{
	struct ab_crew crew = { .len = len,
				.work = do_piece,
				.own = { &threads[0], &threads[1] },
				.tell = hear,
				.arg = &told };

	memset(times, 0, sizeof(times));
	told = 0;
	for (size_t i = 0; i < AB_COUNT(threads); i++)
		threads[i] = (struct thread){ .fails = fails, .errnum = ESTALE };
	errno = 0;
	return ab_crew_run(&crew, ret_at, ret_by);
}

int main(void)
{
	static const size_t lengths[] = { 0, 1, 15, 16, 17, 511, 512, 513, 1999 };
	size_t at = 0, by = 0;

	for (size_t k = 0; k < AB_COUNT(lengths); k++) {
		size_t len = lengths[k], once = 0;
		int rc = run_crew(len, SIZE_MAX, &at, &by);

		for (size_t i = 0; i < MOST; i++)
			once += i < len ? times[i] == 1 : times[i] == 0;
		ok(rc == 0 && once == MOST && told <= len, "%zu pieces, each once", len);
	}
	for (size_t k = 2; k < AB_COUNT(lengths); k++) {
		size_t len = lengths[k], twice = 0;
		int rc = run_crew(len, len / 2, &at, &by);

		for (size_t i = 0; i < MOST; i++)
			twice += times[i] > 1 || (i >= len && times[i]);
		ok(rc < 0 && errno == ESTALE && at == len / 2 && by < 2 && twice == 0,
		   "the middle one of %zu fails", len);
	}
	return done();
}
