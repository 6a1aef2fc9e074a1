#pragma once
/*
 * The network part of a run's record. A denial is written at once ("violation")
 * and gets an id, RUN-N, the same for the same host, port and reason, so that
 * the response to the client, the log and the summary agree. A request is
 * written when it has ended ("request"), with its bytes and milliseconds.
 *
 * Used by one thread at a time.
 */
#include "proxy/filter/filter.h"
#include "proxy/record/totals.h"

struct ab_log; /* audit/write/log.h */

enum ab_door {
	AB_DOOR_HTTP,
	AB_DOOR_CONNECT,
	AB_DOOR_SOCKS,
	AB_DOOR_TRANSPARENT,
	AB_DOOR_DNS,
	AB_DOOR_PUBLISH,   /* from the host to a port of the box */
	AB_DOOR_HOST_PORT, /* from the box to a port of the host */
	AB_DOOR_GATEWAY,   /* a base URL of the proxy itself */
	AB_DOOR_AGENT,	   /* the box's ssh agent */
	AB_DOOR_UDP,	   /* no listener: datagrams, of which none leaves the box */
	AB_DOOR_COUNT,
};
extern const char *const ab_door_names[AB_DOOR_COUNT];

/* Why something was denied that the lists allow. */
enum ab_fault {
	AB_FAULT_NONE,	    /* see the verdict */
	AB_FAULT_ANSWER,    /* the name resolves to a denied range */
	AB_FAULT_SNI,	    /* TLS asks for another name */
	AB_FAULT_AUTHORITY, /* HTTP asks for another host */
	AB_FAULT_HTTP2,	    /* HTTP/2 without TLS cannot be judged */
	AB_FAULT_MALFORMED, /* the protocol is malformed */
	AB_FAULT_NAMES,	    /* too many names in one run */
	AB_FAULT_RULE,	    /* network.http denies this method or path */
	AB_FAULT_HTTP1,	    /* inspected, and only the client requires HTTP/2 */
	AB_FAULT_OPAQUE,    /* inspected, and neither TLS nor HTTP */
	AB_FAULT_HELD,	    /* the client closed it during a hold */
	AB_FAULT_CUT,	    /* the network was cut */
	AB_FAULT_TRIPWIRE,  /* another host's placeholder */
	AB_FAULT_CLEAR,	    /* its own host's, over plain HTTP */
	AB_FAULT_RETIRED,   /* its own host's, that the user replaced */
	AB_FAULT_MISPLACED, /* a placeholder in a wrong place */
	AB_FAULT_MISSING,   /* `require`, and there is no placeholder */
	AB_FAULT_ABSENT,    /* the placeholder's secret has no value */
	AB_FAULT_TOKEN,	    /* a request for tokens that is not answered */
	AB_FAULT_ENCODED,   /* a compressed body cannot be searched */
	AB_FAULT_NO_SNI,    /* TLS asks for no name, and network.sni wants one */
	AB_FAULT_ECH,	    /* the TLS hello has an encrypted one */
	AB_FAULT_AGENT,	    /* the ssh agent refuses it: see `refusal` */
	AB_FAULT_SIGNATURE, /* its AWS signature cannot be replaced */
	AB_FAULT_BODY,	    /* the request's body is longer than network.maxRequestBody */
	AB_FAULT_NOT_TCP,   /* packets of other protocols */
	AB_FAULT_COUNT,
};

/* Why a host that needs an answer did not get a yes. */
enum ab_reply {
	AB_REPLY_NONE, /* it was not asked */
	AB_REPLY_NO,
	AB_REPLY_TIME, /* nobody answered in time */
	AB_REPLY_GONE, /* the client gave up before the answer */
	AB_REPLY_MANY, /* too many open questions */
	AB_REPLY_FAST, /* too many questions in a minute */
	AB_REPLY_FULL, /* too many waiting connections */
	AB_REPLY_COUNT,
};

/* Why the ssh agent does not sign. Constant. */
struct ab_refusal {
	const char *rule, *words;
};

/* What the ssh agent was asked for; texts may be NULL or "". */
struct ab_agent_record {
	const char *key; /* fingerprint */
	const char *user;
	const char *name_space; /* of a signature that is not a login */
	const char *route;	/* of a login: "proxy" or "unproven" */
};

