#ifndef AB_BASE_LOOP_H
#define AB_BASE_LOOP_H
/*
 * One epoll loop, one instance per thread. A source is embedded in the object
 * that it serves and has one callback. Callbacks never block. A source that
 * is removed inside a callback gets no further call, also not from events
 * that were already fetched; its object may be freed only after the batch, that
 * is after ab_loop_run has returned.
 */
#include <stdbool.h>
#include <stdint.h>

struct ab_error;

struct ab_source {
	int fd;
	void (*ready)(struct ab_source *source, uint32_t events);
	void *owner;
	bool active;
};

struct ab_loop {
	int epoll;
	bool stop;	/* set by a callback: run() returns after the batch */
};

int ab_loop_init(struct ab_loop *loop, struct ab_error *err);
/* events as for epoll; level-triggered unless EPOLLET is among them. */
int ab_loop_add(struct ab_loop *loop, struct ab_source *source,
		uint32_t events, struct ab_error *err);
/* Change what is waited for; cannot fail for an active source. */
void ab_loop_set(struct ab_loop *loop, struct ab_source *source,
		 uint32_t events);
void ab_loop_remove(struct ab_loop *loop, struct ab_source *source);
int ab_loop_run(struct ab_loop *loop, struct ab_error *err);
void ab_loop_fini(struct ab_loop *loop);

#endif
