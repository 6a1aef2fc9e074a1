#pragma once
/*
 * Goes through the steps that put and remove files, with two threads if there are many:
 * their time is spent in the kernel, and each step has names of its own, so they can be
 * done in any order. What has an order, the modes of folders and the moves, comes after
 * them in the list and is left to the caller.
 */
#include "base/base.h"

struct ab_progress;
struct ab_site;
struct ab_steps;

/* How many steps put or remove something. They come first. */
size_t ab_steps_placing(const struct ab_steps *steps);

/* -1 with errno. `site` belongs to the thread, `arg` to all of them; only step `i` may be changed. */
typedef int ab_step_fn(struct ab_site *site, const void *arg, size_t i);

/*
 * Call `fn` for each of them. -1 with errno: a step failed, *ret_at says which, and site->failed is
 * what its thread left there; others, later ones too, may be done or not.
 */
int ab_steps_each(struct ab_site *site, ab_step_fn *fn, const void *arg,
		  const struct ab_progress *progress, size_t *ret_at);
