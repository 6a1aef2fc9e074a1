#pragma once
/*
 * One connection through any door, and the state that all connections share.
 * Private to lib/proxy.
 *
 * `step` is a connection's state: called when a side became ready, when the
 * dial ended, and after ab_conn_again. A step works until it must wait.
 * ab_conn_close may be called anywhere; it stops all steps, and the object is
 * freed after the batch.
 */
#include <sys/queue.h>

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

struct ab_agent_client;
struct ab_agent_terms;
struct ab_ssh_kex;
struct ab_synthetic;
struct ab_exchange;
struct ab_multiplex;

/* How long a client may take, in milliseconds. */
enum {
	AB_HANDSHAKE_MS = 10000, /* first request, SOCKS, hello */
	AB_HEAD_MS = 30000,	 /* the head of a later request, once begun */
	AB_IDLE_MS = 300000,	 /* between requests of one connection */
};
/* How long a server may take for its part of a TLS handshake: most clients would wait longer. */
enum { AB_SERVER_TLS_MS = 30000 };
#define AB_SERVER_TLS_LATE "the server did not complete its TLS handshake within 30 seconds"

/*
 * Memory for clients that begin a request and do not finish it: the box's memory
 * limit does not include it. Beyond these limits the oldest of them are closed.
 */
enum {
	AB_HALF_OPEN_MAX = 4096,	    /* connections without a verdict */
	AB_BUFFERED_MAX = 32 * 1024 * 1024, /* bytes of requests that were not sent yet */
};

struct ab_engine { /* shared by all connections */
	struct ab_loop loop;
	const struct ab_proxy_setup *setup;
	const struct ab_filter *filter;
	struct ab_grants grants;
	uint64_t begun; /* the run, in the loop's time */
	struct ab_waiting waiting;
	struct ab_open_conns open_conns;
	char *cut; /* why the network was cut; NULL: it was not */
	struct ab_own own;
	struct ab_synthetic *synthetic;
	struct ab_pipes *pipes;
	struct ab_dialer *dialer;
	struct ab_ledger *ledger;
	struct ab_inspection inspection;
	struct ab_agent_terms *agent; /* or NULL: no keys of an ssh agent */
	struct ab_conn *conns;
	size_t nconns, max_conns;
	size_t nmultiplex;		 /* that speak HTTP/2 */
	TAILQ_HEAD(, ab_conn) half_open; /* the oldest first */
	size_t nhalf_open;
	size_t buffered; /* bytes of unsent requests */
	bool ending;	 /* the box has ended: only deliver what it sent */
	/* A connection is being freed: there may be room for another one. */
	void (*freed)(struct ab_engine *engine, const struct ab_conn *conn);
	/* A record could not be written. */
	void (*unrecorded)(struct ab_engine *engine, const struct ab_error *err);
};

/*
 * What a connection is used for: a tunnel or an exchange. NULL until the target
 * is known.
 */
struct ab_conn_kind {
	/* The request in progress, for a record; false: none. NULL: there never is one to break off. */
	bool (*describe)(const struct ab_conn *conn, struct ab_request_record *ret);
	/* Deny the request in progress: record it, with an id, and close. */
	void (*break_off)(struct ab_conn *conn, enum ab_fault fault,
			  const struct ab_verdict *verdict);
	/* The connection ends: write the missing record, free what the kind owns. */
	void (*end)(struct ab_conn *conn);
};

typedef void (*ab_conn_dialled_fn)(struct ab_conn *conn, const struct ab_dialled *result);

struct ab_conn {
	struct ab_engine *engine;
	struct ab_conn *next, **link;
	TAILQ_ENTRY(ab_conn) half_link;
	bool half_open;
	size_t buffered;  /* its part of engine->buffered */
	size_t discarded; /* bytes of a client that lingers */
	void (*step)(struct ab_conn *conn);
	const struct ab_conn_kind *kind;
	struct ab_side client, server;
	struct ab_flow up, down; /* client to server, and back */
	struct ab_timer deadline;
	void (*late)(struct ab_conn *conn); /* at the deadline, instead of the end */
	struct ab_later later;
	struct ab_dial *dial;
	ab_conn_dialled_fn dialled;
	/* The step after the record of a denied tunnel. */
	void (*then)(struct ab_conn *conn);
	struct ab_exchange *http;	/* while it speaks HTTP */
	struct ab_multiplex *multiplex; /* while it speaks HTTP/2 */
	struct ab_conn *carrier; /* the HTTP/2 connection that this is a stream of, or NULL */
	struct ab_agent_client *client_of_agent; /* of AB_DOOR_AGENT */
	struct ab_ssh_kex *kex;	  /* reads the beginning of the server's stream, or NULL */
	struct ab_waiter *waiter; /* while it waits for an answer */
	uint64_t begun;		  /* loop time */
	pid_t sender;		  /* AB_DOOR_AGENT: the process on the host that sent last, or 0 */

