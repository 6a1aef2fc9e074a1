#ifndef AB_PROXY_DIAL_DIAL_H
#define AB_PROXY_DIAL_DIAL_H
/*
 * From an allowed host to a connected socket: the name is resolved once
 * (proxy/dial/resolver.h), every address of the answer is checked, and the checked
 * ones are tried, the families taking turns, the next one after 250 ms or on
 * failure (RFC 8305). One answer in a denied range refuses the name.
 *
 * With an upstream proxy the name goes to that one, by CONNECT, and the
 * address check is its own. The upstream is the user's own setting and may be
 * anywhere. A literal target is checked also then; loopback, localhost and
 * what NO_PROXY names are dialled directly.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/system/loop.h"
#include "policy/values/host.h"
#include "proxy/dial/upstream.h"
#include "proxy/filter/filter.h"

struct ab_error;

enum ab_dial_result {
	AB_DIAL_OK,
	AB_DIAL_NO_NAME,   /* the name does not exist, or has no address */
	AB_DIAL_NO_ANSWER, /* no resolver answered */
	AB_DIAL_FORBIDDEN, /* it leads to a denied range: see verdict */
	AB_DIAL_FAILED,	   /* errnum of the last address */
	AB_DIAL_TIMEOUT,
	AB_DIAL_UPSTREAM, /* the upstream proxy refused: its status; 0: it
				 * hung up, or did not answer as a proxy does */
};

struct ab_dialled {
	enum ab_dial_result result;
	int fd;			   /* with OK: connected, non-blocking, not watched
				 * by any loop; the callee owns it */
	int errnum;		   /* with FAILED */
	int status;		   /* with UPSTREAM */
	bool upstream;		   /* it was, or was to be, the upstream proxy */
	struct ab_host address;	   /* the one reached, forbidden, or failed last; the
				 * upstream's own. Else its text is "" */
	struct ab_verdict verdict; /* with FORBIDDEN; its entry lives as long
					 * as the call */
};

struct ab_dialer;
struct ab_dial;

typedef void (*ab_dialled_fn)(void *arg, struct ab_dialled *result);

struct ab_dialer_setup {
	struct ab_loop *loop;
	/* Called for each address of an answer. */
	bool (*check)(void *arg, const struct ab_host *addr, uint16_t port, struct ab_verdict *ret);
	void *arg;
	const struct ab_upstream *upstream; /* or NULL */

	/* For tests; NULL and 0: the system's files, port 53. */
	const char *resolv_conf, *hosts;
	uint16_t dns_port;
};

/* Opens nothing yet: that waits for the first name. */
int ab_dialer_new(const struct ab_dialer_setup *setup, struct ab_dialer **ret,
		  struct ab_error *err);
/* Dials that are under way are cancelled. Not from inside a callback; the
 * loop lives longer. */
void ab_dialer_free(struct ab_dialer *dialer);

/*
 * Start. `fn` is called once, never from inside this call, unless the dial is
 * cancelled before. `http`: the request will be a plain one in absolute form,
 * so an upstream proxy is reached but not asked for a tunnel.
 */
struct ab_dial *ab_dial_start(struct ab_dialer *dialer, const struct ab_host *host, uint16_t port,
			      bool http, ab_dialled_fn fn, void *arg);
/* At any time until `fn` is called, also from inside the fn of another dial.
 * The dial is gone when `fn` returns. */
void ab_dial_cancel(struct ab_dial *dial);

#endif
