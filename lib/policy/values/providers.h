#pragma once
/*
 * Known service keys, by the name of their variable: the hosts they are for, how
 * they are sent, what they look like, and other variables that clients read.
 * With this table `--secret NAME` is enough.
 */
#include "agents/provider.h"

/* "bearer", "token", "basic", "header:x-api-key", "query:key" */
enum { AB_CARRIER_TEXT = 80 };
void ab_carrier_format(const struct ab_carrier *c, char ret[AB_CARRIER_TEXT]);

/* In the order of their names. NULL: there are no more. */
const struct ab_provider *ab_provider_at(size_t index);

/* Find by any of its variables; NULL: unknown. */
const struct ab_provider *ab_provider_find(const char *variable);
/* Find by one of its hosts, with or without a port. */
const struct ab_provider *ab_provider_of_host(const char *host);

/*
 * What a gateway's path lacks or has too often. `rest` is what follows the route:
 * "/messages" needs "/v1" before it (*ret_before), and of "/v1/v1/models" the first
 * three bytes are skipped (*ret_skip).
 */
void ab_provider_version(const struct ab_provider *provider, const char *rest, size_t len,
			 const char **ret_before, size_t *ret_skip);

/* Where a provider's access tokens are issued. */
struct ab_token_endpoint {
	char provider[12];
	char url[56];
	bool json; /* it expects JSON, not a form */
};

/* That of a provider, which may be NULL, or the one for Google's service
 * accounts. NULL: not known. */
const struct ab_token_endpoint *ab_token_endpoint_find(const struct ab_provider *provider,
						       bool service_account);

/* Credentials that no placeholder can replace, because they are not sent but
 * sign (AWS, GCP). For warnings. */
struct ab_uncovered {
	const char *variable; /* or NULL */
	const char *file;     /* "~/.aws/credentials", or NULL */
	const char *what;     /* "AWS keys sign requests" */
	bool signs;	      /* the variable holds or names a key that signs */
	const char *remedy;   /* the settings that let the proxy use it all the same, or NULL */
};
extern const struct ab_uncovered ab_uncovered[];
extern const size_t ab_nuncovered;

/* The row of this variable; NULL: there is none. */
const struct ab_uncovered *ab_uncovered_of(const char *variable);
