#include "session/containers/container_watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/loop.h"
#include "session/containers/container_filter.h"
#include "session/containers/container_records.h"

struct ab_container_watch {
	struct ab_container_filter *filter;
	struct ab_container_records *records;
	struct ab_loop *loop;
	struct ab_source source;
	void (*fail)(void *arg, const struct ab_error *err);
	void *arg;
	bool strict;
	struct ab_error failed; /* the first note that could not be recorded */
};

int ab_container_watch_start(const struct ab_container_filter_setup *setup, struct ab_log *log,
			     bool strict, struct ab_container_watch **ret, struct ab_error *err)
{
	struct ab_container_watch *w = ab_alloc(sizeof(*w));

	w->strict = strict;

	if (ab_container_filter_start(setup, &w->filter, err) < 0) {
		free(w);
		return -1;
	}
	w->records = ab_container_records_new(setup->run, log);
	*ret = w;
	return 0;
}

static void take_note(struct ab_container_watch *w, const struct ab_engine_relay_note *note)
{
	struct ab_error err = { 0 };

	if (ab_container_records_take(w->records, note, &err) == 0 || !w->strict ||
	    w->failed.code != AB_ENONE)
		return;
	w->failed = err;
	if (w->fail)
		w->fail(w->arg, &err);
}

static void filter_ready(struct ab_source *source, uint32_t events)
{
	struct ab_container_watch *w = source->owner;
	struct ab_engine_relay_note note;
	int r;

	(void)events;
	r = ab_container_filter_hear(w->filter, &note);
	if (r > 0)
		take_note(w, &note);
	/* It died: the box has no engine any more. */
	if (r < 0)
		ab_loop_remove(w->loop, source);
}

int ab_container_watch_attach(struct ab_container_watch *w, struct ab_loop *loop,
			      void (*fail)(void *arg, const struct ab_error *err), void *arg,
			      struct ab_error *err)
{
	w->fail = fail;
	w->arg = arg;
	w->loop = loop;
	w->source = (struct ab_source){ .fd = ab_container_filter_fd(w->filter),
					.ready = filter_ready,
					.owner = w };
	return ab_loop_add(loop, &w->source, EPOLLIN, err);
}

void ab_container_watch_listen(struct ab_container_watch *w, int fd)
{
	/* If the filter is gone, connections of the box fail. */
	(void)ab_container_filter_listen(w->filter, fd);
	close(fd);
}

void ab_container_watch_end(struct ab_container_watch *w)
{
	ab_container_filter_end(w->filter);
}

int ab_container_watch_ended(struct ab_container_watch *w, struct ab_strv *ret_denied,
			     char **ret_left, struct ab_error *err)
{
	struct ab_container_sweep sweep = { 0 };
	struct ab_engine_relay_note note;
	int result;

	w->fail = NULL;
	while (ab_container_filter_await(w->filter, &note) > 0)
		take_note(w, &note);
	ab_container_filter_free(w->filter, &sweep);
	ab_container_records_summary(w->records, ret_denied);
	ab_container_records_free(w->records);
	*ret_left = sweep.done ? NULL : ab_strdup(sweep.text);
	result = w->failed.code == AB_ENONE ? 0 : -1;
	if (result < 0)
		*err = w->failed;
	free(w);
	return result;
}
