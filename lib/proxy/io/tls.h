#ifndef AB_PROXY_IO_TLS_H
#define AB_PROXY_IO_TLS_H
/*
 * TLS for hosts that are looked into: towards the box we are the host, with a
 * certificate of the run's own authority; towards the host we are a client
 * that checks it against this machine's roots. Nothing here runs, and the
 * library is not initialised, before the first ab_tls_site_new().
 *
 * The authority is a P-256 key that exists in memory only, constrained to the
 * names it is made for. A leaf is made once per name. TLS 1.2 and later,
 * HTTP/1.1 only.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/data/strv.h"
#include "policy/values/host.h"

struct ab_error;
struct ab_side;
struct ab_tls_site;
struct ab_tls;

struct ab_tls_setup {
	/* Names for the constraint: canonical host entries, wildcards too. */
	const struct ab_strv *hosts;
	/* PEM text of the roots that servers are checked against; copied. It
	 * is parsed when the first server is dialled. */
	const char *roots;
	size_t roots_len;
};

/* Made before the supervisor is locked in, used by one thread at a time. */
int ab_tls_site_new(const struct ab_tls_setup *setup, struct ab_tls_site **ret,
		    struct ab_error *err);
void ab_tls_site_free(struct ab_tls_site *site); /* wipes the key */
/* The authority's certificate, PEM with a final newline; and DER. */
const char *ab_tls_site_pem(const struct ab_tls_site *site);
const uint8_t *ab_tls_site_der(const struct ab_tls_site *site, size_t *ret_len);

enum ab_tls_end {
	AB_TLS_OK,
	AB_TLS_WAIT,   /* for the socket: side->readable or writable is false */
	AB_TLS_FAILED, /* ab_tls_why() says why */
};

/*
 * One end of one connection. It reads and writes the socket of `side` itself
 * and clears side->readable and side->writable as the socket says EAGAIN.
 * What was read already, raw, is taken out of side->in when it is made.
 *
 * accept: towards the box, as `name`. A client that speaks no HTTP/1.1 (ALPN
 * without it) fails with ab_tls_no_http1().
 * connect: to the host `name`, which its certificate must have.
 * Both always give an end; what is wrong, the handshake says. side->out must be
 * empty before: from now on it is what TLS carries. The side lives longer.
 */
struct ab_tls *ab_tls_accept(struct ab_tls_site *site, struct ab_side *side,
			     const struct ab_host *name);
struct ab_tls *ab_tls_connect(struct ab_tls_site *site, struct ab_side *side,
			      const struct ab_host *name);
void ab_tls_free(struct ab_tls *tls);

enum ab_tls_end ab_tls_handshake(struct ab_tls *tls);
/* One clause about the last failure: "its certificate has expired". For a
 * client's end: "the client does not trust the box's certificate authority". */
const char *ab_tls_why(const struct ab_tls *tls);
bool ab_tls_no_http1(const struct ab_tls *tls);

/*
 * >0 bytes; 0: the peer has ended properly; -1 with errno EAGAIN, or another
 * one: broken (an end without close_notify is ECONNRESET, wrong bytes are
 * EPROTO). Both go on until nothing more can be done at once.
 *
 * EAGAIN: `readable` or `writable` of the side is false. It is nearly always
 * that of the direction, but a read may wait for room to write and a write
 * for bytes: after EAGAIN call again at the side's next event, whichever it
 * is, and not in a loop over one flag.
 * After a write that could not take all, the next one begins with the bytes
 * that were not taken, at the same or another address, and has no fewer.
 */
ssize_t ab_tls_read(struct ab_tls *tls, void *data, size_t len);
ssize_t ab_tls_write(struct ab_tls *tls, const void *data, size_t len);
/* A read would not need the socket: bytes, or the end, wait in memory and no
 * event will tell of them. False after a read that said EAGAIN. */
bool ab_tls_pending(const struct ab_tls *tls);
/* We send no more: close_notify. False: the socket is full, call again at the
 * side's next event. */
bool ab_tls_shut(struct ab_tls *tls);

/* How often the library was initialised in this process: 0 or 1. */
unsigned ab_tls_initialised(void);

#endif
