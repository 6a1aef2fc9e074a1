#ifndef AB_PROXY_CONN_INSPECTED_H
#define AB_PROXY_CONN_INSPECTED_H
/*
 * What the proxy looks into, and with what: hosts that have a secret or a rule
 * about methods and paths, the secrets, the run's certificate authority. All
 * zero where there is nothing of the kind. Private to lib/proxy.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/model/http_rules.h"
#include "policy/values/host.h"

struct ab_scrub;
struct ab_strv;
struct ab_tls_site;
struct ab_vault;

struct ab_inspection {
	struct ab_vault *vault;	  /* or NULL */
	struct ab_tls_site *site; /* or NULL */
	struct ab_http_rules rules;
	struct ab_host_entry *hosts; /* each with a port */
	size_t nhosts;
	struct ab_inspection_scrub *scrubs; /* made once for each set of secrets */
	size_t nscrubs;
	void (*stale)(void *arg, size_t i);
	void (*tripped)(void *arg, size_t i);
	void *arg;
};

/* The vault and the site are its own then. */
void ab_inspection_init(struct ab_inspection *inspection, const struct ab_strv *intercepted);
void ab_inspection_fini(struct ab_inspection *inspection);

/* Is what goes to this host and port looked into? */
bool ab_inspection_covers(const struct ab_inspection *inspection, const struct ab_host *host,
			  uint16_t port);

/* What searches the answers of this host; NULL: it has no secret. To be given
 * back by ab_scrub_free(). */
struct ab_scrub *ab_inspection_scrub(struct ab_inspection *inspection, const struct ab_host *host,
				     uint16_t port);
/* A secret's new value; one that the vault does not take changes nothing. */
void ab_inspection_renew(struct ab_inspection *inspection, size_t i, const char *value, size_t len);

/* The name of a secret, for people; "" for none (-1). */
const char *ab_inspection_secret(const struct ab_inspection *inspection, int i);
/* A placeholder of secret i was on its way elsewhere. */
void ab_inspection_trip(const struct ab_inspection *inspection, int i);

/*
 * The gateway: "/openai/v1/models" is "/v1/models" of the provider's host. Is
 * there such a way? *ret_skip: how many bytes of the path name it.
 */
bool ab_inspection_route(const struct ab_inspection *inspection, const char *path, size_t len,
			 struct ab_host *ret_host, uint16_t *ret_port, size_t *ret_skip);

#endif
