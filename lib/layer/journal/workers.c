#include "layer/journal/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/system/fd.h"
#include "layer/journal/finish.h"
#include "layer/journal/steps.h"

enum {
	MANY = 512, /* steps: from here on a second thread pays */
	PIECE = 16, /* steps that a thread takes at once */
};

struct crew {
	ab_step_fn *fn;
	const void *arg;
	const struct ab_progress *progress;
	size_t len, pieces;
	atomic_size_t taken, done;
	atomic_bool stop;
};

struct worker {
	struct crew *crew;
	struct ab_site *site;
	bool tells; /* progress: only the first one */
	bool back;  /* begins at the end of the list */
	size_t own; /* pieces so far */
	size_t at;  /* the step that failed */
	int errnum; /* 0: none did */
};

static void do_piece(struct worker *w, size_t first, size_t end)
{
	struct crew *crew = w->crew;

	for (size_t i = first; i < end; i++) {
		size_t done;

		if (crew->fn(w->site, crew->arg, i) < 0) {
			w->at = i;
			w->errnum = errno;
			atomic_store(&crew->stop, true);
			return;
		}
		done = atomic_fetch_add(&crew->done, 1) + 1;
		if (w->tells && crew->progress && crew->progress->step)
			crew->progress->step(crew->progress->arg, done, w->site->steps.len);
	}
}

/* One thread works from each end of the list: in one folder, they would wait for each other. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct crew *crew = w->crew;

	while (!atomic_load(&crew->stop) && atomic_fetch_add(&crew->taken, 1) < crew->pieces) {
		size_t first = PIECE * (w->back ? crew->pieces - 1 - w->own : w->own);

		do_piece(w, first, crew->len - first < PIECE ? crew->len : first + PIECE);
		w->own++;
	}
	return NULL;
}

/* The same places and steps, but not the folder that was looked up last. */
static void work_beside(struct worker *first, struct worker *second)
{
	struct ab_site twin = *first->site;
	pthread_t thread;
	bool started;

	twin.host = twin.layer = (struct ab_parent){ .fd = -1 };
	second->site = &twin;
	started = pthread_create(&thread, NULL, work, second) == 0;
	work(first); /* all of it if there is no other thread */
	if (started)
		pthread_join(thread, NULL);
	if (second->errnum && (!first->errnum || second->at < first->at)) {
		first->errnum = second->errnum;
		first->at = second->at;
		first->site->failed = twin.failed;
	}
	ab_parent_fini(&twin.host);
	ab_parent_fini(&twin.layer);
}

size_t ab_steps_placing(const struct ab_steps *steps)
{
	size_t n = 0;

	while (n < steps->len &&
	       (steps->v[n].kind == AB_STEP_PUT || steps->v[n].kind == AB_STEP_REMOVE))
		n++;
	return n;
}

int ab_steps_each(struct ab_site *site, ab_step_fn *fn, const void *arg,
		  const struct ab_progress *progress, size_t *ret_at)
{
	struct crew crew = { .fn = fn, .arg = arg, .progress = progress };
	struct worker first = { .crew = &crew, .site = site, .tells = true };
	struct worker second = { .crew = &crew, .back = true };

	crew.len = ab_steps_placing(&site->steps);
	crew.pieces = (crew.len + PIECE - 1) / PIECE;
	if (crew.len < MANY)
		work(&first);
	else
		work_beside(&first, &second);
	if (!first.errnum)
		return 0;
	*ret_at = first.at;
	errno = first.errnum;
	return -1;
}
