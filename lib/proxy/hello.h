#ifndef AB_PROXY_HELLO_H
#define AB_PROXY_HELLO_H
/*
 * What a client's first bytes are, and the name in a TLS ClientHello. Pure.
 * The hello may be split over any number of TLS records and any number of
 * reads; the bytes seen so far are given each time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"

enum { AB_HELLO_MAX = 32 * 1024 };	/* more is no hello of anybody */

enum ab_first {
	AB_FIRST_MORE,		/* cannot be told yet */
	AB_FIRST_TLS,		/* a whole ClientHello: see ret */
	AB_FIRST_HTTP,		/* begins with a method and a space */
	AB_FIRST_HTTP2,		/* HTTP/2 in clear, by its preface */
	AB_FIRST_OTHER,		/* neither */
	AB_FIRST_BAD,		/* begins as TLS and then is malformed */
};

struct ab_hello {
	bool has_name;
	bool ech;		/* an encrypted hello is inside */
	struct ab_host name;	/* of server_name, if has_name */
};

enum ab_first ab_hello_look(const uint8_t *data, size_t len,
			    struct ab_hello *ret);

#endif
