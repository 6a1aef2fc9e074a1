#pragma once
/*
 * Inspection: hosts with a secret or with a rule about methods and paths, the
 * secrets, and the run's certificate authority. All zero if there are none.
 * Private to lib/proxy.
 */
#include "policy/model/http_rules.h"
#include "policy/values/host.h"

struct ab_scrub;
struct ab_tls_site;
struct ab_vault;

struct ab_inspection {
	struct ab_vault *vault;	     /* or NULL */
	struct ab_tls_site *site;    /* or NULL */
	struct ab_host_entry *hosts; /* each with a port */
	size_t nhosts;
	struct ab_scrub *scrubs; /* one per set of secrets */
	/* Why the value of a secret could not be got, and when (loop time); by
	 * secret, NULL: there was no failure since the last value. */
	struct ab_inspection_failure *failures;
	const struct ab_proxy_setup *setup;
};

/* The inspection owns the vault and the site afterwards. */
void ab_inspection_init(struct ab_inspection *inspection, const struct ab_strv *intercepted);
void ab_inspection_fini(struct ab_inspection *inspection);

/* Is traffic to this host and port inspected? */
bool ab_inspection_covers(const struct ab_inspection *inspection, const struct ab_host *host,
			  uint16_t port);

/* The scrub for this host's responses, for the whole run; NULL: it has no secret. */
struct ab_scrub *ab_inspection_scrub(struct ab_inspection *inspection, const struct ab_host *host,
				     uint16_t port);
/* A secret's new value. false: the vault rejects it, and the old one stays. */
bool ab_inspection_renew(struct ab_inspection *inspection, size_t i, const char *value, size_t len);
/* It could not be got. */
void ab_inspection_fail(struct ab_inspection *inspection, size_t i, const char *why, uint64_t now);
/* Why it could not, if that was so recently that it was not tried again; else NULL. */
const char *ab_inspection_failure(const struct ab_inspection *inspection, size_t i, uint64_t now);

/* The name of a secret; "" for none (-1). */
const char *ab_inspection_secret(const struct ab_inspection *inspection, int i);
/* A placeholder of secret i was sent to another host, or over plain HTTP (`clear`) to its own. */
void ab_inspection_trip(const struct ab_inspection *inspection, int i, bool clear);

/*
 * The gateway: "/openai/v1/models" is "/v1/models" on the provider's host. Does
 * the path name a route? *ret_skip: length of what is left out of the path;
 * *ret_before: what the rest of it lacks ("/v1"), or "".
 */
bool ab_inspection_route(const struct ab_inspection *inspection, const char *path, size_t len,
			 struct ab_host *ret_host, uint16_t *ret_port, size_t *ret_skip,
			 const char **ret_before);
