#pragma once
/*
 * The proxy's setup, and the types that it shares with the supervisor:
 * questions, answers, grants, and the callbacks that report them.
 */
#include "netns/listeners.h"

struct ab_agent_terms;
struct ab_log;
struct ab_policy;
struct ab_threshold_alarm;
struct ab_tls_site;
struct ab_upstream;
struct ab_vault;

/* A listener on the host whose connections go to a port of the box. */
struct ab_published {
	int fd;
	uint16_t port;
};

enum { AB_PUBLISHED_LATE = 16 }; /* listeners that can be added to a live run */

/* The client's end of a connection, in the box's network namespace. */
struct ab_peer {
	pid_t pid; /* on the host, if it is a Unix socket; else 0 */
	bool udp;
	bool v6;
	uint8_t addr[16];
	uint16_t port;
};

/*
 * Reports which connection asked for a host, whether it is waiting for an
 * answer or was denied. The number is that of the denial, or of the denial that
 * it becomes if nobody answers: "7kq2-1" everywhere (ab_ledger_id).
 */
enum ab_host_question_why {
	AB_QUESTION_UNKNOWN,  /* on no list: a person decides */
	AB_QUESTION_HELD,     /* the monitor holds all new connections */
	AB_QUESTION_AGENT,    /* the ssh agent needs an approval */
	AB_QUESTION_TOOL,     /* a tool of the host needs one; not from the proxy */
	AB_QUESTION_IDENTIFY, /* already denied: only identify the process */
};
struct ab_host_question {
	uint32_t number; /* of a datagram: AB_TICKET_UDP and its own */
	enum ab_host_question_why why;
	char host[256]; /* canonical */
	uint16_t port;
	const char *door;    /* its name */
	struct ab_peer peer; /* of the first waiting connection */
	uint32_t ms;	     /* until it times out */
	char about[256];     /* AB_QUESTION_AGENT, AB_QUESTION_TOOL: "sign in to ..." */
};

/* Numbers of denials are smaller. */
#define AB_TICKET_UDP ((uint32_t)1 << 31)

/* How long questions stay open. */
enum { AB_ASK_MS = 60 * 1000, AB_HOLD_MS = 10 * 60 * 1000 };

enum ab_host_answer { AB_HOST_ANSWER_NO, AB_HOST_ANSWER_ONCE, AB_HOST_ANSWER_RUN };

/* How a question ended. */
enum ab_settled {
	AB_SETTLED_ANSWERED, /* it was answered */
	AB_SETTLED_TIME,     /* it timed out, which means no */
	AB_SETTLED_GONE,     /* no connection waits any more */
};

/* A rule for this run, in addition to the lists. */
struct ab_grant {
	char entry[280]; /* canonical, as in network.allow */
	bool deny;
	uint64_t ms; /* how long; 0: until the run ends */
};

struct ab_proxy_setup {
	const char *run_id;
	const struct ab_policy *policy;
	struct ab_log *log;
	bool strict;			/* a record that cannot be written ends the run */
	uint64_t timeout_ms;		/* the run's time limit; 0: none */
	struct ab_network network;	/* the proxy owns its descriptors */
	struct ab_published *published; /* and these */
	size_t npublished;
	int own;			    /* from ab_own_open(); -1: none */
	const struct ab_upstream *upstream; /* or NULL */
	struct ab_vault *vault;		    /* or NULL; the proxy owns it */
	struct ab_tls_site *site;	    /* or NULL; the proxy owns it */
	struct ab_agent_terms *agent;	    /* the box may use keys, or NULL; the proxy owns it */
	/* Request a connection to the caller's ssh agent; ab_proxy_agent_dialled delivers it.
	 * Called on the thread. */
	int (*dial_agent)(void *arg, uint32_t ticket);
	/* Entries, each with a port, whose TLS is inspected; or NULL. */
	const struct ab_strv *intercepted;
	/* Called on the thread. stale: a host has rejected secret i, and a
	 * newer value may help. tripped: a placeholder of secret i, which
	 * must end the run, was sent to another host. */
	void (*stale)(void *arg, size_t i);
	void (*tripped)(void *arg, size_t i, bool clear);
	/*
	 * Called on the thread; each may be NULL.
	 *
	 * asked: without it there are no questions, and unknown hosts are
	 * denied. settled: that question has ended and released this many
	 * connections. crossed: a limit of the policy was reached
	 * (proxy/filter/budgets.h); it is recorded, and the network is paused
	 * or cut if that is the action. surveyed: the reply to
	 * ab_proxy_survey(); the callee frees it.
	 */
	void (*asked)(void *arg, const struct ab_host_question *question);
	void (*settled)(void *arg, uint32_t number, enum ab_settled how, uint32_t released);
	void (*crossed)(void *arg, const struct ab_threshold_alarm *alarm);
	void (*surveyed)(void *arg, char *json);
	bool identify_denied;	  /* identify denied processes too (AB_QUESTION_IDENTIFY) */
	uint32_t ask_ms, hold_ms; /* 0: AB_ASK_MS, AB_HOLD_MS */
	/* Request a socket connected to a port of the box; ab_proxy_dialled
	 * delivers the results in order. Called on the thread. */
	int (*dial_inside)(void *arg, uint16_t port);
	void *arg;
	/* Connect to a port of the host's loopback; errno or 0. */
	int (*dial_host)(int port, int *ret_fd);
};
