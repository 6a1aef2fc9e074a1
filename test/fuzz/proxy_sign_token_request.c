/*
 * Any bytes as a request for tokens, as a form, as JSON and with any Authorization field: what is
 * read is text, and it gets a token only with a placeholder, which no input has.
 */
#include "proxy/sign/token_request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "proxy/io/tls_rsa.h"
#include "proxy/secrets/vault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool right)
{
	if (!right)
		abort();
}

#define URL .url = "https://a.test/t", .port = 443, .path = "/t", .host = { .text = "a.test" }
static const struct ab_oauth grants[] = { { .grant = AB_OAUTH_REFRESH, URL },
					  { .grant = AB_OAUTH_CLIENT, URL },
					  { .grant = AB_OAUTH_ACCOUNT, URL } };
#define TWO(n, i)                                                                  \
	{ .name = n, .oauth = &grants[i], .life = AB_LIFE_RUN },                   \
	{                                                                          \
		.name = n "1", .oauth = &grants[i], .part = 1, .life = AB_LIFE_RUN \
	}
static const struct ab_secret secrets[] = { TWO("R", 0), TWO("C", 1), TWO("A", 2) };

static struct ab_vault *make_vault(void)
{
	static const struct ab_secrets all = { .v = secrets, .len = AB_COUNT(secrets) };
	struct ab_vault *vault;
	struct ab_error err;
	struct ab_rsa *key;

	check(ab_vault_new(&all, NULL, &vault, &err) == 0 && ab_rsa_new(&key, &err) == 0);
	for (size_t i = 0; i < AB_COUNT(secrets); i++)
		check(ab_vault_reserve(vault, i, &err) == 0);
	ab_vault_keep_key(vault, 5, key);
	return vault;
}

static void read_as(const struct ab_vault *vault, const char *type, const uint8_t *login, size_t n,
		    const uint8_t *body, size_t len)
{
	static const struct ab_host host = { .text = "a.test" };
	struct ab_http_head head = { .nfields = 2 };
	struct ab_token_request rq;
	char *copy = malloc(len ? len : 1);
	const char *why;

	head.fields[0] = (struct ab_http_field){ .name = { "content-type", 12 },
						 .value = { type, strlen(type) } };
	head.fields[1] = (struct ab_http_field){ .name = { "authorization", 13 },
						 .value = { (const char *)login, n } };
	if (len)
		memcpy(copy, body, len);
	if (!ab_token_request_read(&head, copy, len, &rq)) {
		check(ab_token_find(vault, &host, 443, "/t", &rq, 1700000000, &why) < 0 && why);
		ab_token_request_fini(&rq);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ab_vault *vault;
	const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
	size_t n = line ? (size_t)(line - data) : 0;
	const uint8_t *body = line ? line + 1 : data;

	if (!vault)
		vault = make_vault();
	read_as(vault, "application/json", data, n, body, size - (size_t)(body - data));
	read_as(vault, "application/x-www-form-urlencoded", data, n, body,
		size - (size_t)(body - data));
	return 0;
}
