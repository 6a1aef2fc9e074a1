#ifndef AB_PROXY_RECORD_LEDGER_H
#define AB_PROXY_RECORD_LEDGER_H
/*
 * The network part of a run's record. A denial is written at once ("violation")
 * and gets an id, RUN-N, the same for the same host, port and basis, so that
 * the answer to the client, the log and the summary name one thing. A request
 * is written when it is over ("request"), with its bytes and milliseconds.
 *
 * Used by one thread at a time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/strv.h"
#include "proxy/filter/filter.h"

struct ab_error;
struct ab_log; /* audit/write/log.h */

enum ab_door {
	AB_DOOR_HTTP,
	AB_DOOR_CONNECT,
	AB_DOOR_SOCKS,
	AB_DOOR_TRANSPARENT,
	AB_DOOR_DNS,
	AB_DOOR_PUBLISH,   /* from the host to a port of the box */
	AB_DOOR_HOST_PORT, /* from the box to a port of the host */
	AB_DOOR_GATEWAY,   /* a base URL of ours */
	AB_DOOR_COUNT,
};
extern const char *const ab_door_names[AB_DOOR_COUNT];

/* Why something was refused that the lists allow. */
enum ab_fault {
	AB_FAULT_NONE,	    /* see the verdict */
	AB_FAULT_ANSWER,    /* the name leads to a denied range */
	AB_FAULT_SNI,	    /* TLS asks for another name */
	AB_FAULT_AUTHORITY, /* HTTP asks for another host */
	AB_FAULT_HTTP2,	    /* HTTP/2 in clear cannot be judged */
	AB_FAULT_MALFORMED, /* not the protocol that it claims to be */
	AB_FAULT_NAMES,	    /* too many names in one run */
	AB_FAULT_RULE,	    /* network.http: not this method, or path */
	AB_FAULT_HTTP1,	    /* looked into, and the client wants HTTP/2 */
	AB_FAULT_OPAQUE,    /* looked into, and there is nothing to read */
	AB_FAULT_HELD,	    /* it went while the monitor held everything */
	AB_FAULT_CUT,	    /* there is no network any more */
	AB_FAULT_TRIPWIRE,  /* another host's placeholder */
	AB_FAULT_MISPLACED, /* a placeholder where none is replaced */
	AB_FAULT_MISSING,   /* `require`, and no placeholder is there */
	AB_FAULT_ABSENT,    /* a placeholder whose value is not there */
	AB_FAULT_ENCODED,   /* a body to be searched that is compressed */
	AB_FAULT_COUNT,
};

/* Why nobody's yes was there for what is asked about. */
enum ab_reply {
	AB_REPLY_NONE, /* nobody could be asked */
	AB_REPLY_NO,
	AB_REPLY_TIME, /* nobody answered */
	AB_REPLY_GONE, /* the client did not wait for it */
	AB_REPLY_MANY, /* too many questions are open */
	AB_REPLY_FAST, /* too many in a minute */
	AB_REPLY_FULL, /* too many connections wait */
	AB_REPLY_COUNT,
};

struct ab_request_record { /* texts may be NULL or "" */
	enum ab_door door;
	const char *host; /* canonical, or escaped if it is no host */
	uint16_t port;	  /* 0: not known (DNS) */
	const char *method;
	const char *path;    /* without query; "" in a tunnel */
	const char *sni;     /* what the client asked for, if it differs */
	const char *address; /* dialled, or refused */
	const char *secret;  /* whose value was put in, or that it is about */
	const char *error;   /* it was allowed and failed: one sentence */
	struct ab_verdict verdict;
	enum ab_fault fault;
	enum ab_reply reply;
	uint32_t waited;     /* with TIME: the milliseconds that there were */
	const char *why;     /* held, cut: what led to it */
	const char *process; /* who it was: JSON, or NULL */
	uint32_t number;     /* from ab_ledger_number; 0: none was asked for */
	bool upstream;
	bool intercepted; /* TLS was opened */
	int status;	  /* HTTP status sent to the client; 0: none */
	uint64_t bytes_up, bytes_down;
	uint64_t head_up; /* not in bytes_up: of a request's head */
	uint64_t ms;
	uint32_t denial; /* number from ab_ledger_deny; 0: allowed */
};

