#pragma once
/*
 * Accepts connections on all listeners of the proxy, up to a limit. Each kind
 * of listener is called a door (doors.h). Private to lib/proxy.
 */
#include "base/system/loop.h"
#include "netns/listeners.h"

struct ab_conn;
struct ab_engine;
struct ab_acceptor {
	struct ab_engine *engine;
	struct ab_acceptor_listener *listeners;
	size_t nlisteners, room;
	struct ab_inside_dial *dials, **dials_end; /* oldest first */
	size_t ndials;
	struct ab_timer retry;
	bool full;
	bool serves_agent;    /* it has the listener of the box's ssh agent */
	int counters;	      /* not a listener, but passed in with them; -1: none */
	struct ab_source log; /* of datagrams that the kernel denied: the same descriptor */
	uint64_t dropped;     /* datagrams that the guard denied, those on record among them */
};

/* Add all listeners of the setup to the engine's loop. The acceptor owns them
 * afterwards, even on failure. */
int ab_acceptor_open(struct ab_acceptor *acceptor, struct ab_engine *engine, struct ab_error *err);
/* One more listener whose connections go to a port of the box; takes the descriptor. False: there are
 * AB_PUBLISHED_LATE of them. */
bool ab_acceptor_publish(struct ab_acceptor *acceptor, int fd, uint16_t port);
/* The listener of the box's ssh agent; takes the descriptor. */
void ab_acceptor_serve_agent(struct ab_acceptor *acceptor, int fd);
/* Call it before the loop runs. */
void ab_acceptor_prepare(struct ab_acceptor *acceptor);
/* The result of the oldest dial_inside call. */
void ab_acceptor_dialled(struct ab_acceptor *acceptor, int errnum, int fd);
/* A connection is being freed. */
void ab_acceptor_freed(struct ab_acceptor *acceptor, const struct ab_conn *conn);
/* Accept what the box has already connected, then close the listeners. */
void ab_acceptor_last(struct ab_acceptor *acceptor);
/* Record the datagrams that are left, and no more. */
void ab_acceptor_end_log(struct ab_acceptor *acceptor);
void ab_acceptor_close(struct ab_acceptor *acceptor);
void ab_acceptor_fini(struct ab_acceptor *acceptor);
