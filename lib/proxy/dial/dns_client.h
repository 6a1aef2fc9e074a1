#ifndef AB_PROXY_DIAL_DNS_CLIENT_H
#define AB_PROXY_DIAL_DNS_CLIENT_H
/*
 * Questions to the name servers of resolv.conf: a c-ares channel on the loop.
 * It is opened at the first question, and anew after ab_lookups_reopen; what
 * was under way then is asked again. Names are absolute.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_lookups;
struct ab_loop;

enum ab_lookup_status {
	AB_LOOKUP_OK,
	AB_LOOKUP_NONE,	  /* no such name, or none of its addresses is of
				 * this family */
	AB_LOOKUP_FAILED, /* no server answered this question */
};

/* One question, embedded in its owner; both live until it is done. */
struct ab_lookup {
	const char *name;
	bool v6;
	/* addrs: n times 4 or 16 bytes, n at most AB_ANSWER_MAX; ttl in
	 * seconds, the smallest. May be called from inside ab_lookup_start;
	 * must not start another one. */
	void (*done)(struct ab_lookup *lookup, enum ab_lookup_status status, const uint8_t *addrs,
		     size_t n, unsigned ttl);
	void *owner;

	struct ab_lookups *home; /* the rest is dns_client.c's */
	struct ab_lookup *next;
};

/* port 0: 53. */
struct ab_lookups *ab_lookups_new(struct ab_loop *loop, const char *resolv_conf, uint16_t port);
/* Questions that are under way are forgotten. */
void ab_lookups_free(struct ab_lookups *lookups);

void ab_lookup_start(struct ab_lookups *lookups, struct ab_lookup *lookup);

/* resolv.conf has changed: the new one is in force from here on. Not from
 * inside `done`. */
void ab_lookups_reopen(struct ab_lookups *lookups);

#endif
