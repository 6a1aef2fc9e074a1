/*
 * Any bytes as messages of a SOCKS client: what is consumed was there, a cut
 * message is never decided differently, and a host that is accepted is the
 * whole of what was sent.
 */
#include "proxy/wire/socks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ssize_t greeting(const uint8_t *data, size_t size)
{
	uint8_t method = 0x55;
	ssize_t n = ab_socks_greeting(data, size, &method);

	if (n > (ssize_t)size || (n > 0 && method != 0 && method != 0xff) ||
	    (n <= 0 && method != 0x55))
		abort();
	return n;
}

static void check_host(const uint8_t *data, const struct ab_socks_request *r)
{
	struct ab_host again;
	size_t n = strlen(r->host.text);

	if (r->port == 0 || n == 0 || ab_host_parse(r->host.text, n, &again, NULL) < 0 ||
	    again.kind != r->host.kind || memcmp(again.addr, r->host.addr, 16) != 0)
		abort();
	/* A name: as long as it was sent, but for the dot at the end. */
	if (data[3] == 3 && r->host.kind == AB_HOST_NAME && n != data[4] && n + 1 != data[4])
		abort();
}

static ssize_t request(const uint8_t *data, size_t size)
{
	struct ab_socks_request r = { .port = 0 };
	ssize_t n = ab_socks_request(data, size, &r);

	if (n > (ssize_t)size || (n > 0 && n < 4))
		abort();
	if (n > 0 && r.reply == AB_SOCKS_OK)
		check_host(data, &r);
	return n;
}

/* Decided at some length, and the same from there on. */
static void cut(const uint8_t *data, size_t size, ssize_t (*parse)(const uint8_t *, size_t))
{
	ssize_t whole = parse(data, size);

	for (size_t n = 0; n < size; n++) {
		/* A copy of exactly this size: reading past it is seen. */
		uint8_t *copy = malloc(n ? n : 1);
		ssize_t part;

		memcpy(copy, data, n);
		part = parse(copy, n);
		free(copy);
		if (part != 0 && part != whole)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 300)
		return 0;
	cut(data, size, greeting);
	cut(data, size, request);
	return 0;
}
