#ifndef AB_PROXY_DIAL_RESOLVER_H
#define AB_PROXY_DIAL_RESOLVER_H
/*
 * What a name leads to: the hosts file first, then the name servers of
 * resolv.conf, both families at once. Only the dialer asks, and only for names
 * that are allowed.
 *
 * Answers are kept as long as their TTL says, between one second and five
 * minutes, and for at most AB_RESOLVER_NAMES names. Equal questions are asked
 * once; more than AB_RESOLVER_UNDER_WAY wait. Changes of the two files are
 * seen within seconds, and empty the cache.
 *
 * localhost and the names below it are the loopback addresses, whoever says
 * otherwise (RFC 6761).
 */
#include <stdint.h>

#include "proxy/dial/answer.h"

struct ab_host;
struct ab_loop;
struct ab_resolver;

enum {
	AB_RESOLVER_NAMES = 1024,
	/* Names, each with a question for either family: few enough datagrams
	 * for the buffer of one socket. */
	AB_RESOLVER_UNDER_WAY = 128,
};

struct ab_resolver_setup {
	struct ab_loop *loop;
	const char *resolv_conf; /* NULL: the system's */
	const char *hosts;	 /* NULL: the system's */
	uint16_t port;		 /* of the name servers; 0: 53 */
};

struct ab_resolver *ab_resolver_new(const struct ab_resolver_setup *setup);
/* Who still waits is not called. The loop lives longer. */
void ab_resolver_free(struct ab_resolver *resolver);

/* Somebody who waits, embedded in its owner. */
struct ab_ask {
	void (*fn)(struct ab_ask *ask, const struct ab_answer *answer);
	void *owner;
	struct ab_ask *next, **link; /* link NULL: does not wait */
};

/* The answer, if it is known: to be used before the next call. NULL: ask->fn
 * is called with it later, never from inside this call. */
const struct ab_answer *ab_resolver_ask(struct ab_resolver *resolver, const struct ab_host *name,
					struct ab_ask *ask);
/* Does nothing for one that does not wait. */
void ab_resolver_cancel(struct ab_ask *ask);

#endif
