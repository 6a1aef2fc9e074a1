#pragma once
/*
 * The filter between the box and the container engine: accepts connections of the box, lets an
 * exchange decide on each (exchange.h), and moves the bytes. One epoll loop, bounded in connections
 * and buffers.
 */
#include "base/system/loop.h"
#include "containers/engine_judge.h"

struct ab_engine_note;
struct ab_relay_conn;

enum { AB_ENGINE_RELAY_MAX = 64 }; /* connections at the same time */

struct ab_engine_relay {
	struct ab_loop loop;
	struct ab_source listener;
	const char *engine; /* its socket */
	struct ab_engine_judge judge;
	/* A request; its connection ends if this fails. */
	int (*note)(void *arg, const struct ab_engine_note *note);
	void *arg;
	struct ab_relay_conn *open;
	size_t nopen;
	bool ending;
	struct ab_timer end;
};

int ab_engine_relay_init(struct ab_engine_relay *relay, struct ab_error *err);
/* Takes over the listening socket. */
int ab_engine_relay_listen(struct ab_engine_relay *relay, int fd, struct ab_error *err);
/* No more requests: the loop stops when the engine has answered those that change something. */
void ab_engine_relay_end(struct ab_engine_relay *relay);
void ab_engine_relay_fini(struct ab_engine_relay *relay);

/* relay_conn.c: one connection. Takes over the socket. */
void ab_relay_conn_start(struct ab_engine_relay *relay, int fd);
void ab_relay_conn_end(struct ab_relay_conn *c);
/* The run ends. Wait for the engine's answer only if it is about a change. */
void ab_relay_conns_hurry(struct ab_engine_relay *relay);
