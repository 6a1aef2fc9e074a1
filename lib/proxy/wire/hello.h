#pragma once
/*
 * Detects the protocol of a client's first bytes, and reads the name in a TLS
 * ClientHello. Pure. The hello may be split over any number of TLS records and
 * reads; pass all bytes received so far each time.
 */
#include "policy/values/host.h"

enum { AB_HELLO_MAX = 32 * 1024 }; /* no client sends a longer hello */

enum ab_first {
	AB_FIRST_MORE,	/* undecided */
	AB_FIRST_TLS,	/* a whole ClientHello: see ret */
	AB_FIRST_HTTP,	/* some server accepts it as HTTP/1 or 0.9 */
	AB_FIRST_HTTP2, /* the preface of HTTP/2 without TLS */
	AB_FIRST_OTHER, /* neither */
	AB_FIRST_BAD,	/* some server accepts it as TLS, but it is malformed */
};

struct ab_hello {
	bool has_name;
	bool ech;	     /* it contains an encrypted hello */
	bool h2;	     /* it offers HTTP/2 */
	struct ab_host name; /* server_name, if has_name */
	size_t used;	     /* its length with record headers */
};

/* The client's first bytes. MORE ends at AB_HELLO_MAX; every other result is
 * final, whatever follows. Writes `ret` with TLS only. */
enum ab_first ab_hello_detect(const uint8_t *data, size_t len, struct ab_hello *ret);
/* The same if only a hello is valid: TLS, MORE or BAD. */
enum ab_first ab_hello_read(const uint8_t *data, size_t len, struct ab_hello *ret);

/* Does some server accept it as a space? Within a line also a carriage return. */
bool ab_hello_blank(uint8_t c);

/*
 * A TLS 1.3 server may ask for a second hello (HelloRetryRequest), and some
 * (nginx) then use the name in that one. So after the `used` bytes of the first
 * hello, hold the client's bytes until ab_hello_retry says NO for the server's
 * first bytes. After YES, hold them until ab_hello_again has found the second
 * hello, and check its name too. It skips change_cipher_spec and early data
 * before that hello.
 */
enum ab_retry { AB_RETRY_MORE, AB_RETRY_NO, AB_RETRY_YES };
enum ab_retry ab_hello_retry(const uint8_t *data, size_t len);
enum ab_first ab_hello_again(const uint8_t *data, size_t len, struct ab_hello *ret);
