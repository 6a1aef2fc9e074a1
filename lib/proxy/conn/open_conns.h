#ifndef AB_PROXY_CONN_OPEN_CONNS_H
#define AB_PROXY_CONN_OPEN_CONNS_H
/*
 * The open connections: lists them, reports new hosts and uploaded bytes, and
 * closes those that must not continue. Private to lib/proxy.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system/loop.h"

struct ab_conn;
struct ab_engine;
struct ab_proxy_setup;
struct ab_request_record;

enum { AB_OPENED_MAX = 4096 }; /* hosts remembered as already reached */

struct ab_open_conns {
	void (*sent)(void *arg, const char *host, uint64_t bytes);
	void (*opened)(void *arg, const char *host);
	void *arg;
	bool uploads;
	struct ab_timer report;
	uint64_t seed;
	uint64_t *hosts; /* hashes of the hosts reached */
	size_t nhosts;
};

void ab_open_conns_init(struct ab_engine *engine, const struct ab_proxy_setup *setup);
void ab_open_conns_fini(struct ab_engine *engine);

/* A dial has succeeded. */
void ab_open_conns_opened(struct ab_conn *conn);
/* A request or a tunnel has ended. */
void ab_open_conns_recorded(struct ab_conn *conn, const struct ab_request_record *r);

/* Close all connections and deny new ones. A second call changes nothing. */
void ab_open_conns_cut(struct ab_engine *engine, const char *reason);
/* Close connections to hosts that are now denied. */
void ab_open_conns_cut_denied(struct ab_engine *engine);
/* The text of ab_proxy_survey(); the caller frees it. */
char *ab_open_conns_survey(const struct ab_engine *engine);

#endif
