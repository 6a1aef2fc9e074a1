#pragma once
/*
 * Shared state of the exchange. Private to exchange*.c.
 *
 *	exchange.c		reads, judges and sends a request, and dials its server
 *	exchange_inspect.c	inspects its head: path, placeholders, signatures, tokens
 *	exchange_bodies.c	passes the response and both bodies
 *	exchange_end.c		records, denials, and the end of a connection
 */
#include "proxy/conn/body_filter.h"
#include "proxy/sign/sign.h"
#include "proxy/sign/sign_chunks.h"
#include "proxy/secrets/swap.h"
#include "proxy/traffic/exchange.h"
#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"

enum ab_pass_state {
	AB_PASS_HEAD, /* waiting for the head */
	AB_PASS_BODY,
	AB_PASS_OVER,
	AB_PASS_BROKEN, /* the rest cannot be read or delivered */
};

struct ab_pass { /* one direction of one request */
	enum ab_pass_state state;
	enum ab_http_body body;
	bool last; /* the end of a chunked body was seen */
	struct ab_body_fault fault;
	uint64_t most;	 /* bytes of the body; 0: any number */
	uint64_t left;	 /* bytes that may pass */
	uint64_t before; /* flow->moved when the body began */
	uint64_t ahead;	 /* body bytes sent with the head */
	struct ab_http_chunks chunks;
	struct ab_body_filter *filter; /* or NULL */
};

struct ab_exchange_request {
	struct ab_host host;
	uint16_t port;
	char *method, *path;
	char *asked; /* the requested host, if it is not the tunnel's */
	char *line;  /* of a malformed request: what it asked for */
	char *error;
	struct ab_verdict verdict;
	char *entry; /* the verdict's, unless it is the tunnel's */
	enum ab_fault fault;
	int denial_status;
	int status;
	uint64_t begun;	      /* loop time */
	int minor;	      /* the client's HTTP version */
	uint64_t sent_before; /* server.sent when it began */
	uint64_t head_down;   /* bytes of the response's heads */
	size_t head;	      /* length of a head kept in client.in to send again */
	bool repeatable;      /* may be sent twice */
	bool reused;	      /* on a kept server connection */
	bool to_head;
	bool keep, server_keep;
	bool expects;		       /* the body waits for a 100 */
	bool upgrade, raw;	       /* requested; switched */
	bool grpc;		       /* its body consists of gRPC messages */
	bool gateway;		       /* its path named a gateway route */
	bool inspected;		       /* secrets may be injected */
	bool injected;		       /* a secret was, or may be in the body */
	bool searched;		       /* the response must be searchable for values */
	bool gathered;		       /* the whole body is in client.in, or it has none */
	bool awaits;		       /* a value of `secret` */
	bool settled;		       /* path and target are in normal form */
	int secret;		       /* that was injected or caused a denial; -1 */
	char *target;		       /* path and query to send; NULL: as received */
	struct ab_scrub *scrub;	       /* of the response, or NULL */
	struct ab_swap_body *swap;     /* of the body, or NULL */
	struct ab_sign_chunks *chunks; /* signed ones of the body, or NULL */
	size_t hashed; /* length of a body that is whole in client.in, to be signed */
	struct ab_pass up, down;
};

struct ab_exchange {
	enum ab_exchange_mode mode;
	struct ab_http_scan scan; /* of the head being read */
	bool head_begun;
	bool served; /* an earlier request on this connection is done */
	char *peer;  /* proxy mode: the host of conn->server */
	uint16_t peer_port;
	bool peer_tls;
	struct ab_exchange_request *request; /* in progress, or NULL */
};

/* exchange.c */
void ab_exchange_next(struct ab_conn *conn);
/* Continue with the head in client.in after a wait. */
void ab_exchange_resume(struct ab_conn *conn);

/* Continue with it, once conn->server is there and the body if it must be. */
void ab_exchange_send_again(struct ab_conn *conn);
/* Dial, then send. */
void ab_exchange_dial(struct ab_conn *conn);

/* conn->server belongs to a tunnel and cannot be dialled again. */
static inline bool ab_exchange_fixed(const struct ab_exchange *x)
{
	return x->mode != AB_EXCHANGE_PROXY;
}

/* Deny a body that is longer than network.maxRequestBody. */
bool ab_exchange_deny_length(struct ab_conn *conn);

/* exchange_inspect.c */
/* Set host and path of a request to the gateway; false: it is not one. */
bool ab_exchange_route(struct ab_conn *conn, const struct ab_http_request *head);
/* Deny a request whose head has a placeholder of another host's secret, also if
 * the lists would deny it. false: it has none. */
bool ab_exchange_trips(struct ab_conn *conn, const struct ab_http_request *head);
/* The same for a head that cannot be read. */
bool ab_exchange_trips_unread(struct ab_conn *conn);
/* Search the body for placeholders, if there are any. */
void ab_exchange_watch_body(struct ab_conn *conn, const struct ab_http_head *head);
/* Judge the head and inject secrets. false: it was denied. Free `ret` with
 * ab_swapped_fini(). */
bool ab_exchange_inspect(struct ab_conn *conn, const struct ab_http_request *head,
			 const struct ab_http_hop *hop, struct ab_swapped *ret);
/* Write the head to server.out. false: it was denied. */
bool ab_exchange_write(struct ab_conn *conn, struct ab_swapped *swapped,
		       const struct ab_http_hop *hop);

/* Wait for a body that must be hashed. true: the request is sent again later, or the
 * request was denied. */
bool ab_exchange_gather(struct ab_conn *conn, const struct ab_http_request *head);
/* Answer a request to a token URL of a secret. true: it is one, and was answered, denied, or
 * the request is sent again later. */
bool ab_exchange_token(struct ab_conn *conn, const struct ab_http_request *head);

/* exchange_bodies.c: the head is in server.out, or is the first `raw` bytes of
 * client.in. The texts of its fields may be gone. */
void ab_exchange_pass(struct ab_conn *conn, const struct ab_http_head *head, size_t raw);
uint64_t ab_pass_bytes(const struct ab_pass *p, const struct ab_flow *flow);

/* exchange_end.c. Each ends the request and may close the connection; those that say how it failed
 * return false. */
struct ab_exchange_request *ab_exchange_request_new(struct ab_conn *conn);
void ab_exchange_done(struct ab_conn *conn);
bool ab_exchange_fail(struct ab_conn *conn, int status, const char *why);
/* `why`: the detail of the reason, or NULL. */
bool ab_exchange_deny(struct ab_conn *conn, enum ab_fault fault, int status, const char *why);
/* Deny it with this record. */
void ab_exchange_deny_record(struct ab_conn *conn, struct ab_request_record *r);
/* Deny it: its body contains another host's placeholder. */
bool ab_exchange_trip(struct ab_conn *conn);
/* The request has this placeholder, by its number in the finder (proxy/secrets/vault.h). */
enum ab_fault ab_exchange_tripped(struct ab_conn *conn, int owner);
/* Answer it with these bytes, head and body, and close. */
void ab_exchange_answer(struct ab_conn *conn, int status, const struct ab_buf *answer);
/* Deny it as malformed. */
bool ab_exchange_refuse(struct ab_conn *conn, int status, const char *why);
/* Reset the connection: a response cannot be sent any more. */
bool ab_exchange_cut(struct ab_conn *conn, const char *why);
/* No more requests on this connection. */
void ab_exchange_end(struct ab_conn *conn);
void ab_exchange_close_server(struct ab_conn *conn);
/* The request in progress, or its tunnel; false: neither. */
bool ab_exchange_describe(const struct ab_conn *conn, struct ab_request_record *ret);
