#pragma once
/*
 * Resolves a name: the hosts file first, then the name servers of resolv.conf,
 * both families at once. Only the dialer uses it, for allowed names.
 *
 * Answers are cached for their TTL, between one second and five minutes, and
 * for at most AB_RESOLVER_NAMES names. Concurrent requests for one name share a
 * query; at most AB_RESOLVER_ACTIVE names are queried at a time. A change of
 * either file is noticed within seconds and empties the cache.
 *
 * localhost and names below it are always the loopback addresses (RFC 6761).
 */
#include "proxy/dial/answer.h"

struct ab_host;
struct ab_loop;
struct ab_resolver;

enum {
	AB_RESOLVER_NAMES = 1024,
	/* Names with two queries each: few enough datagrams for the buffer of
	 * one socket. */
	AB_RESOLVER_ACTIVE = 128,
};

struct ab_resolver_setup {
	struct ab_loop *loop;
	/* These are for tests. */
	const char *resolv_conf; /* NULL: the system's */
	const char *hosts;	 /* NULL: the system's */
	uint16_t port;		 /* of the name servers; 0: 53 */
};

struct ab_resolver *ab_resolver_new(const struct ab_resolver_setup *setup);
/* Waiting asks are not called. The loop must outlive it. */
void ab_resolver_free(struct ab_resolver *resolver);

/* A request for an answer, embedded in its owner. */
struct ab_ask {
	void (*fn)(struct ab_ask *ask, const struct ab_answer *answer);
	void *owner;
	struct ab_ask *next, **link; /* link NULL: not waiting */
};

/* The cached answer, valid until the next call. NULL: ask->fn is called later,
 * never from inside this call. */
const struct ab_answer *ab_resolver_ask(struct ab_resolver *resolver, const struct ab_host *name,
					struct ab_ask *ask);
/* Does nothing if it is not waiting. */
void ab_resolver_cancel(struct ab_ask *ask);
