#pragma once
/*
 * Requests of the box to a token URL (RFC 6749, RFC 7523). Each is answered here, with
 * placeholders, and never sent: the host exchanges the real credential in requests of its own.
 * Pure.
 */
#include "policy/values/host.h"
#include "proxy/wire/http.h"

struct ab_vault;

enum { AB_TOKEN_BODY_MAX = 64 * 1024 };

/* What a client asks for: texts without NUL, or NULL. The fields are named after the parameters. */
struct ab_token_request {
	char *grant_type, *refresh_token, *client_id, *client_secret, *assertion, *scope;
};

/* A form or an object of JSON, as the head says. NULL, or what is wrong with it. */
const char *ab_token_request_read(const struct ab_http_head *head, const void *body, size_t len,
				  struct ab_token_request *ret);
void ab_token_request_fini(struct ab_token_request *request); /* wipes */

/* Is a token URL of the vault's secrets on this host? */
bool ab_token_has_url(const struct ab_vault *vault, const struct ab_host *host, uint16_t port);

/* What a path of that host is, in normal form (policy/values/urlpath.h) and without a query. */
enum ab_token_path {
	AB_TOKEN_OTHER,
	AB_TOKEN_URL,
	AB_TOKEN_LIKE_URL, /* a server may take it for the token URL, or it is below that */
};
enum ab_token_path ab_token_path(const struct ab_vault *vault, const struct ab_host *host,
				 uint16_t port, const char *path);

/*
 * Which secret's access token does it ask for, at this URL and time (wall clock, in seconds)? It
 * must prove that it has the placeholder: of the refresh token, the client secret or the private
 * key. -1: *ret_why says why it gets none.
 */
int ab_token_find(const struct ab_vault *vault, const struct ab_host *host, uint16_t port,
		  const char *path, const struct ab_token_request *request, int64_t now,
		  const char **ret_why);

/* The answer for that secret, head and body. */
void ab_token_answer(struct ab_buf *out, const struct ab_vault *vault, size_t i);
