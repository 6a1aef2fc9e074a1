#pragma once
/*
 * Queries the name servers of resolv.conf: a c-ares channel on the loop. The
 * first query opens it, and ab_lookups_reopen opens it again and repeats the
 * queries in progress. Names are absolute.
 */
#include "base/base.h"

struct ab_lookups;
struct ab_loop;

enum ab_lookup_status {
	AB_LOOKUP_OK,
	AB_LOOKUP_NONE,	  /* no such name, or no address of this family */
	AB_LOOKUP_FAILED, /* no server answered */
};

/* One query, embedded in its owner; both must live until it is done. */
struct ab_lookup {
	const char *name;
	bool v6;
	/* addrs: n times 4 or 16 bytes, n at most AB_ANSWER_MAX; ttl in
	 * seconds, the smallest. May be called from inside ab_lookup_start;
	 * mustn't start another lookup. */
	void (*done)(struct ab_lookup *lookup, enum ab_lookup_status status, const uint8_t *addrs,
		     size_t n, unsigned ttl);
	void *owner;

	struct ab_lookups *home; /* from here on private to dns_client.c */
	struct ab_lookup *next;
};

/* port 0: 53. */
struct ab_lookups *ab_lookups_new(struct ab_loop *loop, const char *resolv_conf, uint16_t port);
/* Drops the queries in progress without calling `done`. */
void ab_lookups_free(struct ab_lookups *lookups);

void ab_lookup_start(struct ab_lookups *lookups, struct ab_lookup *lookup);

/* How many servers are asked, from 1 to 3. */
unsigned ab_lookups_servers(struct ab_lookups *lookups);

/* Read resolv.conf again. Mustn't be called from `done`. */
void ab_lookups_reopen(struct ab_lookups *lookups);
