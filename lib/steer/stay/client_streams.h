#pragma once
/*
 * The caller's 0-2 for a command in a box that exists already. Nothing of the host enters it but
 * pipes and sockets: a file is copied through a pipe, a device of every box is named and opened
 * there, a terminal is replaced by the command's own. Folders and other devices are refused.
 */
#include "base/base.h"
#include "base/system/loop.h"
#include "terminal/streams.h"

struct ab_client_streams {
	char words[3][16]; /* for the request */
	int passed[3];
	size_t npassed;
	struct ab_streams files;
	struct ab_source feed; /* the pipe that a file on 0 is copied into; fd -1: none */
	int feed_end;	       /* its read end: tells what the command has not read */
	off_t at;	       /* of the file */
	char *data;	       /* of it */
	size_t from, to;       /* read, not yet written */
};

int ab_client_streams_open(struct ab_client_streams *streams, struct ab_error *err);
/* After the request: the box has its own descriptors. */
void ab_client_streams_sent(struct ab_client_streams *streams);
/* Does the client copy anything? */
bool ab_client_streams_relay(const struct ab_client_streams *streams);
int ab_client_streams_watch(struct ab_client_streams *streams, struct ab_loop *loop,
			    struct ab_error *err);
/* The command has ended: copy the rest, and move the caller's position in the file on 0. */
void ab_client_streams_close(struct ab_client_streams *streams);
