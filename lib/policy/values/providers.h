#ifndef AB_POLICY_VALUES_PROVIDERS_H
#define AB_POLICY_VALUES_PROVIDERS_H
/*
 * Known service keys, by the name of their variable: the hosts they are for, how
 * they are sent, what they look like, and other variables that clients read.
 * With this table `--secret NAME` is enough.
 */
#include <stdbool.h>
#include <stddef.h>

/* How a request carries a value. */
enum ab_carrier_kind {
	AB_CARRY_BEARER, /* Authorization: Bearer VALUE */
	AB_CARRY_TOKEN,	 /* Authorization: token VALUE */
	AB_CARRY_BASIC,	 /* Authorization: Basic, VALUE as the password */
	AB_CARRY_HEADER, /* NAME: VALUE */
	AB_CARRY_QUERY,	 /* ?NAME=VALUE */
};

/* The name of a header or a parameter, with the NUL. */
enum { AB_CARRIER_NAME = 64 };

struct ab_carrier {
	enum ab_carrier_kind kind;
	char name[AB_CARRIER_NAME]; /* header (lower case) or parameter */
};

/* "bearer", "token", "basic", "header:x-api-key", "query:key" */
enum { AB_CARRIER_TEXT = 80 };
void ab_carrier_format(const struct ab_carrier *c, char ret[AB_CARRIER_TEXT]);

/* How many of each a row can have, and the size of its texts. */
enum {
	AB_PROVIDER_NAMES = 4,
	AB_PROVIDER_HOSTS = 5,
	AB_PROVIDER_CARRIERS = 3,
	AB_PROVIDER_PREFIXES = 6,
	AB_PROVIDER_FILES = 2,
	AB_PROVIDER_WORD = 32,
	AB_PROVIDER_HOST = 40,
};

/*
 * The texts are in the row itself, and "" means none: a table of pointers would
 * have to be relocated at every start.
 */
struct ab_provider {
	char name[12];	/* "openai"; also its path at the gateway */
	char title[16]; /* "OpenAI" */
	/* Variables, the usual one first. */
	char names[AB_PROVIDER_NAMES][AB_PROVIDER_WORD];
	/* Canonical entries, for port 443. */
	char hosts[AB_PROVIDER_HOSTS][AB_PROVIDER_HOST];
	struct ab_carrier carriers[AB_PROVIDER_CARRIERS];
	size_t ncarriers;
	/* What real values start with ("sk-"): a placeholder keeps the longest
	 * one that its value has. */
	char prefixes[AB_PROVIDER_PREFIXES][16];
	/* The gateway; "": the SDKs have no variable for it. */
	char base_variable[AB_PROVIDER_WORD]; /* "OPENAI_BASE_URL" */
	char base_path[8];		      /* what follows the name: "/v1" */
	char base_host[AB_PROVIDER_HOST];     /* where the gateway connects to */
	/* Some clients add "/v1" to the base URL and others do not: what of the
	 * service lies below it, separated by blanks. */
	char endpoints[128];
	/* Files in which clients keep such a value ("~/.config/gh/hosts.yml").
	 * They may hold other values too, so a file is shown only if the policy
	 * declares it. */
	char files[AB_PROVIDER_FILES][AB_PROVIDER_HOST];
};

extern const struct ab_provider ab_providers[];
extern const size_t ab_nproviders;

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
};
extern const struct ab_uncovered ab_uncovered[];
extern const size_t ab_nuncovered;

/* Why no placeholder can replace the value of this variable: it is not sent; NULL:
 * one can. */
const char *ab_uncovered_why(const char *variable);
/* The settings that let the proxy use it all the same; NULL: there are none. */
const char *ab_uncovered_remedy(const char *variable);

#endif
