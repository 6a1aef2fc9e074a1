#ifndef AB_TEST_PROXY_FIRST_H
#define AB_TEST_PROXY_FIRST_H
/* At which byte a decision about first bytes is made. */
#include "proxy/wire/hello.h"
#include "proxy_bytes.h"
#include "tap.h"

static const char *const first_names[] = {
	[AB_FIRST_MORE] = "more",    [AB_FIRST_TLS] = "TLS",	 [AB_FIRST_HTTP] = "HTTP",
	[AB_FIRST_HTTP2] = "HTTP/2", [AB_FIRST_OTHER] = "other", [AB_FIRST_BAD] = "bad",
};

typedef enum ab_first (*look_fn)(const uint8_t *data, size_t len, struct ab_hello *ret);

/* More before `decided` bytes, and `want` from there on: whether all of that
 * is so for every prefix. */
static inline bool decides(look_fn look, const uint8_t *data, size_t len, enum ab_first want,
			   size_t decided)
{
	struct ab_hello h;

	for (size_t n = 0; n <= len; n++) {
		enum ab_first r = look(guarded(data, n), n, &h);

		if (r == (n < decided ? AB_FIRST_MORE : want))
			continue;
		printf("# %s after %zu of %zu bytes\n", first_names[r], n, len);
		return false;
	}
	return true;
}

#endif
