#pragma once
/*
 * The notes of a helper, which its parent writes to the record: while the parent's loop runs, and
 * then until the helper has ended. With `strict`, a note that cannot be taken is an error, of which
 * the first counts; it is told at once, and again at the end.
 */
#include "base/base.h"
#include "base/process/helper.h"
#include "base/system/loop.h"

struct ab_helper_watch {
	struct ab_helper helper;
	bool strict;
	size_t size; /* of a note */
	/* -1: it could not be taken. The helper may be hostile: the note has the right length, no
	 * more. */
	int (*take)(void *arg, const void *note, struct ab_error *err);
	void *arg;

	/* The rest is its own. */
	struct ab_loop *loop;
	struct ab_source source;
	void (*fail)(void *arg, const struct ab_error *err);
	void *fail_arg;
	bool ended; /* it has closed its socket */
	struct ab_error failed;
};

/* `fail` is called once: a note could not be taken. A helper that dies is forgotten. */
int ab_helper_watch_attach(struct ab_helper_watch *watch, struct ab_loop *loop,
			   void (*fail)(void *arg, const struct ab_error *err), void *arg,
			   struct ab_error *err);
/* Something else that should have been recorded. */
void ab_helper_watch_failed(struct ab_helper_watch *watch, const struct ab_error *err);
/* There will be no more orders: the helper ends. `fail` is not called any more. */
void ab_helper_watch_end(struct ab_helper_watch *watch);
/* Take its last notes, and wait for it, unless it says nothing for so long. -1: one could not be
 * taken. */
int ab_helper_watch_await(struct ab_helper_watch *watch, int ms, struct ab_error *err);
