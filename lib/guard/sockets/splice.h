#pragma once
/*
 * Connects a stream socket of the box to the proxy, without an address that anybody could connect
 * to: the guard connects it to a listener of its own, accepts it, makes sure that it is this one, and
 * hands the accepted end over.
 */
#include "netns/destination.h"

/* Two sockets of the guard on the loopback device, by `v6`. */
struct ab_local_ends {
	int fd[2]; /* that with IPv6 is -1 if there is no IPv6 */
	struct ab_destination at[2];
};

struct ab_splice {
	int proxy; /* -1: none */
	struct ab_local_ends listeners;
};

/* -1 with errno. */
int ab_splice_open(struct ab_splice *splice, int proxy);

/* Listeners, or datagram sockets that only send. -1 with errno. */
int ab_local_ends_open(struct ab_local_ends *ret, int type);
/* Which of them a socket of the box can reach. */
bool ab_local_ends_v6(const struct ab_local_ends *ends, int family, int fd);
/* A socket bound to the loopback device; -1 with errno. */
int ab_local_socket(int family, int type);

/* `fd` is a copy of the caller's socket. 0: connected; EINPROGRESS: the same, if it does not wait;
 * else it failed. */
int ab_splice_connect(const struct ab_splice *splice, int fd, int family, enum ab_handed_kind kind,
		      const struct ab_destination *to);
