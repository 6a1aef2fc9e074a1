/*
 * Any bytes as the answer of a token URL: the outcome is final once the connection is closed, more
 * bytes do not change one that was final before, and tokens have the form that they must have.
 */
#include "secrets/tokens/token_reply.h"

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

static void check_token(const char *s)
{
	check(strlen(s) >= 8 && strlen(s) <= 16 * 1024);
	for (; *s; s++)
		check(*s > ' ' && *s <= '~');
}

static void check_reply(const struct ab_token_reply *r)
{
	check(r->expires_in >= 0 && r->expires_in <= 366 * 24 * 3600);
	check(memchr(r->error, '\0', sizeof(r->error)) != NULL);
	check((r->outcome == AB_TOKEN_GRANTED) == (r->access[0] != '\0'));
	check((r->outcome == AB_TOKEN_BAD) == (r->why[0] != '\0'));
	check(!r->refresh[0] || r->access[0]);
	if (r->access[0])
		check_token(r->access);
	if (r->refresh[0])
		check_token(r->refresh);
}

/* A copy of exactly this size: reading past it is seen. Whether it is complete. */
static bool read_copy(const uint8_t *data, size_t size, bool eof, enum ab_token_outcome *ret)
{
	struct ab_http_reply http;
	struct ab_token_reply r;
	bool complete;
	char *s = malloc(size ? size : 1);

	if (size)
		memcpy(s, data, size);
	ab_http_reply_read(s, size, eof, AB_HTTP_REPLY_MOST, &http);
	complete = http.end != AB_REPLY_MORE;
	check(complete || !eof);
	ab_token_reply_read(&http, &r);
	check_reply(&r);
	*ret = r.outcome;
	ab_http_reply_fini(&http);
	free(s);
	return complete;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum ab_token_outcome whole, r;

	read_copy(data, size, true, &whole);
	for (size_t n = 0; n <= size && n < AB_HTTP_REPLY_MOST; n += 1 + n / 16) {
		if (!read_copy(data, n, false, &r))
			continue;
		check(r == whole);
		return 0;
	}
	return 0;
}
