#ifndef AB_PROXY_TRAFFIC_EXCHANGE_STATE_H
#define AB_PROXY_TRAFFIC_EXCHANGE_STATE_H
/*
 * What the files of the exchange share. Private to proxy/exchange*.c.
 *
 *	exchange.c		a request: read, judged, sent
 *	exchange_dial.c		the server that it goes to
 *	exchange_inspect.c	what is in its head: path, placeholders
 *	exchange_bodies.c	both bodies and the response, until both are over
 *	exchange_end.c		records, refusals, and the end of a connection
 */
#include "proxy/conn/body_filter.h"
#include "proxy/secrets/swap.h"
#include "proxy/traffic/exchange.h"
#include "proxy/wire/http.h"
#include "proxy/wire/http_chunks.h"

enum ab_pass_state {
	AB_PASS_HEAD, /* waits for its head */
	AB_PASS_BODY,
	AB_PASS_OVER,
	AB_PASS_BROKEN, /* the rest of it will not come, or not arrive */
};

struct ab_pass { /* one direction of one request */
	enum ab_pass_state state;
	enum ab_http_body body;
	bool last; /* of a chunked body the end was seen */
	bool malformed;
	uint64_t left;	 /* bytes that may pass */
	uint64_t before; /* flow->moved when the body began */
	uint64_t ahead;	 /* body bytes that went with the head */
	struct ab_http_chunks chunks;
	struct ab_body_filter *filter; /* it is looked at; or NULL */
};

struct ab_exchange_request {
	struct ab_host host;
	uint16_t port;
	char *method, *path;
	char *asked; /* the authority, where it is not the host */
	char *error;
	struct ab_verdict verdict;
	char *entry; /* the verdict's, unless it is the tunnel's */
	enum ab_fault fault;
	int refusal; /* the status that a denial is told with */
	int status;
	uint64_t begun;	  /* loop time */
	int minor;	  /* the client's HTTP version */
	uint64_t head_up; /* bytes of heads that were sent */
	size_t head;	  /* bytes of the head that are still in client.in:
				 * it can be sent again */
	bool repeatable;  /* sending it twice does no harm */
	bool reused;	  /* on a server connection that was kept */
	bool to_head;
	bool keep, server_keep;
	bool expects;		   /* the body waits for a 100 */
	bool upgrade, raw;	   /* asked for; granted */
	bool gateway;		   /* asked for by a path of ours */
	bool looked;		   /* its head is written anew, values are put in */
	bool carries;		   /* one was */
	int secret;		   /* which; or that it was refused for; -1 */
	char *target;		   /* path and query as they are sent; NULL: as
				 * they came */
	struct ab_scrub *scrub;	   /* of the answer, or NULL */
	struct ab_swap_body *swap; /* of the body, or NULL */
	struct ab_pass up, down;
};

struct ab_exchange {
	enum ab_exchange_mode mode;
	struct ab_http_scan scan; /* of the head that is being read */
	bool head_begun;
	bool served; /* a request before this one */
	char *peer;  /* proxy mode: whom conn->server is connected to */
	uint16_t peer_port;
	bool peer_tls;
	size_t discarded;
	struct ab_exchange_request *request; /* under way, or NULL */
};

/* exchange.c */
void ab_exchange_next(struct ab_conn *conn);
/* To conn->server, and on with the response. */
void ab_exchange_send(struct ab_conn *conn, const struct ab_http_request *head, size_t len);

/* exchange_dial.c: then it is sent */
void ab_exchange_dial(struct ab_conn *conn);
/* The head as it was when a wait began; 0 or less: it is not. */
ssize_t ab_exchange_read_again(struct ab_conn *conn, struct ab_http_request *ret);

/* Both ends are those of a tunnel: what the server ends is over. */
static inline bool ab_exchange_fixed(const struct ab_exchange *x)
{
	return x->mode != AB_EXCHANGE_PROXY;
}

/* exchange_inspect.c */
/* The host and path of a request to the gateway; false: it is none. */
bool ab_exchange_route(struct ab_conn *conn, const struct ab_http_request *head);
/* May this go to its host, and as what? false: it was refused. `ret` is to be
 * freed by ab_swapped_fini(). */
bool ab_exchange_inspect(struct ab_conn *conn, const struct ab_http_request *head,
			 struct ab_swapped *ret);
/* Into server.out; the body follows. false: it was refused. */
bool ab_exchange_write(struct ab_conn *conn, struct ab_swapped *swapped,
		       const struct ab_http_hop *hop);

/* exchange_bodies.c: the head is in server.out, or leads client.in (raw bytes) */
void ab_exchange_pass(struct ab_conn *conn, const struct ab_http_head *head, size_t raw);
uint64_t ab_pass_bytes(const struct ab_pass *p, const struct ab_flow *flow);

/* exchange_end.c. Each one ends the request; it may close the connection. */
struct ab_exchange_request *ab_exchange_request_new(struct ab_conn *conn);
void ab_exchange_done(struct ab_conn *conn);
void ab_exchange_fail(struct ab_conn *conn, int status, const char *why);
void ab_exchange_deny(struct ab_conn *conn, enum ab_fault fault);
/* With the record as it is. */
void ab_exchange_turn_away(struct ab_conn *conn, struct ab_request_record *r);
/* Its body has a placeholder of another host's. */
void ab_exchange_trip(struct ab_conn *conn);
/* Not a request that could be judged. */
void ab_exchange_refuse(struct ab_conn *conn, int status, const char *why);
/* Nothing can be said any more: by a reset. */
void ab_exchange_cut(struct ab_conn *conn, const char *why);
/* No more requests on this connection. */
void ab_exchange_end(struct ab_conn *conn);
void ab_exchange_close_server(struct ab_conn *conn);
/* What is under way: the request, or the tunnel that it is in; false: nothing. */
bool ab_exchange_describe(const struct ab_conn *conn, struct ab_request_record *ret);
extern const struct ab_conn_kind ab_exchange_kind;

#endif
