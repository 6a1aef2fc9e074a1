#pragma once
/*
 * One epoll loop, one instance per thread. A source is embedded in the object that it
 * serves and has one callback. Callbacks never block. A source that is removed in
 * a callback gets no further calls, not even for events that were already
 * fetched. Its object may be freed only after the batch: with an ab_later, or
 * after ab_loop_run has returned.
 */
#include "base/data/libc.h"

struct ab_error;

struct ab_source {
	int fd;
	bool active;
	void (*ready)(struct ab_source *source, uint32_t events);
	void *owner;
};

/* Fires once, at least `ms` after it was set. It is stopped if everything except fire
 * and owner is zero. */
struct ab_timer {
	uint64_t at;
	size_t slot; /* in the heap, from 1; 0: stopped */
	void (*fire)(struct ab_timer *timer);
	void *owner;
};

/* Work for the end of the batch: free an object, or continue with one that has used
 * its share. What it queues itself runs in the next batch. */
struct ab_later {
	struct ab_later *next;
	bool queued;
	void (*run)(struct ab_later *later);
	void *owner;
};

struct ab_loop {
	int epoll;
	bool stop;		  /* set by a callback: run() returns after the batch */
	uint64_t now;		  /* milliseconds, at the current batch */
	struct ab_timer **timers; /* a heap, from index 1 */
	size_t ntimers, room;
	struct ab_later *later, **later_end;
};

int ab_loop_init(struct ab_loop *loop, struct ab_error *err);
/* events as for epoll; level-triggered unless they include EPOLLET. */
int ab_loop_add(struct ab_loop *loop, struct ab_source *source, uint32_t events,
		struct ab_error *err);
/* Change the events; cannot fail for an active source. */
void ab_loop_set(struct ab_loop *loop, struct ab_source *source, uint32_t events);
void ab_loop_remove(struct ab_loop *loop, struct ab_source *source);
/* Remove and close: the kernel removes a closed descriptor from the epoll set unless
 * the file is open elsewhere. */
void ab_source_close(struct ab_source *source);

/* The same if another process may have the same open file: closing alone would not end its events. */
void ab_loop_close(struct ab_loop *loop, struct ab_source *source);
/* Set it up, and add it for EPOLLIN. */
int ab_loop_watch(struct ab_loop *loop, struct ab_source *source, int fd,
		  void (*ready)(struct ab_source *source, uint32_t events), void *owner,
		  struct ab_error *err);

/* Set or reset the timer. */
void ab_loop_timer(struct ab_loop *loop, struct ab_timer *timer, uint64_t ms);
void ab_loop_timer_stop(struct ab_loop *loop, struct ab_timer *timer);

void ab_loop_later(struct ab_loop *loop, struct ab_later *later);

int ab_loop_run(struct ab_loop *loop, struct ab_error *err);
/* Outside of run(): run the queued ab_later work now. */
void ab_loop_settle(struct ab_loop *loop);
void ab_loop_fini(struct ab_loop *loop);
