#pragma once
/*
 * TLS for inspected hosts. Towards the box the proxy acts as the host, with a
 * certificate of the run's own authority; towards the host it is a client that
 * verifies the host against this machine's roots. The library is not
 * initialised before the first ab_tls_site_new().
 *
 * The authority is a P-256 key that exists in memory only, constrained to the
 * inspected names. A leaf is created once per name. TLS 1.2 and later, HTTP/1.1
 * and HTTP/2.
 */
#include "policy/values/host.h"

struct ab_side;
struct ab_tls_site;
struct ab_tls;

struct ab_tls_setup {
	/* For the name constraint: canonical host entries, wildcards too. */
	const struct ab_strv *hosts;
	/* PEM text of the root certificates; copied. It is parsed when the
	 * first server is dialled. */
	const char *roots;
	size_t roots_len;
};

/* Create it before the supervisor restricts itself; used by one thread at a
 * time. */
int ab_tls_site_new(const struct ab_tls_setup *setup, struct ab_tls_site **ret,
		    struct ab_error *err);
void ab_tls_site_free(struct ab_tls_site *site); /* wipes the key */
/* The authority's certificate, PEM with a final newline; and DER. */
const char *ab_tls_site_pem(const struct ab_tls_site *site);
const uint8_t *ab_tls_site_der(const struct ab_tls_site *site, size_t *ret_len);

enum ab_tls_protocols { /* any of them */
			AB_TLS_HTTP1 = 1,
			AB_TLS_H2 = 2,
};

enum ab_tls_end {
	AB_TLS_OK,
	AB_TLS_WAIT,   /* for the socket: side->readable or writable is false */
	AB_TLS_FAILED, /* see ab_tls_why() */
};

/*
 * One end of one connection. It reads and writes the socket of `side` itself
 * and clears side->readable and side->writable when the socket returns EAGAIN.
 * Bytes already in side->in are taken over as ciphertext.
 *
 * accept: towards the box, as `name`. A client whose ALPN has none of `protocols`
 * fails with ab_tls_no_protocol(); of both, HTTP/1.1 is preferred.
 * connect: to the host `name`, which its certificate must contain.
 * Both always return an end; errors appear in the handshake. side->out must be
 * empty before; afterwards it holds plaintext. The side must outlive the end.
 */
struct ab_tls *ab_tls_accept(struct ab_tls_site *site, struct ab_side *side,
			     const struct ab_host *name, unsigned protocols);
struct ab_tls *ab_tls_connect(struct ab_tls_site *site, struct ab_side *side,
			      const struct ab_host *name, unsigned protocols);
void ab_tls_free(struct ab_tls *tls);

enum ab_tls_end ab_tls_handshake(struct ab_tls *tls);
/* The reason for the last failure: "its certificate has expired". For the end
 * towards the box: "the client does not trust the box's certificate
 * authority". */
const char *ab_tls_why(const struct ab_tls *tls);
bool ab_tls_no_protocol(const struct ab_tls *tls);
/* Was HTTP/2 negotiated? */
bool ab_tls_is_h2(const struct ab_tls *tls);

/*
 * >0: bytes; 0: the peer has ended properly; -1 with errno EAGAIN, or another
 * error (end without close_notify: ECONNRESET; invalid bytes: EPROTO). Both
 * work until they would block.
 *
 * EAGAIN: `readable` or `writable` of the side is false, usually that of the
 * direction. But a read may wait for room to write and a write for bytes: after
 * EAGAIN call again at the side's next event of either kind, not in a loop over
 * one flag.
 * After a partial write, the next one must begin with the remaining bytes, at
 * the same or another address, and must not be shorter.
 */
ssize_t ab_tls_read(struct ab_tls *tls, void *data, size_t len);
ssize_t ab_tls_write(struct ab_tls *tls, const void *data, size_t len);
/* Can it be read without the socket? Bytes or the end are in memory, and no
 * event will report them. False after a read that returned EAGAIN. */
bool ab_tls_pending(const struct ab_tls *tls);
/* Send close_notify. False: the socket is full, call again at the side's next
 * event. */
bool ab_tls_shut(struct ab_tls *tls);

/* For tests: how often the library was initialised, 0 or 1. */
unsigned ab_tls_initialised(void);
