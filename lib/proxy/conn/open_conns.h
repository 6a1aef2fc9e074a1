#ifndef AB_PROXY_CONN_OPEN_CONNS_H
#define AB_PROXY_CONN_OPEN_CONNS_H
/*
 * All connections together: which are open, which hosts are new, how much is
 * uploaded; and closing those that must not continue. Private to lib/proxy.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system/loop.h"

struct ab_conn;
struct ab_engine;
struct ab_proxy_setup;
struct ab_request_record;

enum { AB_OPENED_MAX = 4096 }; /* hosts that are told apart */

struct ab_open_conns {
	void (*sent)(void *arg, const char *host, uint64_t bytes);
	void (*opened)(void *arg, const char *host);
	void *arg;
	bool uploads;
	struct ab_timer tell;
	uint64_t seed;
	uint64_t *hosts; /* hashes of those that were reached */
	size_t nhosts;
};

void ab_open_conns_init(struct ab_engine *engine, const struct ab_proxy_setup *setup);
void ab_open_conns_fini(struct ab_engine *engine);

/* A dial has succeeded. */
void ab_open_conns_opened(struct ab_conn *conn);
/* A request, or a tunnel, is over. */
void ab_open_conns_recorded(struct ab_conn *conn, const struct ab_request_record *r);

/* No network any more; once. */
void ab_open_conns_cut(struct ab_engine *engine, const char *reason);
/* Close what would not be let through now. */
void ab_open_conns_cut_denied(struct ab_engine *engine);
/* ab_proxy_survey()'s text, to be freed. */
char *ab_open_conns_survey(const struct ab_engine *engine);

#endif
