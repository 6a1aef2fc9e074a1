/*
 * Any bytes as the answer of a collector: the outcome is final once the connection is closed, more
 * bytes do not change one that was final before, and what it says is bounded.
 */
#include "export/otlp_reply.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/wire/http_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool right)
{
	if (!right)
		abort();
}

static void check_reply(const struct ab_otlp_reply *r)
{
	check(r->wait_ms <= 300 * 1000);
	switch (r->outcome) {
	case AB_OTLP_NO_REPLY:
		check(!r->status && !r->rejected && !r->wait_ms);
		return;
	case AB_OTLP_TAKEN:
		check(r->status >= 200 && r->status < 300);
		return;
	case AB_OTLP_AGAIN:
	case AB_OTLP_REFUSED:
		check(r->status >= 300 && r->status <= 999 && !r->rejected);
		return;
	}
	abort();
}

/* A copy of exactly this size: reading past it is seen. Whether it is complete. */
static bool read_copy(const uint8_t *data, size_t size, bool eof, struct ab_otlp_reply *ret)
{
	struct ab_http_reply http;
	bool complete;
	char *s = malloc(size ? size : 1);

	if (size)
		memcpy(s, data, size);
	ab_http_reply_read(s, size, eof, AB_HTTP_REPLY_MOST, &http);
	complete = http.end != AB_REPLY_MORE;
	check(complete || !eof);
	check(http.body.len <= size && (!http.status || http.status >= 200));
	check((http.end == AB_REPLY_WHOLE) == !ab_http_reply_why(&http));
	ab_otlp_reply_read(&http, ret);
	check_reply(ret);
	ab_http_reply_fini(&http);
	free(s);
	return complete;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_otlp_reply whole, r;

	read_copy(data, size, true, &whole);
	for (size_t n = 0; n <= size && n < AB_HTTP_REPLY_MOST; n += 1 + n / 16) {
		if (!read_copy(data, n, false, &r))
			continue;
		check(r.outcome == whole.outcome && r.status == whole.status &&
		      r.rejected == whole.rejected && r.wait_ms == whole.wait_ms);
		return 0;
	}
	return 0;
}
