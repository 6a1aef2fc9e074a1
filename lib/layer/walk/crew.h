#pragma once
/*
 * Work on many files, with two threads if it pays: their time is spent in the kernel. The pieces
 * are done in any order.
 */
#include "base/base.h"

struct ab_crew {
	size_t len;
	int (*work)(void *own, size_t i); /* -1 with errno: no other piece is begun */
	void *own[2];			  /* what each thread has for itself */
	/* Or NULL: called by the caller's thread after each of its own pieces. */
	void (*tell)(void *arg, size_t done);
	void *arg;
};

/* Call `work` for each number below `len`. -1 with errno: piece *ret_at failed, and own[*ret_by] was
 * its thread's; others, later ones too, may be done or not. */
int ab_crew_run(const struct ab_crew *crew, size_t *ret_at, size_t *ret_by);
