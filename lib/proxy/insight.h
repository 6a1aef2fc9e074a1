#ifndef AB_PROXY_INSIGHT_H
#define AB_PROXY_INSIGHT_H
/*
 * What the proxy looks into, and with what: hosts that have a secret or a rule
 * about methods and paths, the secrets, the run's certificate authority. All
 * zero where there is nothing of the kind. Private to lib/proxy.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"
#include "policy/http_rules.h"

struct ab_strv;
struct ab_tls_site;
struct ab_vault;

struct ab_insight {
	struct ab_vault *vault;		/* or NULL */
	struct ab_tls_site *site;	/* or NULL */
	struct ab_http_rules rules;
	struct ab_host_entry *hosts;	/* each with a port */
	size_t nhosts;
	void (*stale)(void *arg, size_t i);
	void (*tripped)(void *arg, size_t i);
	void *arg;
};

/* The vault and the site are its own then. */
void ab_insight_init(struct ab_insight *insight,
		     const struct ab_strv *intercepted);
void ab_insight_fini(struct ab_insight *insight);

/* Is what goes to this host and port looked into? */
bool ab_insight_covers(const struct ab_insight *insight,
		       const struct ab_host *host, uint16_t port);

/* The name of a secret, for people; "" for none (-1). */
const char *ab_insight_secret(const struct ab_insight *insight, int i);
/* A placeholder of secret i was on its way elsewhere. */
void ab_insight_trip(const struct ab_insight *insight, int i);

/*
 * The gateway: "/openai/v1/models" is "/v1/models" of the provider's host. Is
 * there such a way? *ret_skip: how many bytes of the path name it.
 */
bool ab_insight_route(const struct ab_insight *insight, const char *path,
		      size_t len, struct ab_host *ret_host, uint16_t *ret_port,
		      size_t *ret_skip);

#endif
