#pragma once
/*
 * The address of an upstream proxy, http://[user[:password]@]host:port. It may
 * contain a password, so output, records and errors have it only in the form of
 * ab_proxy_url_redact.
 *
 * Pure: no I/O; views point into the given text.
 */
#include "policy/values/host.h"

struct ab_complaint;

struct ab_proxy_url {
	struct ab_host host;
	uint16_t port;
	const char *user; /* "user:password", still percent-encoded */
	size_t user_len;  /* 0: none */
};

/* `why` never quotes the text. */
int ab_proxy_url_parse(const char *s, size_t len, struct ab_proxy_url *ret_url,
		       struct ab_complaint *why);
/* The canonical text, with the password; free it. */
char *ab_proxy_url_format(const struct ab_proxy_url *url);
/* A canonical text, or a word, with *** for everything before the @; free it. */
char *ab_proxy_url_redact(const char *text);
