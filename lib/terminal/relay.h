#pragma once
/*
 * Copies bytes between the caller's terminal and the box's, in both
 * directions. Buffers have a fixed size: a slow reader slows the writer down.
 */
#include "base/base.h"
#include "base/system/loop.h"
#include "terminal/screen_filter.h"

#define AB_RELAY_ROOM (64 * 1024)

struct ab_relay_flow {
	size_t start, end;
	char data[AB_RELAY_ROOM];
};

struct ab_relay_end {
	struct ab_source source; /* fd -1: none, or gone */
	uint32_t events;
	bool shared; /* with the caller: it may block */
};

struct ab_relay {
	struct ab_loop *loop;	       /* NULL: not started */
	struct ab_relay_end in, out;   /* the caller's */
	struct ab_relay_end box;       /* the master of the box's */
	struct ab_relay_flow up, down; /* box to out, in to box */
	struct ab_buf own;	       /* our own output; goes out before `up` */
	size_t own_sent;
	struct ab_screen_filter filter; /* of the box's output */
	bool raw;			/* without the filter */
	bool reading;			/* keys go to the box */
	bool quiet;			/* nothing moves */
	bool held;			/* the box's output waits, keys go to `heard` */
	/* Around each write of the box's output: before with all bytes, after
	 * with those that the terminal took. */
	void (*writes)(void *arg, const char *data, size_t len);
	void (*wrote)(void *arg, const char *data, size_t len);
	/* While held. len 0: `in` is gone, or we are in the background. */
	void (*heard)(void *arg, const char *data, size_t len);
	void (*sent)(void *arg); /* all of `own` is written */
	void *arg;
};

/* Both take over their descriptors; -1: that side does not exist. */
void ab_relay_init(struct ab_relay *relay, int in, int out);
int ab_relay_start(struct ab_relay *relay, int box, struct ab_loop *loop, struct ab_error *err);
/* Call after a change of own, reading, quiet or held. */
void ab_relay_arm(struct ab_relay *relay);

/* Writes the box's pending output to the caller's terminal, outside the loop
 * and for a bounded time. ended: up to the end of the box's output. */
void ab_relay_flush(struct ab_relay *relay, bool ended);
/* Writes a few bytes that are not from the box, for a bounded time. */
void ab_relay_write(int fd, const char *data, size_t len);

void ab_relay_fini(struct ab_relay *relay);
