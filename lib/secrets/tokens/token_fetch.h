#pragma once
/*
 * Gets an access token from a token URL, over TLS that is checked against this
 * machine's roots, through the upstream proxy if the policy has one. In a process of
 * its own: it waits, at most AB_TOKEN_FETCH_MS for each try and for other runs.
 */
#include "base/base.h"

struct ab_policy;
struct ab_secret;

#define AB_TOKEN_FETCH_MS 30000

struct ab_token_text {
	const char *s; /* NULL: none */
	size_t len;
};

struct ab_token_setup {
	const struct ab_secret *secret; /* part 0 */
	const struct ab_policy *policy;
	char *const *environ;
	int state;			 /* the state folder */
	struct ab_token_text credential; /* what is exchanged */
	struct ab_token_text login;	 /* the client secret of a refresh token */
};

/* *ret_expires: wall clock, in seconds; 0: the service does not say. The caller wipes and frees the
 * token. */
int ab_token_fetch(const struct ab_token_setup *setup, char **ret_token, int64_t *ret_expires,
		   struct ab_error *err);
