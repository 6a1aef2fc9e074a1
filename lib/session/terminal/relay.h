#ifndef AB_SESSION_TERMINAL_RELAY_H
#define AB_SESSION_TERMINAL_RELAY_H
/*
 * Bytes between the caller's terminal and the box's, both ways, on a loop.
 * Buffers are of fixed size; a side that is slow slows the other.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/buf.h"
#include "base/system/loop.h"

struct ab_error;

#define AB_RELAY_ROOM (64 * 1024)

struct ab_relay_flow {
	size_t start, end;
	char data[AB_RELAY_ROOM];
};

struct ab_relay_end {
	struct ab_source source; /* fd -1: none, or gone */
	uint32_t events;
	bool shared; /* the description is not ours alone: may block */
};

struct ab_relay {
	struct ab_loop *loop;	       /* NULL: not started */
	struct ab_relay_end in, out;   /* the caller's */
	struct ab_relay_end box;       /* the master of the box's */
	struct ab_relay_flow up, down; /* box to out, in to box */
	struct ab_buf own;	       /* of ours, for out, before what is in up */
	size_t own_sent;
	bool reading; /* what is typed is for the box */
	bool quiet;   /* nothing moves */
	bool held;    /* nothing of the box is shown, and keys are heard */
	/* Around each write to out: what is tried, and how much was taken. */
	void (*writes)(void *arg, const char *data, size_t len);
	void (*wrote)(void *arg, const char *data, size_t len);
	/* While held; with nothing: `in` is gone, or not ours any more. */
	void (*heard)(void *arg, const char *data, size_t len);
	void (*sent)(void *arg); /* all of own */
	void *arg;
};

/* Takes the descriptors over, -1 for a side that does not exist; box too. */
void ab_relay_init(struct ab_relay *relay, int in, int out);
int ab_relay_start(struct ab_relay *relay, int box, struct ab_loop *loop, struct ab_error *err);
/* After a change of own, reading, quiet or held. */
void ab_relay_arm(struct ab_relay *relay);

/* What the box has written, to the caller's terminal, outside the loop and
 * for a bounded time. ended: all of it, up to the end of the box's side. */
void ab_relay_flush(struct ab_relay *relay, bool ended);
/* The same for a few bytes of our own. */
void ab_relay_write(int fd, const char *data, size_t len);

void ab_relay_fini(struct ab_relay *relay);

#endif
