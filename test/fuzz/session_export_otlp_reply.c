/*
 * Any bytes as the answer of a collector: the outcome is final once the connection is closed, more
 * bytes do not change one that was final before, and what it says is bounded.
 */
#include "session/export/otlp_reply.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	case AB_OTLP_MORE:
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

/* A copy of exactly this size: reading past it is seen. */
static struct ab_otlp_reply read_copy(const uint8_t *data, size_t size, bool eof)
{
	struct ab_otlp_reply r;
	char *s = malloc(size ? size : 1);

	if (size)
		memcpy(s, data, size);
	ab_otlp_reply_read(s, size, eof, &r);
	check_reply(&r);
	free(s);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_otlp_reply whole = read_copy(data, size, true), r;

	check(whole.outcome != AB_OTLP_MORE);
	for (size_t n = 0; n <= size; n += 1 + n / 16) {
		r = read_copy(data, n, false);
		if (r.outcome == AB_OTLP_MORE)
			continue;
		check(r.outcome == whole.outcome && r.status == whole.status &&
		      r.rejected == whole.rejected && r.wait_ms == whole.wait_ms);
		return 0;
	}
	return 0;
}
