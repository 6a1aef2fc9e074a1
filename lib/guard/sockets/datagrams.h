#pragma once
/*
 * The box's datagrams. Its sockets are corked and send nothing (sockets.h); the guard copies what
 * they are given and sends it: a query for a name to the proxy, a datagram for one of the box's own
 * servers from a twin, a socket at the same port that the box does not have. All others are dropped
 * and counted.
 *
 * The proxy's answers reach the socket from a port of the guard. Some resolvers compare the sender
 * with the server that they asked, so it is replaced in what the box receives.
 */
#include "guard/sockets/splice.h"

struct ab_held;
struct ab_inet_terms;
struct ab_guard;
struct ab_made;
struct ab_made_table;
struct ab_reply;

struct ab_datagrams {
	struct ab_made_table *kept;
	const struct ab_inet_terms *terms;
	int proxy;		      /* -1: none */
	struct ab_local_ends answers; /* they come from here */
};

/* -1 with errno. */
int ab_datagrams_open(struct ab_datagrams *datagrams, struct ab_made_table *kept,
		      const struct ab_inet_terms *terms, int proxy);

/* A new socket for the box, corked; -1 with errno. */
int ab_datagrams_socket(int family, int flags);
/* connect(): 0, or the errno to answer with. */
int ab_datagrams_connect(const struct ab_datagrams *datagrams, struct ab_made *kept,
			 const struct ab_destination *to);
int ab_datagrams_disconnect(struct ab_made *kept);
/* sendto, sendmsg, sendmmsg of a kept socket. */
struct ab_reply ab_datagrams_send(const struct ab_datagrams *datagrams, struct ab_guard *guard,
				  const struct ab_held *call, struct ab_made *kept);
/* recvfrom with an address, recvmsg. */
struct ab_reply ab_datagrams_receive(const struct ab_datagrams *datagrams, struct ab_guard *guard,
				     const struct ab_held *call, struct ab_made *kept);
/* A message of the proxy. */
void ab_datagrams_answer(const struct ab_datagrams *datagrams, const struct ab_handed *answer);
