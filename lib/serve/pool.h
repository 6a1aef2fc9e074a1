#pragma once
/*
 * Boxes that are prepared for runs to come. Each is a child process (supervised.h) with a box that
 * waits; a run takes over the whole child, and ends with it. So a box is used once.
 *
 *	preparing -> ready -> taken
 *	    |	       `----> ended: replaced at once
 *	    `-> failed: replaced when the next run has begun
 *
 * A run gets a box that is ready, else one that is being prepared, else it starts without one. The pool
 * is filled up again when a run of it has begun, so that both do not compete for the processor; if most
 * boxes do not fit, it is not for a while (pool_pace.h).
 */
#include <jansson.h>

#include "base/base.h"
#include "base/system/loop.h"
#include "session/warm/pool_pace.h"
#include "serve/request.h"

struct ab_channel;
struct ab_pool;

struct ab_pool_box {
	struct ab_pool_box *next;
	struct ab_pool *pool;
	pid_t pid;
	struct ab_source steer; /* fd -1: it was told to end */
	bool ready;
	struct ab_later later;
};

struct ab_pool {
	struct ab_pool *next; /* for its owner */
	struct ab_loop *loop;
	struct ab_channel *channel;
	const sigset_t *before;
	uint64_t number;
	struct ab_serve_request request;
	json_t *opening, *closing; /* ids of requests that are not answered yet */
	bool closed;
	struct ab_pool_box *boxes;
	size_t nboxes;
	struct ab_pool_pace pace;
	size_t nruns;	     /* runs of it that are active; for its owner */
	struct ab_error why; /* the last failure */
};

/* Takes over the request, and answers it when every box is ready or one has failed. */
struct ab_pool *ab_pool_open(struct ab_serve_request *request, const sigset_t *before,
			     struct ab_loop *loop, struct ab_channel *channel, uint64_t number);
/* Take a box out of the pool. */
bool ab_pool_take(struct ab_pool *pool, pid_t *ret_pid, int *ret_steer);
/* Prepare as many as are missing. */
void ab_pool_fill(struct ab_pool *pool);
/* A run of it has begun: had it taken a box, and was it started in it? Fills the pool, or ends its boxes:
 * then it returns how many runs it keeps none, else 0. */
unsigned ab_pool_began(struct ab_pool *pool, bool taken, bool warm);
void ab_pool_status(const struct ab_pool *pool, const json_t *id);
/* A process has ended. False: it is none of its boxes. */
bool ab_pool_ended(struct ab_pool *pool, pid_t pid);
/* Ends its boxes. Answers `id` (NULL: none) when the last is gone. */
void ab_pool_close(struct ab_pool *pool, json_t *id);
void ab_pool_kill(const struct ab_pool *pool);
/* Closed, and nothing of it is left. */
bool ab_pool_is_over(const struct ab_pool *pool);
void ab_pool_discard(struct ab_pool *pool);
