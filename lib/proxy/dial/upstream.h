#ifndef AB_PROXY_DIAL_UPSTREAM_H
#define AB_PROXY_DIAL_UPSTREAM_H
/*
 * An upstream proxy: where it is, which hosts do not go through it, and the
 * bytes of CONNECT. Pure; nothing here touches a socket.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/values/host.h"

struct ab_error;

struct ab_upstream {
	struct ab_host host;
	uint16_t port;
	char *credentials; /* "Basic ..." or NULL; never printed */
	char *bypass;	   /* the caller's NO_PROXY, or NULL */
};

/* A URL as policy/values/proxy_url.h takes it. What is wrong is said without it: it may
 * hold a password. */
int ab_upstream_parse(const char *url, struct ab_upstream **ret, struct ab_error *err);

/* The one that this environment ("K=V", up to NULL) asks for, with its
 * NO_PROXY. NULL when it asks for none. */
int ab_upstream_from_env(char *const *env, struct ab_upstream **ret, struct ab_error *err);
void ab_upstream_free(struct ab_upstream *upstream);

/* Is this host dialled directly? Loopback always is. NO_PROXY: names (and
 * those below them), .name, *.name, addresses and ranges, each with or without
 * a port; "*" is every host. */
bool ab_upstream_bypasses(const struct ab_upstream *upstream, const struct ab_host *host,
			  uint16_t port);

/* The request for a tunnel. The caller frees it: it holds the credentials. */
char *ab_upstream_request(const struct ab_upstream *upstream, const struct ab_host *host,
			  uint16_t port);

enum { AB_UPSTREAM_HEAD = 16 * 1024 }; /* longer heads are malformed */

/* The answer's head: >0 its length, with the status; 0: more is needed; <0:
 * malformed. */
ssize_t ab_upstream_reply(const char *data, size_t len, int *ret_status);

#endif
