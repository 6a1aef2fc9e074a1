#ifndef AB_PROXY_THREAD_PROXY_H
#define AB_PROXY_THREAD_PROXY_H
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

#include "base/data/strv.h"
#include "proxy/record/events.h"

struct ab_error;
struct ab_filter;
struct ab_proxy;

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
void ab_proxy_answer(struct ab_proxy *proxy, uint32_t number, enum ab_host_answer word,
		     const char *by);
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
