#pragma once
/*
 * The container filter: a process of its own, forked before the supervisor locks itself in, because
 * whoever can connect to the engine is root on the host. It parses what the box sends, and may open
 * Unix stream sockets and nothing else. It tells the supervisor what it did; when the supervisor ends
 * or dies, it removes the run's containers and exits.
 */
#include "containers/exchange.h"

struct ab_helper;
struct ab_host_engine;
struct ab_policy;

struct ab_container_filter_setup {
	const struct ab_host_engine *engine;
	const struct ab_policy *policy;
	const char *run; /* its id */
	int claim;	 /* of ab_left_containers_claim(); closed, except in the filter */
};

/* It takes the socket that listens in the box, and sends notes. */
int ab_container_filter_start(const struct ab_container_filter_setup *setup, struct ab_helper *ret,
			      struct ab_error *err);

/* What became of the run's containers. */
struct ab_container_sweep {
	bool done;	  /* false: `text` says why */
	unsigned removed; /* containers */
	char text[512];
};

struct ab_container_note {
	bool swept; /* `sweep` is the last message, else `request` */
	union {
		struct ab_engine_note request;
		struct ab_container_sweep sweep;
	};
};
