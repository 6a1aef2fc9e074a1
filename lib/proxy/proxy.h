#ifndef AB_PROXY_PROXY_H
#define AB_PROXY_PROXY_H
/*
 * The door: one thread that accepts what the box connects to, on sockets that
 * were made in the box's own network namespace and handed up, and dials out
 * from ours. Nothing of it is reachable from the host.
 *
 * Made without a thread: a run that never touches the network never has one.
 * The thread inherits the lock of the one that starts it. An error of its loop
 * closes the listeners: no network, never an open one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strv.h"
#include "netns/listeners.h"

struct ab_error;
struct ab_filter;
struct ab_log;
struct ab_policy;
struct ab_tls_site;
struct ab_upstream;
struct ab_vault;
struct ab_proxy;

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
 * Somebody in the box waits for a word about a host, or was told that he may
 * not: who is it? The number is that of the denial that it is, or becomes when
 * nobody says anything: "7kq2-1" everywhere (ab_ledger_id).
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

enum ab_word { AB_WORD_NO, AB_WORD_ONCE, AB_WORD_RUN };

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

int ab_proxy_new(const struct ab_proxy_setup *setup, struct ab_proxy **ret, struct ab_error *err);

/* Readable when somebody knocks (before start), and when the thread has
 * failed (after it). */
int ab_proxy_knock_fd(const struct ab_proxy *proxy);
int ab_proxy_start(struct ab_proxy *proxy, struct ab_error *err);
int ab_proxy_failure_fd(const struct ab_proxy *proxy);
void ab_proxy_failure(struct ab_proxy *proxy, struct ab_error *err);

void ab_proxy_dialled(struct ab_proxy *proxy, int errnum, int fd);
/* New lists, in force for every request from now on; taken over. */
void ab_proxy_replace(struct ab_proxy *proxy, struct ab_filter *filter);
/* And what is open and would be denied by now is closed. */
void ab_proxy_cut_denied(struct ab_proxy *proxy);

/*
 * Words about hosts, from any thread but its own; before the thread is there
 * they take effect at once. `by` is for the record ("terminal", "control",
 * "approver"; copied); `who` is a JSON array of processes, nearest first, or
 * NULL (copied). Each answer to a question that is still open is followed by
 * `settled`; one to a question that is over changes nothing.
 */
void ab_proxy_answer(struct ab_proxy *proxy, uint32_t number, enum ab_word word, const char *by);
/* Who waits (AB_WANTED_*): for the records. One that is only denied waits for
 * this, a moment, before it hears of it. */
void ab_proxy_who(struct ab_proxy *proxy, uint32_t number, const char *who);
/* Takes effect for what waits, too. The newest about a host holds. */
void ab_proxy_grant(struct ab_proxy *proxy, const struct ab_grant *grant, const char *by);
/* The monitor: everything new waits as one question (AB_WANTED_HELD, number 0,
 * no host), which ab_proxy_answer ends: by yes, or by no and in AB_HOLD_MS as
 * a cut. Or there is no network any more: what is open is closed, what comes is
 * refused. */
void ab_proxy_hold(struct ab_proxy *proxy, const char *reason);
void ab_proxy_cut(struct ab_proxy *proxy, const char *reason);
/*
 * Answered by `surveyed`, with
 *
 *	{"allowed":N,"denied":N,"failed":N,"bytes_up":N,"bytes_down":N,
 *	 "open":[{"domain":..,"port":..,"door":..,"bytes_up":..,
 *		  "bytes_down":..,"ms":..}, ...]}
 *
 * at most 64 of those that are open, the newest first. Before the thread is
 * there it is answered in the call.
 */
void ab_proxy_survey(struct ab_proxy *proxy);

/* A secret's new value, for every request from now on; copied. */
void ab_proxy_secret(struct ab_proxy *proxy, size_t i, const char *value, size_t len);

struct ab_proxy_report {
	uint64_t allowed, denied, failed;
	uint64_t bytes_up, bytes_down;
	struct ab_strv lines; /* for the user: what was denied */
};

/* After the box is gone: end what is still open, write the last records, join
 * the thread, free everything. */
int ab_proxy_stop(struct ab_proxy *proxy, struct ab_proxy_report *ret, struct ab_error *err);

#endif
