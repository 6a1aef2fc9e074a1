#pragma once
/*
 * The box's datagrams. Its sockets are corked and send nothing (sockets.h); the guard copies what
 * they are given and sends it: a query for a name to the proxy, a datagram for one of the box's own
 * servers from a twin, a socket at the same port that the box does not have. All others are denied, and
 * the proxy is told of each; in a flood, only of the number.
 *
 * The proxy's answers reach the socket from a port of the guard. Some resolvers compare the sender
 * with the server that they asked, so it is replaced in what the box receives.
 */
#include "base/data/bucket.h"
#include "guard/sockets/splice.h"

struct ab_held;
struct ab_inet_terms;
struct ab_guard;
struct ab_made;
struct ab_made_table;
struct ab_reply;

struct ab_datagrams {
	struct ab_guard *guard;
	struct ab_made_table *kept;
	const struct ab_inet_terms *terms;
	int proxy;		      /* -1: none */
	struct ab_local_ends answers; /* they come from here */
	struct ab_bucket rate;	      /* of denied ones that are described */
	uint64_t untold;	      /* denied ones that the proxy does not know of */
};

/* -1 with errno. */
int ab_datagrams_open(struct ab_datagrams *datagrams, struct ab_guard *guard,
		      struct ab_made_table *kept, const struct ab_inet_terms *terms);

/* A new socket for the box, corked; -1 with errno. */
int ab_datagrams_socket(int family, int flags);
/* connect(): 0, or the errno to answer with. */
int ab_datagrams_connect(const struct ab_datagrams *datagrams, struct ab_made *kept,
			 const struct ab_destination *to);
int ab_datagrams_disconnect(struct ab_made *kept);
/* sendto, sendmsg, sendmmsg of a kept socket. */
struct ab_reply ab_datagrams_send(struct ab_datagrams *datagrams, const struct ab_held *call,
				  struct ab_made *kept);
/* recvfrom with an address, recvmsg. */
struct ab_reply ab_datagrams_receive(const struct ab_datagrams *datagrams,
				     const struct ab_held *call, struct ab_made *kept);
/* The box is gone: tell the proxy what is left. */
void ab_datagrams_close(struct ab_datagrams *datagrams);
/* A message of the proxy. */
void ab_datagrams_answer(const struct ab_datagrams *datagrams, const struct ab_handed *answer);
