#pragma once
/*
 * An upstream proxy: its address, the hosts that bypass it, and the text of
 * CONNECT requests and replies. Pure.
 */
#include "policy/values/host.h"

struct ab_upstream {
	struct ab_host host;
	uint16_t port;
	char *credentials; /* "Basic ..." or NULL; never printed */
	char *bypass;	   /* the caller's NO_PROXY, or NULL */
	const char *from;  /* the setting or variable that names it, for people */
};

/* A URL as in policy/values/proxy_url.h. The error does not quote it: it may
 * contain a password. */
int ab_upstream_parse(const char *url, struct ab_upstream **ret, struct ab_error *err);

/* The proxy that this environment ("K=V", NULL-terminated) names, with its
 * NO_PROXY; NULL: none. */
int ab_upstream_from_env(char *const *env, struct ab_upstream **ret, struct ab_error *err);
/* As network.upstream says: "none", "env", or a URL. *ret stays as it is without one. */
int ab_upstream_choose(const char *setting, char *const *env, struct ab_upstream **ret,
		       struct ab_error *err);
void ab_upstream_free(struct ab_upstream *upstream);

/* Is this host dialled directly? Loopback always is. NO_PROXY: names (and names
 * below them), .name, *.name, addresses and ranges, each with or without a
 * port; "*" means every host. */
bool ab_upstream_bypasses(const struct ab_upstream *upstream, const struct ab_host *host,
			  uint16_t port);

/* The request for a tunnel. The caller wipes and frees it: it contains the
 * credentials. */
char *ab_upstream_request(const struct ab_upstream *upstream, const struct ab_host *host,
			  uint16_t port);

enum { AB_UPSTREAM_HEAD = 16 * 1024 }; /* longer heads are malformed */

/* Parse the reply's head: >0 its length, with the status; 0: incomplete; <0:
 * malformed. */
ssize_t ab_upstream_reply(const char *data, size_t len, int *ret_status);
