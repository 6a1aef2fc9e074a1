#ifndef AB_PROXY_WIRE_HELLO_H
#define AB_PROXY_WIRE_HELLO_H
/*
 * What a client's first bytes are, and the name in a TLS ClientHello. Pure.
 * The hello may be split over any number of TLS records and any number of
 * reads; the bytes seen so far are given each time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/values/host.h"

enum { AB_HELLO_MAX = 32 * 1024 }; /* more is no hello of anybody */

enum ab_first {
	AB_FIRST_MORE,	/* cannot be told yet */
	AB_FIRST_TLS,	/* a whole ClientHello: see ret */
	AB_FIRST_HTTP,	/* what some server takes for HTTP/1 or 0.9 */
	AB_FIRST_HTTP2, /* HTTP/2 in clear, by its preface */
	AB_FIRST_OTHER, /* neither */
	AB_FIRST_BAD,	/* TLS to some server, but not as it must be */
};

struct ab_hello {
	bool has_name;
	bool ech;	     /* an encrypted hello is inside */
	struct ab_host name; /* of server_name, if has_name */
	size_t used;	     /* its bytes, with the headers of records */
};

/* The client's first bytes. MORE ends at AB_HELLO_MAX; every other answer
 * holds whatever follows. `ret` is written with TLS only. */
enum ab_first ab_hello_look(const uint8_t *data, size_t len, struct ab_hello *ret);
/* The same where only a hello may be: TLS, MORE or BAD. */
enum ab_first ab_hello_read(const uint8_t *data, size_t len, struct ab_hello *ret);

/*
 * A server of TLS 1.3 may ask for a second hello (HelloRetryRequest), and then
 * servers (nginx) take the name from that one. So after the first hello, of
 * which `used` bytes are passed, the client's bytes wait until the server's
 * first bytes say NO; after YES they wait until ab_hello_again has found the
 * second hello, and its name is checked like that of the first. It skips what
 * may stand before it: change_cipher_spec and early data.
 */
enum ab_retry { AB_RETRY_MORE, AB_RETRY_NO, AB_RETRY_YES };
enum ab_retry ab_hello_retry(const uint8_t *data, size_t len);
enum ab_first ab_hello_again(const uint8_t *data, size_t len, struct ab_hello *ret);

#endif
