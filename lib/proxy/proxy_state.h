#ifndef AB_PROXY_PROXY_STATE_H
#define AB_PROXY_PROXY_STATE_H
/*
 * What the files of the proxy share. Private to proxy/proxy*.c.
 *
 *	proxy.c		its life: made, started, ending, stopped
 *	proxy_letters.c	what its thread is told by others
 */
#include <pthread.h>

#include "base/mailbox.h"
#include "proxy/conn.h"
#include "proxy/keeper.h"
#include "proxy/proxy.h"

struct ab_proxy {
	struct ab_engine engine; /* first: its callbacks find us by it */
	struct ab_proxy_setup setup;
	char *run_id;
	struct ab_keeper keeper;
	struct ab_source letters, addresses;
	struct ab_mailbox in, out;
	struct ab_timer end;
	struct ab_filter *filter;
	struct ab_error *early; /* a failure before there was a thread */
	pthread_t thread;
	bool tried; /* to start it */
	bool started;
};

/* proxy.c */
/* The run has ended: pass on what is left, then stop. */
void ab_proxy_end(struct ab_proxy *proxy);
/* The ledger is made for its first record. */
struct ab_ledger *ab_proxy_ledger(struct ab_proxy *proxy);

/* proxy_letters.c */
void ab_proxy_ask_end(struct ab_proxy *proxy);
int ab_proxy_listen(struct ab_proxy *proxy, struct ab_error *err);
/* The thread is gone: those that it has not read. */
void ab_proxy_drop_letters(struct ab_proxy *proxy);
void ab_proxy_use_filter(struct ab_proxy *proxy, struct ab_filter *filter);

#endif
