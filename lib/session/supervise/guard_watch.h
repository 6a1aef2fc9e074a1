#pragma once
/*
 * The supervisor's side of the guard: it holds the listener of the box's filter until the kernel
 * holds the first call, then has the broker fork the guard, and records what the guard denies.
 * Most short runs write nothing, and need no guard.
 */
#include "base/base.h"
#include "base/system/loop.h"
#include "broker/broker.h"
#include "sandbox/start/launch.h"

struct ab_failure;
struct ab_note;
struct ab_refused_programs;
struct ab_request;
struct ab_supervision;

struct ab_guard_watch {
	const struct ab_supervision *what;
	struct ab_loop *loop;
	struct ab_failure *failure;
	struct ab_source listener; /* until the guard has it; fd -1: none */
	struct ab_source notes;
	struct ab_timer retry;
	unsigned int tries;
	bool has_listener;     /* the box has sent its listener */
	struct ab_built built; /* the box, as the guard must know it */
};

/* The box has sent its listener, unless it is `unasked`: a filter that holds no calls. */
int ab_guard_watch_take(struct ab_guard_watch *watch, const struct ab_holds *holds, bool unasked,
			struct ab_fds *fds);
/* Have the guard started now. */
void ab_guard_watch_begin(struct ab_guard_watch *watch);
/* A program whose own sandbox cannot start blames the kernel, so say who denied it. */
void ab_guard_watch_say(const struct ab_request *request, struct ab_refused_programs *refusals,
			const struct ab_note *note);
/* Record what the guard has denied so far. */
void ab_guard_watch_drain(struct ab_guard_watch *watch);
