#include "layer/journal/workers.h"

#include "layer/journal/finish.h"
#include "layer/journal/steps.h"
#include "layer/walk/crew.h"

/* Of one thread. */
struct hand {
	struct ab_site *site;
	ab_step_fn *fn;
	const void *arg;
	const struct ab_progress *progress;
};

static int do_step(void *own, size_t i)
{
	const struct hand *hand = own;

	return hand->fn(hand->site, hand->arg, i);
}

static void tell_progress(void *arg, size_t done)
{
	const struct hand *hand = arg;

	hand->progress->step(hand->progress->arg, done, hand->site->steps.len);
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
	/* The same places and steps, but not the folder that was looked up last. */
	struct ab_site twin = *site;
	struct hand first = { .site = site, .fn = fn, .arg = arg, .progress = progress };
	struct hand second = { .site = &twin, .fn = fn, .arg = arg };
	struct ab_crew crew = { .len = ab_steps_placing(&site->steps),
				.work = do_step,
				.own = { &first, &second },
				.tell = progress && progress->step ? tell_progress : NULL,
				.arg = &first };
	size_t by = 0;
	int rc;

	twin.host = twin.layer = (struct ab_parent)AB_PARENT_NONE;
	rc = ab_crew_run(&crew, ret_at, &by);
	if (rc < 0 && by == 1)
		site->failed = twin.failed;
	site->copied |= twin.copied;
	ab_parent_fini(&twin.host);
	ab_parent_fini(&twin.layer);
	return rc;
}
