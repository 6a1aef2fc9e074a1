#pragma once
/*
 * The caller's files on descriptors 0-2. Whoever has a descriptor of a file can change its mode,
 * times, attributes and flags if it is his, whatever the box's mounts say. So the box gets no file
 * that is open for writing: it writes into a pipe, and the supervisor copies the bytes into the
 * caller's file, at the caller's position. Standard output and standard error of one file share one
 * pipe, so the order of what the command writes is kept. A file that is open for reading is
 * replaced by init (sandbox/mount/stdio_view.h); afterwards the caller's position moves to where
 * the command has read to, as if both had the same descriptor.
 *
 * Pipes, sockets and terminals are passed on as they are, at no cost.
 */
#include "base/base.h"
#include "base/system/loop.h"

struct ab_stream_relay {
	struct ab_source pipe; /* its read end; fd -1: closed */
	int fd;		       /* 1 or 2 */
	int file;	       /* the caller's, ours alone */
	int errnum;	       /* it could not be written */
};

struct ab_streams {
	int box[3]; /* what the box gets instead of 0-2; -1: the same */
	struct ab_stream_relay relays[2];
	size_t nrelays;
	int input; /* the caller's standard input, if it is a file; else -1 */
	off_t start;
	int view; /* the box's, or -1 */
};

#define AB_STREAMS_NONE                                        \
	{                                                      \
		.box = { -1, -1, -1 }, .input = -1, .view = -1 \
	}

/* Before the launch. */
int ab_streams_open(struct ab_streams *streams, struct ab_error *err);
/* After it: the box has its own descriptors. */
void ab_streams_launched(struct ab_streams *streams);
/* The box's standard input; takes it over. */
void ab_streams_take_view(struct ab_streams *streams, int fd);
/* Copy while the loop runs. */
int ab_streams_watch(struct ab_streams *streams, struct ab_loop *loop, struct ab_error *err);
/* The box is gone: copy the rest, and move the caller's position. */
void ab_streams_finish(struct ab_streams *streams);
void ab_streams_close(struct ab_streams *streams);
