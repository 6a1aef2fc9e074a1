#pragma once
/*
 * The open connections: lists them, limits what they send, and closes those that
 * must not continue. Private to lib/proxy.
 */
#include "base/system/loop.h"
#include "proxy/filter/budgets.h"

struct ab_conn;
struct ab_engine;
struct ab_open_conns {
	struct ab_budgets *budgets; /* or NULL: there are no limits */
	/* The last alarm that ends or pauses the network; NULL: none. */
	char *alarm;
	enum ab_alarm action;
	struct ab_later act; /* on the alarm, at the end of the batch */
	uint64_t closed;     /* connections that are now denied, since the last survey */
};

void ab_open_conns_init(struct ab_engine *engine);
void ab_open_conns_fini(struct ab_engine *engine);

/* A server is connected: limit what is sent to it. */
void ab_open_conns_opened(struct ab_conn *conn);
/* A person has resumed the network: limits that were reached end. */
void ab_open_conns_resume(struct ab_engine *engine);

/* Close all connections and deny new ones. A second call changes nothing. */
void ab_open_conns_cut(struct ab_engine *engine, const char *reason);
/* Close connections to hosts that a rule now denies; `all`: also those to hosts
 * that nothing allows any more. */
void ab_open_conns_cut_denied(struct ab_engine *engine, bool all);
/* The text of ab_proxy_survey(); the caller frees it. */
char *ab_open_conns_survey(struct ab_engine *engine);
