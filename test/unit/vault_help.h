#ifndef AB_TEST_VAULT_HELP_H
#define AB_TEST_VAULT_HELP_H
/*
 * A vault with a few made-up secrets, each with a way to travel of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "proxy/secrets/scrub.h"
#include "proxy/secrets/vault.h"

/* The order is that of help_secrets. */
enum {
	HELP_BEARER, /* api.one.test: bearer, or Basic */
	HELP_HEADER, /* api.one.test: header x-api-key or query key */
	HELP_ANY,    /* any.test: anywhere, path and body too */
	HELP_OTHER,  /* other.test: bearer */
	HELP_COUNT,
};

static const struct ab_provider help_provider = {
	.name = "one",
	.prefixes = { "sk-", "sk-one-" },
};

static const struct ab_carrier help_login[] = { { .kind = AB_CARRY_BEARER },
						{ .kind = AB_CARRY_BASIC } };
static const struct ab_carrier help_bearer[] = { { .kind = AB_CARRY_BEARER } };
static const struct ab_carrier help_key[] = { { AB_CARRY_HEADER, "x-api-key" },
					      { AB_CARRY_QUERY, "key" } };

static char help_hosts[][24] = { "api.one.test:443", "*.up.one.test:8443", "any.test:443",
				 "other.test:443" };
static char *help_one[] = { help_hosts[0], help_hosts[1] };
static char *help_any[] = { help_hosts[2] };
static char *help_other[] = { help_hosts[3] };

static struct ab_secret help_secrets[HELP_COUNT] = {
	{ .name = "ONE_TOKEN",
	  .provider = &help_provider,
	  .hosts = { .v = help_one, .len = 2 },
	  .carriers = help_login,
	  .ncarriers = AB_COUNT(help_login) },
	{ .name = "ONE_KEY",
	  .hosts = { .v = help_one, .len = 2 },
	  .carriers = help_key,
	  .ncarriers = AB_COUNT(help_key) },
	{ .name = "ANY_KEY",
	  .hosts = { .v = help_any, .len = 1 },
	  .in_path = true,
	  .in_body = true },
	{ .name = "OTHER_KEY",
	  .hosts = { .v = help_other, .len = 1 },
	  .carriers = help_bearer,
	  .ncarriers = AB_COUNT(help_bearer) },
};

static const char *const help_values[HELP_COUNT] = {
	"sk-one-3fK9vQ2mZx7Lw0TgYb5NdR8c",
	"0123+abc/DEF=ghi%25\"q\\z",
	"short-value",
	"other-value-of-another-host-0001",
};

static const uint8_t help_seed[AB_VAULT_SEED] ab_unterminated = "thirty-two bytes, all made up...";

/* The user replaced their placeholders so often. */
static inline struct ab_vault *help_vault_rotated(unsigned times)
{
	static const struct ab_secrets secrets = { help_secrets, HELP_COUNT };
	struct ab_vault *vault;
	struct ab_error err;

	if (ab_vault_new(&secrets, help_seed, &vault, &err) < 0)
		abort();
	for (size_t i = 0; i < HELP_COUNT; i++) {
		ab_vault_rotated(vault, i, times);
		if (ab_vault_set(vault, i, help_values[i], strlen(help_values[i]), &err) < 0)
			abort();
	}
	return vault;
}

static inline struct ab_vault *help_vault(void)
{
	return help_vault_rotated(0);
}

static inline struct ab_host help_host(const char *name)
{
	struct ab_host host;

	if (ab_host_parse(name, strlen(name), &host, NULL) < 0)
		abort();
	return host;
}

/* What searches the answers of this host; NULL: it has no secret. */
static inline struct ab_scrub *help_scrub(const struct ab_vault *vault, const struct ab_host *host,
					  uint16_t port)
{
	uint64_t secrets = ab_vault_bound_all(vault, host, port);
	struct ab_scrub *list = NULL;

	return secrets ? ab_scrub_of(&list, vault, secrets) : NULL;
}

/* The template with $0 to $9 as placeholders, @0 to @9 as values. */
static inline char *help_fill(const struct ab_vault *vault, const char *s)
{
	char *text = ab_strdup("");

	for (; *s; s++) {
		const struct ab_vault_entry *e = NULL;
		char *more;

		if ((*s == '$' || *s == '@') && s[1] >= '0' && s[1] <= '9')
			e = ab_vault_at(vault, (size_t)(s[1] - '0'));
		if (e)
			more = ab_printf("%s%.*s", text,
					 (int)(*s == '$' ? e->placeholder_len : e->value_len),
					 *s == '$' ? e->placeholder : e->value);
		else
			more = ab_printf("%s%c", text, *s);
		s += e != NULL;
		free(text);
		text = more;
	}
	return text;
}

#endif
