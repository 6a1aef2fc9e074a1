#ifndef AB_PROXY_RECORD_EVENTS_H
#define AB_PROXY_RECORD_EVENTS_H
/*
 * What the proxy is given when it is made, and the types with which it and the
 * supervisor talk: questions, answers, grants, and the callbacks that report
 * them. Only types: nothing here is called.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netns/listeners.h"

struct ab_log;
struct ab_policy;
struct ab_strv;
struct ab_tls_site;
struct ab_upstream;
struct ab_vault;

/* A listener on the host whose connections go to a port of the box. */
struct ab_published {
	int fd;
	uint16_t port;
};

/* One end of a connection, as the box's own network sees it. */
struct ab_peer {
	bool v6;
	uint8_t addr[16];
	uint16_t port;
};

/*
 * Reports that a connection waits for an answer about a host, or was denied:
 * which process is it? The number is that of the denial, or of the denial that
 * it becomes if nobody answers: "7kq2-1" everywhere (ab_ledger_id).
 */
enum ab_wanted_why {
	AB_WANTED_UNKNOWN, /* on no list, and to be asked about */
	AB_WANTED_HELD,	   /* the monitor holds everything */
	AB_WANTED_DENIED,  /* not asked about: only who it is */
};
struct ab_wanted {
	uint32_t number;
	enum ab_wanted_why why;
	char host[256]; /* canonical */
	uint16_t port;
	const char *door;    /* its name */
	struct ab_peer peer; /* of the first that waits */
	uint32_t ms;	     /* how long it may take */
};

/* How long questions stay open. */
enum { AB_ASK_MS = 60 * 1000, AB_HOLD_MS = 10 * 60 * 1000 };

enum ab_host_answer { AB_HOST_ANSWER_NO, AB_HOST_ANSWER_ONCE, AB_HOST_ANSWER_RUN };

/* How a question ended. */
enum ab_settled {
	AB_SETTLED_WORD, /* it was answered */
	AB_SETTLED_TIME, /* nobody answered in time: no */
	AB_SETTLED_GONE, /* nobody waits any more */
};

/* A rule for this run, beside the lists. */
struct ab_grant {
	char entry[280]; /* canonical, as in network.allow */
	bool deny;
	uint64_t ms; /* how long; 0: as long as the run */
};

struct ab_proxy_setup {
	const char *run_id;
	const struct ab_policy *policy;
	struct ab_log *log;
	bool strict;			/* a record that cannot be written ends the run */
	struct ab_network network;	/* the descriptors are ours then */
	struct ab_published *published; /* so are these */
	size_t npublished;
	int own;			    /* from ab_own_open(); -1: none */
	const struct ab_upstream *upstream; /* or NULL */
	struct ab_vault *vault;		    /* or NULL; ours then */
	struct ab_tls_site *site;	    /* or NULL; ours then */
	const struct ab_strv *intercepted;  /* entries, each with a port, that
						 * are looked into; or NULL */
	/* Called on the thread: a host has refused secret i, and a newer value
	 * of it may help; a placeholder was on its way elsewhere, and its
	 * secret says that this ends the run. */
	void (*stale)(void *arg, size_t i);
	void (*tripped)(void *arg, size_t i);
	/*
	 * Called on the thread; each may be NULL.
	 *
	 * wanted: without it nobody can be asked, and what is to be asked
	 * about is denied. settled: that question is over; `released` says for
	 * how many connections. sent: so many bytes more went up to this host
	 * (told a few times a second, and only if `watch_uploads`). opened: a
	 * host that this run had not reached before. surveyed: the answer to
	 * ab_proxy_survey(), to be freed.
	 */
	void (*wanted)(void *arg, const struct ab_wanted *wanted);
	void (*settled)(void *arg, uint32_t number, enum ab_settled how, uint32_t released);
	void (*sent)(void *arg, const char *host, uint64_t bytes);
	void (*opened)(void *arg, const char *host);
	void (*surveyed)(void *arg, char *json);
	bool watch_uploads;
	bool tell_who;		  /* ask who was denied, too (AB_WANTED_DENIED) */
	uint32_t ask_ms, hold_ms; /* 0: AB_ASK_MS, AB_HOLD_MS */
	/* Ask for a socket connected to a port of the box; the answer comes
	 * by ab_proxy_dialled, in order. Called on the thread. */
	int (*dial_inside)(void *arg, uint16_t port);
	void *arg;
	/* A socket to a port of the host's loopback; errno or 0. */
	int (*dial_host)(int port, int *ret_fd);
};

#endif
