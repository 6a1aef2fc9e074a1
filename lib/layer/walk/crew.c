#include "layer/walk/crew.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	MANY = 512, /* from here on a second thread pays */
	BATCH = 16, /* what a thread takes at once */
};

/* What both threads share. */
struct job {
	const struct ab_crew *crew;
	size_t batches;
	atomic_size_t taken, done;
	atomic_bool stop;
};

struct worker {
	struct job *job;
	size_t number;
	size_t batches; /* so far */
	size_t at;	/* the piece that failed */
	int errnum;	/* 0: none did */
};

static void do_batch(struct worker *w, size_t first, size_t end)
{
	struct job *job = w->job;
	const struct ab_crew *crew = job->crew;

	for (size_t i = first; i < end; i++) {
		size_t done;

		if (crew->work(crew->own[w->number], i) < 0) {
			w->at = i;
			w->errnum = errno;
			atomic_store(&job->stop, true);
			return;
		}
		done = atomic_fetch_add(&job->done, 1) + 1;
		if (w->number == 0 && crew->tell)
			crew->tell(crew->arg, done);
	}
}

/* One thread works from each end of the list: in one folder, they would wait for each other. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct job *job = w->job;

	while (!atomic_load(&job->stop) && atomic_fetch_add(&job->taken, 1) < job->batches) {
		size_t batch = w->number ? job->batches - 1 - w->batches : w->batches;
		size_t first = BATCH * batch, rest = job->crew->len - first;

		do_batch(w, first, first + (rest < BATCH ? rest : BATCH));
		w->batches++;
	}
	return NULL;
}

int ab_crew_run(const struct ab_crew *crew, size_t *ret_at, size_t *ret_by)
{
	struct job job = { .crew = crew, .batches = (crew->len + BATCH - 1) / BATCH };
	struct worker first = { .job = &job }, second = { .job = &job, .number = 1 };
	const struct worker *failed;
	pthread_t thread;
	bool started = crew->len >= MANY && pthread_create(&thread, NULL, work, &second) == 0;

	work(&first); /* all of it if there is no other thread */
	if (started)
		pthread_join(thread, NULL);
	if (!first.errnum && !second.errnum)
		return 0;
	failed = second.errnum && (!first.errnum || second.at < first.at) ? &second : &first;
	*ret_at = failed->at;
	*ret_by = failed->number;
	errno = failed->errnum;
	return -1;
}