struct ab_request_record { /* texts may be NULL or "" */
	enum ab_door door;
	const char *host; /* canonical, or escaped if it is not a host */
	uint16_t port;	  /* 0: not known (DNS) */
	const char *method;
	const char *path;    /* without query; "" in a tunnel */
	const char *line;    /* of a malformed request: what it asked for, escaped */
	const char *sni;     /* the name in the TLS hello, or in an HTTP request that
				names another host than its tunnel */
	const char *address; /* dialled or denied */
	const char *secret;  /* that was injected or caused the denial */
	const char *error;   /* why an allowed request failed */
	struct ab_verdict verdict;
	enum ab_fault fault;
	enum ab_reply reply;
	const char *reply_why;		     /* with NO: the reason of who answered */
	uint32_t waited;		     /* with TIME: the timeout in milliseconds */
	const char *why;		     /* held, cut: the reason */
	const struct ab_refusal *refusal;    /* with AB_FAULT_AGENT */
	const struct ab_agent_record *agent; /* with AB_DOOR_AGENT, or NULL */
	const char *process;		     /* the processes: JSON, or NULL */
	uint32_t number;		     /* from ab_ledger_number; 0: not called */
	bool upstream;
	bool intercepted;	       /* TLS was decrypted */
	bool tls;		       /* the client speaks TLS */
	int status;		       /* HTTP status sent to the client; 0: none */
	uint64_t bytes_up, bytes_down; /* with the heads */
	uint64_t ms;
	uint64_t packets; /* with AB_DOOR_UDP; else 0 */
	uint32_t denial;  /* number from ab_ledger_deny; 0: allowed */
};

/* Can a grant for this run allow it? */
static inline bool ab_request_liftable(const struct ab_request_record *r)
{
	return r->fault == AB_FAULT_NONE &&
	       (r->verdict.basis == AB_BASIS_NONE || r->verdict.basis == AB_BASIS_PORT ||
		r->verdict.basis == AB_BASIS_GRANT || r->verdict.basis == AB_BASIS_QUIET);
}

struct ab_ledger;

struct ab_ledger *ab_ledger_new(const char *run_id, struct ab_log *log);
void ab_ledger_free(struct ab_ledger *ledger);

/*
 * Write a violation and number it; ab_ledger_id makes its id. Equal violations,
 * and all together except each one's first, are written up to a limit per minute
 * and only counted beyond it. -1: the record cannot be written; the connection
 * must end, and under strict the run.
 */
int ab_ledger_deny(struct ab_ledger *ledger, const struct ab_request_record *r,
		   uint32_t *ret_number, struct ab_error *err);
int ab_ledger_request(struct ab_ledger *ledger, const struct ab_request_record *r,
		      struct ab_error *err);

/* The number of its denial, if it is denied. */
uint32_t ab_ledger_number(struct ab_ledger *ledger, const struct ab_request_record *r);
/* Should the process of this number be identified? True once per number. */
bool ab_ledger_seeks(struct ab_ledger *ledger, uint32_t number);
/* The process ("curl, pid 3"), for the summary. */
void ab_ledger_who(struct ab_ledger *ledger, uint32_t number, const char *nearest);

struct ab_question_record {
	uint32_t number; /* 0: the hold */
	const char *host;
	uint16_t port;
	enum ab_door door;
	const char *answer, *by, *why; /* by and why may be NULL */
	uint32_t waiting;	       /* connections */
	uint64_t ms;
	const char *process; /* JSON, or NULL */
};
int ab_ledger_question(struct ab_ledger *ledger, const struct ab_question_record *q,
		       struct ab_error *err);
/* `taken`: false if there was no room for it. */
int ab_ledger_grant(struct ab_ledger *ledger, const char *entry, bool allowed, uint64_t for_ms,
		    bool taken, const char *by, struct ab_error *err);

/* A limit of the run was reached. */
struct ab_threshold_alarm;
int ab_ledger_alarm(struct ab_ledger *ledger, const struct ab_threshold_alarm *alarm,
		    struct ab_error *err);

/* Datagrams and other packets of which only the number is known; a violation if n is not
 * 0. */
int ab_ledger_packets(struct ab_ledger *ledger, const char *kind, uint64_t n, struct ab_error *err);

/* At the end: write the violations that were only counted. */
int ab_ledger_flush(struct ab_ledger *ledger, struct ab_error *err);

/* "7kq2-1" */
enum { AB_DENIAL_ID = 24 };
void ab_ledger_id(const struct ab_ledger *ledger, uint32_t number, char ret[AB_DENIAL_ID]);
/* Why, as a clause: "not on the allow list". Into ret, returned. */
enum { AB_REASON_ROOM = 400 };
const char *ab_ledger_reason(const struct ab_request_record *r, char ret[AB_REASON_ROOM]);
/* The deciding setting: "network.allow"; else a name like "tls-name". */
const char *ab_ledger_rule(const struct ab_request_record *r);
/* The exact options that would allow it next time: "--allow x.y:8080"; "" if
 * none would. */
void ab_ledger_hint(const struct ab_request_record *r, char ret[AB_REASON_ROOM]);

void ab_ledger_totals(const struct ab_ledger *ledger, struct ab_ledger_totals *ret);
/* Lines for stderr at the end; a line that begins with a space continues the one
 * before. None if nothing was denied. */
void ab_ledger_summary(const struct ab_ledger *ledger, struct ab_strv *ret);