/* Can a word about this run let it through? */
static inline bool ab_request_liftable(const struct ab_request_record *r)
{
	return r->fault == AB_FAULT_NONE &&
	       (r->verdict.basis == AB_BASIS_NONE || r->verdict.basis == AB_BASIS_PORT ||
		r->verdict.basis == AB_BASIS_GRANT);
}

struct ab_ledger;

struct ab_ledger *ab_ledger_new(const char *run_id, struct ab_log *log);
void ab_ledger_free(struct ab_ledger *ledger);

/*
 * Write a violation and number it; ab_ledger_id makes the id of it. Equal ones
 * are written up to a number a minute, and counted beyond it; so are all
 * together, each one's first aside. -1: the record
 * cannot be written; the connection must end, and under strict the run.
 */
int ab_ledger_deny(struct ab_ledger *ledger, const struct ab_request_record *r,
		   uint32_t *ret_number, struct ab_error *err);
int ab_ledger_request(struct ab_ledger *ledger, const struct ab_request_record *r,
		      struct ab_error *err);

/* The number that its denial will have, if it is denied. */
uint32_t ab_ledger_number(struct ab_ledger *ledger, const struct ab_request_record *r);
/* Is it to be found out who gets this number? Once for each. */
bool ab_ledger_seeks(struct ab_ledger *ledger, uint32_t number);
/* It was this one ("curl, pid 3"): for the summary. */
void ab_ledger_who(struct ab_ledger *ledger, uint32_t number, const char *nearest);

struct ab_question_record {
	uint32_t number; /* 0: of the hold */
	const char *host;
	uint16_t port;
	enum ab_door door;
	const char *answer, *by; /* by: or NULL */
	uint32_t waiting;	 /* connections */
	uint64_t ms;
	const char *process; /* JSON, or NULL */
};
int ab_ledger_question(struct ab_ledger *ledger, const struct ab_question_record *q,
		       struct ab_error *err);
/* `taken` false: there was no room for it. */
int ab_ledger_grant(struct ab_ledger *ledger, const char *entry, bool allowed, uint64_t for_ms,
		    bool taken, const char *by, struct ab_error *err);

/* Datagrams and other packets that the box was refused, as counted by the
 * kernel; a violation if it is not 0. */
int ab_ledger_packets(struct ab_ledger *ledger, const char *kind, uint64_t n, struct ab_error *err);

/* At the end: write what was only counted. */
int ab_ledger_flush(struct ab_ledger *ledger, struct ab_error *err);

/* "7kq2-1" */
enum { AB_DENIAL_ID = 24 };
void ab_ledger_id(const struct ab_ledger *ledger, uint32_t number, char ret[AB_DENIAL_ID]);
/* Why, as a clause: "not on the allow list". Into ret, returned. */
enum { AB_REASON_ROOM = 400 };
const char *ab_ledger_reason(const struct ab_request_record *r, char ret[AB_REASON_ROOM]);
/* The key that decided: "network.allow"; a word where none did ("tls-name"). */
const char *ab_ledger_rule(const struct ab_request_record *r);
/* The exact words that would allow it next time: "--allow x.y:8080"; "" when
 * nothing does. */
void ab_ledger_hint(const struct ab_request_record *r, char ret[AB_REASON_ROOM]);

struct ab_ledger_totals {
	uint64_t allowed, denied, failed; /* requests */
	uint64_t bytes_up, bytes_down;
};
void ab_ledger_totals(const struct ab_ledger *ledger, struct ab_ledger_totals *ret);
/* For stderr at the end, a line each; those that begin with a space belong to
 * the one before. Nothing when nothing was denied. */
void ab_ledger_summary(const struct ab_ledger *ledger, struct ab_strv *ret);

#endif