	/* The target of a tunnel; NULL: not known yet. */
	struct ab_host *host;
	struct ab_verdict verdict;
	char *entry;   /* the verdict's, unless it is a constant */
	char *address; /* that was dialled */
	char *sni;     /* the name in the client's TLS hello, or NULL */
	/* Why TLS with the server failed: the reply to every request. */
	char *failure;
	/* See proxy/traffic/tunnel_first_bytes.c: what is missing of the first
	 * hello; bytes of client.in that the server already has. */
	uint64_t hello_left;
	uint16_t ahead;
	uint16_t port;
	uint32_t denial; /* its number, or 0 */
	/* 1 + the secret whose placeholder is in the request for the tunnel. */
	uint16_t trips;
	uint8_t door;	  /* enum ab_door */
	bool upstream;	  /* dialled through the upstream proxy */
	bool intercepted; /* the proxy terminates the client's TLS */
	bool tls;	  /* the client's first bytes are a TLS hello */
	/* The tunnel needs no record: it has one, or HTTP inside writes its own. */
	bool unrecorded;
	bool closed;
};

/* Takes ownership of the socket and begins with `step`. NULL: it could not be
 * watched, and was closed. */
struct ab_conn *ab_conn_new(struct ab_engine *engine, enum ab_door door, int fd,
			    void (*step)(struct ab_conn *conn));
/* The same for a stream of another connection: the caller sets its sides. */
struct ab_conn *ab_conn_new_stream(struct ab_conn *carrier, void (*step)(struct ab_conn *conn));
void ab_conn_close(struct ab_conn *conn, bool reset);
/* Call step again in the next batch. */
void ab_conn_again(struct ab_conn *conn);
/* Send client.out to the client, then close. */
void ab_conn_linger(struct ab_conn *conn);
/* After bytes were moved to this side: go on later, pass the end on, or close. false: closed. */
bool ab_conn_moved(struct ab_conn *conn, enum ab_io io, struct ab_side *to);
/* Close it after ms unless the deadline is set anew; 0: none. */
void ab_conn_deadline(struct ab_conn *conn, uint64_t ms);
/* The same, but call `late` instead of closing it. */
void ab_conn_deadline_then(struct ab_conn *conn, uint64_t ms, void (*late)(struct ab_conn *conn));
/* The client has begun something that cannot be judged before it is complete; may
 * close other connections. */
void ab_conn_half_open(struct ab_conn *conn);
/* It is complete, or was judged. */
void ab_conn_whole(struct ab_conn *conn);
/* The client's socket; of a stream, that of its carrier. */
int ab_conn_socket(const struct ab_conn *conn);
/* Is it connected to its server with TLS? */
bool ab_conn_tls(const struct ab_conn *conn);
/* Watch a connected socket as the server's side. -1: it was closed. */
int ab_conn_attach(struct ab_conn *conn, int fd);

/* Replace a synthetic address by its name. */
void ab_conn_name(const struct ab_engine *engine, struct ab_host *host);
/* The same, then judge. */
void ab_conn_judge(struct ab_conn *conn, struct ab_host *host, uint16_t port,
		   struct ab_verdict *ret);

/* Judge a name that the box resolves. */
void ab_conn_resolve(struct ab_engine *engine, const struct ab_host *name, struct ab_verdict *ret);
/* May this address be dialled for an allowed host? */
bool ab_conn_reachable(const struct ab_engine *engine, const struct ab_host *addr, uint16_t port,
		       struct ab_verdict *ret);
/* Copy the entry of a verdict that must outlive the filter's lists. */
void ab_verdict_keep(struct ab_verdict *verdict, char **entry);
/* The tunnel or request in progress; false: none. */
bool ab_conn_describe(const struct ab_conn *conn, struct ab_request_record *ret);

/* Dial conn->server, and buffer what the client sends meanwhile; `done` is called later with the result (after OK
 * conn->server is watched). */
void ab_conn_dial(struct ab_conn *conn, const struct ab_host *host, uint16_t port, bool http,
		  ab_conn_dialled_fn done);

/*
 * Write the violation and number it (r->denial). -1: it could not be written,
 * and the connection was closed.
 */
int ab_conn_deny(struct ab_conn *conn, struct ab_request_record *r);
/* The record of a datagram. `who`: the processes as JSON, or NULL. */
void ab_conn_deny_datagram(struct ab_engine *engine, const char *host, uint16_t port,
			   const char *who);
/* Write the record of a request that has ended. False: the connection is closed, perhaps because that
 * failed. */
bool ab_conn_record(struct ab_conn *conn, struct ab_request_record *r);
