#pragma once
/*
 * From an allowed host to a connected socket: resolves the name once
 * (proxy/dial/resolver.h), checks every address, and tries them with the
 * families alternating, the next one after 250 ms or on failure (RFC 8305).
 * One address in a denied range denies the name.
 *
 * An upstream proxy gets the name by CONNECT, and checks addresses itself. Its
 * own address is not checked, because the user chose it. A literal target is
 * checked even then; loopback, localhost and the hosts in NO_PROXY are dialled
 * directly.
 */
#include "base/system/loop.h"
#include "policy/values/host.h"
#include "proxy/dial/resolver.h"
#include "proxy/dial/upstream.h"
#include "proxy/filter/filter.h"

enum ab_dial_result {
	AB_DIAL_OK,
	AB_DIAL_NO_NAME,   /* the name does not exist, or has no address */
	AB_DIAL_NO_ANSWER, /* no resolver answered */
	AB_DIAL_FORBIDDEN, /* it resolves to a denied range: see verdict */
	AB_DIAL_FAILED,	   /* errnum of the last address */
	AB_DIAL_TIMEOUT,
	/* The upstream proxy refused: its status; 0: it closed the connection
	 * or did not reply as a proxy. */
	AB_DIAL_UPSTREAM,
};

struct ab_dialled {
	enum ab_dial_result result;
	/* With OK: connected, non-blocking, not in any loop; the callee owns it. */
	int fd;
	int errnum;    /* with FAILED */
	int status;    /* with UPSTREAM */
	bool upstream; /* dialled through the upstream proxy */
	/* The address reached, forbidden, or failed last; or the upstream's.
	 * Else its text is "". */
	struct ab_host address;
	/* With FORBIDDEN; its entry is valid during the call. */
	struct ab_verdict verdict;
};

struct ab_dialer;
struct ab_dial;

typedef void (*ab_dialled_fn)(void *arg, struct ab_dialled *result);

struct ab_dialer_setup {
	struct ab_resolver_setup resolver;
	/* May this address be dialled? Called for each. */
	bool (*check)(void *arg, const struct ab_host *addr, uint16_t port, struct ab_verdict *ret);
	void *arg;
	const struct ab_upstream *upstream; /* or NULL */
};

/* Opens no file or socket before the first name. */
int ab_dialer_new(const struct ab_dialer_setup *setup, struct ab_dialer **ret,
		  struct ab_error *err);
/* Cancels the dials in progress. Mustn't be called from a callback; the loop
 * must outlive it. */
void ab_dialer_free(struct ab_dialer *dialer);

/*
 * `fn` is called once, never from inside this call, unless the dial is cancelled
 * before. `http`: the request will have an absolute URL, so an upstream proxy is
 * not asked for a tunnel.
 */
struct ab_dial *ab_dial_start(struct ab_dialer *dialer, const struct ab_host *host, uint16_t port,
			      bool http, ab_dialled_fn fn, void *arg);
/* Allowed until `fn` is called, also from the fn of another dial. The dial is
 * freed when `fn` returns. */
void ab_dial_cancel(struct ab_dial *dial);
