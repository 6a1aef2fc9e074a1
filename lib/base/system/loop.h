#ifndef AB_BASE_SYSTEM_LOOP_H
#define AB_BASE_SYSTEM_LOOP_H
/*
 * One epoll loop, one instance per thread. A source is embedded in the object
 * that it serves and has one callback. Callbacks never block. A source that
 * is removed inside a callback gets no further call, also not from events
 * that were already fetched; its object may be freed only after the batch:
 * by an ab_later, or after ab_loop_run has returned.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_error;

struct ab_source {
	int fd;
	bool active;
	void (*ready)(struct ab_source *source, uint32_t events);
	void *owner;
};

/* Fires once, at least `ms` after it was set. Zeroed but for fire and owner
 * it is stopped. */
struct ab_timer {
	uint64_t at;
	size_t slot; /* in the heap, from 1; 0: stopped */
	void (*fire)(struct ab_timer *timer);
	void *owner;
};

/* Work for the end of the batch: to free an object, or to go on with one that
 * had its share. What it queues itself comes in the next batch. */
struct ab_later {
	struct ab_later *next;
	bool queued;
	void (*run)(struct ab_later *later);
	void *owner;
};

struct ab_loop {
	int epoll;
	bool stop;		  /* set by a callback: run() returns after the batch */
	uint64_t now;		  /* milliseconds, of the present batch */
	struct ab_timer **timers; /* a heap, from index 1 */
	size_t ntimers, room;
	struct ab_later *later, **later_end;
};

int ab_loop_init(struct ab_loop *loop, struct ab_error *err);
/* events as for epoll; level-triggered unless EPOLLET is among them. */
int ab_loop_add(struct ab_loop *loop, struct ab_source *source, uint32_t events,
		struct ab_error *err);
/* Change what is waited for; cannot fail for an active source. */
void ab_loop_set(struct ab_loop *loop, struct ab_source *source, uint32_t events);
void ab_loop_remove(struct ab_loop *loop, struct ab_source *source);
/* Remove and close: the kernel forgets a closed descriptor by itself, as long
 * as nobody else holds its file. */
void ab_source_close(struct ab_source *source);

/* Set, or set anew. */
void ab_loop_timer(struct ab_loop *loop, struct ab_timer *timer, uint64_t ms);
void ab_loop_timer_stop(struct ab_loop *loop, struct ab_timer *timer);

void ab_loop_later(struct ab_loop *loop, struct ab_later *later);

int ab_loop_run(struct ab_loop *loop, struct ab_error *err);
/* Outside of run(): do now what is queued for later. */
void ab_loop_settle(struct ab_loop *loop);
void ab_loop_fini(struct ab_loop *loop);

#endif
