#pragma once
/*
 * The lines between us and the program that we serve. Reading and writing never wait; what the
 * program does not read is kept, and the caller looks at ab_channel_load() before it adds more.
 */
#include "base/base.h"
#include "base/system/loop.h"

enum ab_channel_load {
	AB_CHANNEL_LIGHT,
	AB_CHANNEL_BUSY, /* let commands wait */
	AB_CHANNEL_FULL, /* and drop what can be dropped */
};

struct ab_channel_watch {
	struct ab_loop *loop;
	void (*line)(void *arg, const char *line, size_t len);
	void (*light)(void *arg); /* it was busy */
	void (*ended)(void *arg); /* once */
	void *arg;
};

struct ab_channel {
	struct ab_channel_watch watch;
	struct ab_source in, out;
	bool socket; /* descriptors can be passed */
	bool ended, busy, unread;
	bool file;	      /* `out` is one, or a device: it never makes us wait */
	struct ab_later next; /* `in` is one: read on */
	struct ab_buf got, queued;
	size_t searched; /* of `got` */
	int fds[64];	 /* that were passed and not taken */
	size_t nfds;
};

/* Takes over the descriptors, which are the same for a socket. */
int ab_channel_open(struct ab_channel *channel, int in, int out,
		    const struct ab_channel_watch *watch, struct ab_error *err);
/* A whole line without its end. */
void ab_channel_send(struct ab_channel *channel, const char *line, size_t len);
enum ab_channel_load ab_channel_load(const struct ab_channel *channel);
/* The next passed descriptors; false: there are not so many. */
bool ab_channel_take_fds(struct ab_channel *channel, size_t n, struct ab_fds *ret);
/* Try to write what is left, for a moment. */
void ab_channel_fini(struct ab_channel *channel);
