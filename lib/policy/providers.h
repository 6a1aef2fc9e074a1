#ifndef AB_POLICY_PROVIDERS_H
#define AB_POLICY_PROVIDERS_H
/*
 * Services whose keys are known by the name of a variable: to which hosts they
 * belong, how they travel, what they look like, and which other variables
 * clients read. A table, so that `--secret NAME` is enough.
 */
#include <stddef.h>

/* How a value travels in a request. */
enum ab_carrier_kind {
	AB_CARRY_BEARER,	/* Authorization: Bearer VALUE */
	AB_CARRY_TOKEN,		/* Authorization: token VALUE */
	AB_CARRY_BASIC,		/* Authorization: Basic, VALUE as the password */
	AB_CARRY_HEADER,	/* NAME: VALUE */
	AB_CARRY_QUERY,		/* ?NAME=VALUE */
};

struct ab_carrier {
	enum ab_carrier_kind kind;
	const char *name;	/* of header (lower case) or parameter; else NULL */
};

/* "bearer", "token", "basic", "header:x-api-key", "query:key" */
enum { AB_CARRIER_TEXT = 80 };
void ab_carrier_format(const struct ab_carrier *c, char ret[AB_CARRIER_TEXT]);

enum { AB_PROVIDER_HOSTS = 6, AB_PROVIDER_CARRIERS = 4, AB_PROVIDER_NAMES = 4,
       AB_PROVIDER_PREFIXES = 6 };

struct ab_provider {
	const char *name;	/* "openai": also its place at the gateway */
	const char *title;	/* "OpenAI" */
	const char *names[AB_PROVIDER_NAMES];	/* variables; first the usual one */
	const char *hosts[AB_PROVIDER_HOSTS];	/* canonical entries; port 443 */
	struct ab_carrier carriers[AB_PROVIDER_CARRIERS];
	size_t ncarriers;
	/* What real values begin with ("sk-"): a placeholder keeps the longest
	 * one that its value has. */
	const char *prefixes[AB_PROVIDER_PREFIXES];
	/* The gateway: NULL where SDKs have no variable for it. */
	const char *base_variable;	/* "OPENAI_BASE_URL" */
	const char *base_path;		/* what it has behind the name: "/v1" */
	const char *base_host;		/* where the gateway leads to */
	/* Files in which clients keep such a value ("~/.config/gh/hosts.yml"),
	 * NULL-terminated, may be NULL. */
	const char *const *files;
};

extern const struct ab_provider ab_providers[];
extern const size_t ab_nproviders;

/* By any of its variables; NULL: not known. */
const struct ab_provider *ab_provider_find(const char *variable);
/* By its own name (`len` bytes). */
const struct ab_provider *ab_provider_named(const char *name, size_t len);

/* Credentials that no placeholder can stand for: the value never travels, it
 * signs (AWS, GCP). For warnings. */
struct ab_uncovered {
	const char *variable;	/* or NULL */
	const char *file;	/* "~/.aws/credentials", or NULL */
	const char *what;	/* "AWS keys sign requests" */
};
extern const struct ab_uncovered ab_uncovered[];
extern const size_t ab_nuncovered;

#endif
