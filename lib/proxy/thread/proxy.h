#pragma once
/*
 * The proxy: one thread that accepts the box's connections, on sockets made in
 * the box's network namespace, and dials out from the host's. The host cannot
 * reach these listeners.
 *
 * ab_proxy_new creates no thread: a run that does not use the network never
 * has one. The thread inherits the restrictions of the thread that starts it.
 * If its loop fails the listeners are closed: no network, never an open one.
 */
#include "proxy/record/events.h"
#include "proxy/record/totals.h"

struct ab_filter;
struct ab_proxy;

int ab_proxy_new(const struct ab_proxy_setup *setup, struct ab_proxy **ret, struct ab_error *err);

/* Before start: readable when a client has connected or sent a DNS query. */
int ab_proxy_ready_fd(const struct ab_proxy *proxy);
int ab_proxy_start(struct ab_proxy *proxy, struct ab_error *err);
/* After start: readable when the thread has failed. */
int ab_proxy_failure_fd(const struct ab_proxy *proxy);
void ab_proxy_failure(struct ab_proxy *proxy, struct ab_error *err);

/* One more published port, at most AB_PUBLISHED_LATE; takes the descriptor. */
void ab_proxy_publish(struct ab_proxy *proxy, int fd, uint16_t port);
/* The listener of the box's ssh agent, once; takes the descriptor. */
void ab_proxy_serve_agent(struct ab_proxy *proxy, int fd);
/* The result of setup.dial_agent; takes the descriptor. */
void ab_proxy_agent_dialled(struct ab_proxy *proxy, uint32_t ticket, int errnum, int fd);
/* The result of setup.dial_inside. */
void ab_proxy_dialled(struct ab_proxy *proxy, int errnum, int fd);
/* New lists, in force for every request from now on; the proxy owns them. Open
 * connections to hosts that network.deny now has are closed; `cut`: also those to
 * hosts that are not allowed any more. */
void ab_proxy_replace(struct ab_proxy *proxy, struct ab_filter *filter, bool cut);

/*
 * Messages to the thread, from any other thread; before start they take effect
 * in the call. `by` is for the record ("terminal", "control", "approver";
 * copied), and so is `why`, the reason that was given, or NULL. `settled` follows each answer to an open question; an answer to a
 * question that is over changes nothing.
 */
void ab_proxy_answer(struct ab_proxy *proxy, uint32_t number, enum ab_host_answer answer,
		     const char *by, const char *why);
/* Which process asked for a host, for the records: a JSON array of processes,
 * nearest first, or NULL (copied). A denied connection waits a moment for this
 * before the client gets its reply. */
void ab_proxy_who(struct ab_proxy *proxy, uint32_t number, const char *who);
/* Applies to waiting connections too, and a deny rule closes open ones. The newest
 * grant for a host wins. */
void ab_proxy_grant(struct ab_proxy *proxy, const struct ab_grant *grant, const char *by);
/* Make all new connections wait for one question (AB_QUESTION_HELD, number 0,
 * no host). A yes releases them; a no, or no answer in AB_HOLD_MS, cuts. */
void ab_proxy_hold(struct ab_proxy *proxy, const char *reason);
/* Close all open connections and deny all new ones, for the rest of the run. */
void ab_proxy_cut(struct ab_proxy *proxy, const char *reason);
/*
 * Calls `surveyed` with
 *
 *	{"allowed":N,"denied":N,"failed":N,"bytes_up":N,"bytes_down":N,
 *	 "closed":N,"open":[{"domain":..,"port":..,"door":..,"bytes_up":..,
 *		  "bytes_down":..,"ms":..}, ...]}
 *
 * with at most 64 open connections, newest first. closed: how many were closed
 * since the last survey because their hosts were denied.
 */
void ab_proxy_survey(struct ab_proxy *proxy);

/* A secret's new value, for every request from now on; copied. */
void ab_proxy_secret(struct ab_proxy *proxy, size_t i, const char *value, size_t len);
/* It could not be got, and why. */
void ab_proxy_secret_failed(struct ab_proxy *proxy, size_t i, const char *why);

struct ab_proxy_report {
	struct ab_ledger_totals totals;
	struct ab_strv lines; /* denials, for the user */
};

/* After the box has ended: close what is still open, write the last records,
 * join the thread, free everything. */
int ab_proxy_stop(struct ab_proxy *proxy, struct ab_proxy_report *ret, struct ab_error *err);
