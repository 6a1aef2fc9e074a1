#ifndef AB_SESSION_CONTAINERS_CONTAINER_FILTER_H
#define AB_SESSION_CONTAINERS_CONTAINER_FILTER_H
/*
 * The container filter: a process of its own, forked before the supervisor locks itself in, because
 * whoever can connect to the engine is root on the host. It parses what the box sends, and may open
 * Unix stream sockets and nothing else. It tells the supervisor what it did; when the supervisor ends
 * or dies, it removes the run's containers and exits.
 */
#include <stdbool.h>
#include <stddef.h>

#include "session/containers/engine_relay.h"

struct ab_container_filter;
struct ab_error;
struct ab_host_engine;
struct ab_policy;

struct ab_container_filter_setup {
	const struct ab_host_engine *engine;
	const struct ab_policy *policy;
	const char *run; /* its id */
	int claim;	 /* of ab_left_containers_claim(); closed, except in the filter */
};

int ab_container_filter_start(const struct ab_container_filter_setup *setup,
			      struct ab_container_filter **ret, struct ab_error *err);
/* Give it the socket that listens in the box. */
int ab_container_filter_listen(struct ab_container_filter *filter, int fd);

/* Readable when it has something to tell, or has ended. */
int ab_container_filter_fd(const struct ab_container_filter *filter);
/* 1: *ret is a note; 0: nothing yet; -1: it has ended. */
int ab_container_filter_hear(struct ab_container_filter *filter, struct ab_engine_relay_note *ret);

/* The box is gone: let it remove the containers. */
void ab_container_filter_end(struct ab_container_filter *filter);
/* After that: wait for a note, or its end; as ab_container_filter_hear(). */
int ab_container_filter_await(struct ab_container_filter *filter, struct ab_engine_relay_note *ret);
struct ab_container_sweep {
	bool done;	  /* false: `text` says why */
	unsigned removed; /* containers */
	char text[512];
};
/* Frees it. It must have ended, or nobody waits for it. */
void ab_container_filter_free(struct ab_container_filter *filter, struct ab_container_sweep *ret);

#endif
