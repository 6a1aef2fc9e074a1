#pragma once
/*
 * Connects a stream socket of the box to the proxy, without an address that anybody could connect
 * to: the guard connects it to a listener of its own, accepts it, makes sure that it is this one, and
 * hands the accepted end over.
 */
#include "netns/destination.h"

struct ab_splice {
	int proxy; /* -1: none */
	int listener, listener6;
	struct ab_destination at, at6;
};

/* -1 with errno. */
int ab_splice_open(struct ab_splice *splice, int proxy);

/* `fd` is a copy of the caller's socket. 0: connected; EINPROGRESS: the same, if it does not wait;
 * else it failed. */
int ab_splice_connect(const struct ab_splice *splice, int fd, int family, enum ab_handed_kind kind,
		      const struct ab_destination *to);

/* An IPv6 socket that cannot have IPv4 peers? */
bool ab_splice_only_v6(int fd);
