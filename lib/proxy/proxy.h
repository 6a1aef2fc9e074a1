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

struct ab_proxy_setup {
	const char *run_id;
	const struct ab_policy *policy;
	struct ab_log *log;
	bool strict;	/* a record that cannot be written ends the run */
	struct ab_network network;	/* the descriptors are ours then */
	struct ab_published *published;	/* so are these */
	size_t npublished;
	int own;	/* from ab_own_open(); -1: none */
	const struct ab_upstream *upstream;	/* or NULL */
	struct ab_vault *vault;		/* or NULL; ours then */
	struct ab_tls_site *site;	/* or NULL; ours then */
	const struct ab_strv *intercepted;	/* entries, each with a port, that
						 * are looked into; or NULL */
	/* Called on the thread: a host has refused secret i, and a newer value
	 * of it may help; a placeholder was on its way elsewhere, and its
	 * secret says that this ends the run. */
	void (*stale)(void *arg, size_t i);
	void (*tripped)(void *arg, size_t i);
	/* Ask for a socket connected to a port of the box; the answer comes
	 * by ab_proxy_dialled, in order. Called on the thread. */
	int (*dial_inside)(void *arg, uint16_t port);
	void *arg;
	/* A socket to a port of the host's loopback; errno or 0. */
	int (*dial_host)(int port, int *ret_fd);
};

int ab_proxy_new(const struct ab_proxy_setup *setup, struct ab_proxy **ret,
		 struct ab_error *err);

/* Readable when somebody knocks (before start), and when the thread has
 * failed (after it). */
int ab_proxy_knock_fd(const struct ab_proxy *proxy);
int ab_proxy_start(struct ab_proxy *proxy, struct ab_error *err);
int ab_proxy_failure_fd(const struct ab_proxy *proxy);
void ab_proxy_failure(struct ab_proxy *proxy, struct ab_error *err);

void ab_proxy_dialled(struct ab_proxy *proxy, int errnum, int fd);
/* New lists, in force for every request from now on; taken over. */
void ab_proxy_replace(struct ab_proxy *proxy, struct ab_filter *filter);
/* A secret's new value, for every request from now on; copied. */
void ab_proxy_secret(struct ab_proxy *proxy, size_t i, const char *value,
		     size_t len);

struct ab_proxy_report {
	uint64_t allowed, denied, failed;
	uint64_t bytes_up, bytes_down;
	struct ab_strv lines;	/* for the user: what was denied */
};

/* After the box is gone: end what is still open, write the last records, join
 * the thread, free everything. */
int ab_proxy_stop(struct ab_proxy *proxy, struct ab_proxy_report *ret,
		  struct ab_error *err);

#endif
