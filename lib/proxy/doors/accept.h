#ifndef AB_PROXY_DOORS_ACCEPT_H
#define AB_PROXY_DOORS_ACCEPT_H
/*
 * The door's acceptor: the listeners, who is let in at which of them, and how
 * many at a time. Private to lib/proxy.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system/loop.h"
#include "netns/listeners.h"

struct ab_conn;
struct ab_engine;
struct ab_error;
struct ab_proxy_setup;

struct ab_acceptor {
	struct ab_engine *engine;
	struct ab_knocker *knockers; /* the listeners */
	size_t n;
	struct ab_caller *callers, **callers_end; /* of published ports */
	size_t ncallers;
	struct ab_timer retry;
	size_t max_conns;
	bool full;
	int counters; /* no listener, but handed up with them; -1: none */
	enum ab_capture capture;
	int (*dial_inside)(void *arg, uint16_t port);
	void *arg;
};

/* Put all listeners of the setup into the engine's loop: they are ours then,
 * also after a failure. */
int ab_acceptor_open(struct ab_acceptor *acceptor, struct ab_engine *engine,
		     const struct ab_proxy_setup *setup, struct ab_error *err);
/* Before the first one is let in. */
void ab_acceptor_prepare(struct ab_acceptor *acceptor);
/* The answer to dial_inside, in order. */
void ab_acceptor_dialled(struct ab_acceptor *acceptor, int errnum, int fd);
/* A connection is gone. */
void ab_acceptor_freed(struct ab_acceptor *acceptor, const struct ab_conn *conn);
/* Let those in who have come from the box already, and then nobody any more. */
void ab_acceptor_last(struct ab_acceptor *acceptor);
/* Nobody is let in any more. */
void ab_acceptor_close(struct ab_acceptor *acceptor);
void ab_acceptor_fini(struct ab_acceptor *acceptor);

#endif
