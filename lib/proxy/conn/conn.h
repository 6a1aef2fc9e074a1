#ifndef AB_PROXY_CONN_CONN_H
#define AB_PROXY_CONN_CONN_H
/*
 * One connection from the box, through whichever door, and what the parts of
 * the proxy need from each other. Private to lib/proxy.
 *
 * A connection is always in one state, its `step`: called when a side became
 * ready, when the dial ended, and after ab_conn_again. A step goes on until
 * it must wait. ab_conn_close may be called anywhere; the object is freed
 * after the batch, and no step is called any more.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/system/loop.h"
#include "policy/values/host.h"
#include "proxy/conn/inspected.h"
#include "proxy/conn/open_conns.h"
#include "proxy/conn/waiting.h"
#include "proxy/dial/dial.h"
#include "proxy/filter/filter.h"
#include "proxy/filter/grants.h"
#include "proxy/io/socket_side.h"
#include "proxy/record/ledger.h"

struct ab_synthetic;
struct ab_exchange;

/* How long a peer may take, in milliseconds. */
enum {
	AB_HANDSHAKE_MS = 10000, /* first request, SOCKS, hello */
	AB_HEAD_MS = 30000,	 /* a later request's head, once begun */
	AB_IDLE_MS = 300000,	 /* between requests of one connection */
};

struct ab_engine { /* what all connections share */
	struct ab_loop loop;
	const struct ab_filter *filter;
	struct ab_grants grants;
	struct ab_waiting pending;
	struct ab_open_conns overseer;
	char *cut; /* why there is no network any more; NULL: there is */
	struct ab_own own;
	struct ab_synthetic *names;
	struct ab_pipes *pipes;
	struct ab_dialer *dialer;
	struct ab_ledger *ledger;
	const struct ab_upstream *upstream; /* or NULL */
	struct ab_inspection inspection;
	struct ab_conn *conns;
	size_t nconns;
	bool ending; /* the box is gone: only what it has said is passed on */
	/* A socket to a port of the host's loopback; errno or 0. */
	int (*dial_host)(int port, int *ret_fd);
	/* A connection is gone: there may be room for another one. */
	void (*freed)(struct ab_engine *engine, const struct ab_conn *conn);
	/* A record could not be written. */
	void (*unrecorded)(struct ab_engine *engine, const struct ab_error *err);
};

/*
 * What a connection is used for, set by what starts it: a tunnel or an
 * exchange. NULL until the target is known.
 */
struct ab_conn_kind {
	/* What is under way, for a record; false: nothing is. */
	bool (*describe)(const struct ab_conn *conn, struct ab_request_record *ret);
	/* Between two requests, whose bytes have been reported already. */
	bool (*is_between)(const struct ab_conn *conn);
	/* Deny what is under way: record it, with an id, and close. */
	void (*break_off)(struct ab_conn *conn, enum ab_fault fault,
			  const struct ab_verdict *verdict);
	/* The connection ends: write the missing record, free what is the kind's own. */
	void (*end)(struct ab_conn *conn);
};

typedef void (*ab_conn_dialled_fn)(struct ab_conn *conn, const struct ab_dialled *result);

struct ab_conn {
	struct ab_engine *engine;
	struct ab_conn *next, **link;
	void (*step)(struct ab_conn *conn);
	const struct ab_conn_kind *kind;
	struct ab_side client, server;
	struct ab_flow up, down; /* client to server, and back */
	struct ab_timer deadline;
	struct ab_later later;
	struct ab_dial *dial;
	ab_conn_dialled_fn dialled;
	/* Of a tunnel that is refused: what comes after the record. */
	void (*then)(struct ab_conn *conn);
	struct ab_exchange *http; /* while it speaks HTTP */
	struct ab_waiter *waiter; /* while it waits for a word */
	uint64_t told;		  /* bytes up: see open_conns.c */
	uint64_t begun;		  /* loop time */

	/* The target of a tunnel; NULL as long as there is none. */
	struct ab_host *host;
	struct ab_verdict verdict; /* of it */
	char *entry;		   /* the verdict's, unless it is fixed */
	char *address;		   /* that was reached */
	char *failure;		   /* of its TLS: what every request to it
					 * is answered with */
	uint64_t hello_left;	   /* of the first hello: see proxy/traffic/tunnel_first_bytes.c */
	uint32_t denial;	   /* its number, or 0 */
	uint16_t port;
	uint16_t ahead;	  /* bytes of client.in that the server
					 * has already: see proxy/traffic/tunnel_first_bytes.c */
	uint16_t trips;	  /* 1 + the secret whose placeholder is in
					 * the request for the tunnel */
	uint8_t door;	  /* enum ab_door */
	bool upstream;	  /* reached through that */
	bool intercepted; /* TLS on the client's side is ours */
	bool unrecorded;  /* its record is written, or HTTP inside
					 * records for itself */
	bool closed;
};

/* Takes the socket over and begins with `step`; NULL when it cannot be
 * watched, and then it is closed. */
struct ab_conn *ab_conn_new(struct ab_engine *engine, enum ab_door door, int fd,
			    void (*step)(struct ab_conn *conn));
void ab_conn_close(struct ab_conn *conn, bool reset);
/* Call step again in the next batch. */
void ab_conn_again(struct ab_conn *conn);
/* Close it unless something else happens within ms; 0: wait for ever. */
void ab_conn_deadline(struct ab_conn *conn, uint64_t ms);
/* Watch a connected socket as the server's side. -1: it is closed. */
int ab_conn_attach(struct ab_conn *conn, int fd);

/* Replace a synthetic address by its name, then judge. */
void ab_conn_judge(struct ab_conn *conn, struct ab_host *host, uint16_t port,
		   struct ab_verdict *ret);

/* The same about a name that is to be resolved. */
void ab_conn_resolve(struct ab_engine *engine, const struct ab_host *name, struct ab_verdict *ret);
/* May this address be dialled for a host that is allowed? */
bool ab_conn_reachable(const struct ab_engine *engine, const struct ab_host *addr, uint16_t port,
		       struct ab_verdict *ret);
/* Lists come and go: keep the words of a verdict that is remembered. */
void ab_verdict_keep(struct ab_verdict *verdict, char **entry);
/* What is open, or under way, now: false when nothing is. */
bool ab_conn_describe(const struct ab_conn *conn, struct ab_request_record *ret);

/* Get a socket for conn->server; `done` is called later, with the result
 * (with OK conn->server is set up and watched). */
void ab_conn_dial(struct ab_conn *conn, const struct ab_host *host, uint16_t port, bool http,
		  ab_conn_dialled_fn done);

/*
 * Write the violation, number it (r->denial). -1: it could not be written; the
 * connection is closed already, do nothing more with it.
 */
int ab_conn_deny(struct ab_conn *conn, struct ab_request_record *r);
/* Write the record of a request that is over. */
void ab_conn_record(struct ab_conn *conn, struct ab_request_record *r);

#endif
