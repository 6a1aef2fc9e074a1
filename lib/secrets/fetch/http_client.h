#pragma once
/*
 * One HTTP request at a time to one server: dial, TLS handshake, send, read until the answer is
 * complete, close. The user chose the server, so its address is not checked; its certificate is,
 * against the roots of this machine and of the policy. Its answers are hostile.
 */
#include "proxy/wire/http_reply.h"

struct ab_host;
struct ab_http_client;
struct ab_loop;
struct ab_policy;
struct ab_upstream;

struct ab_http_client_setup { /* lives as long as the client */
	struct ab_loop *loop;
	const char *who; /* for messages: "the collector" */
	const struct ab_host *host;
	uint16_t port;
	bool tls;
	struct ab_upstream *upstream; /* or NULL */
	/* which roots */
	const struct ab_policy *policy;
	char *const *environ;
};

/* Reads the roots. Afterwards the process may confine itself (fetcher.h). */
int ab_http_client_new(const struct ab_http_client_setup *setup, struct ab_http_client **ret,
		       struct ab_error *err);

/*
 * `done` is called once, after the connection is closed, and may send the next request. `reply`:
 * any but AB_REPLY_MORE, valid during the call; NULL: there is none, and `why` says why. `request`
 * must live until then. At most `ms` pass.
 */
typedef void ab_http_client_done(void *arg, const struct ab_http_reply *reply, const char *why);
void ab_http_client_send(struct ab_http_client *client, const struct ab_buf *request, unsigned ms,
			 ab_http_client_done *done, void *arg);
