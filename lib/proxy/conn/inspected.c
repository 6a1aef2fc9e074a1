#include "proxy/conn/inspected.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "proxy/io/tls.h"
#include "proxy/secrets/scrub.h"
#include "proxy/secrets/vault.h"

void ab_insight_init(struct ab_insight *insight, const struct ab_strv *intercepted)
{
	if (!intercepted || !intercepted->len)
		return;
	insight->hosts = ab_alloc(intercepted->len * sizeof(insight->hosts[0]));
	for (size_t i = 0; i < intercepted->len; i++) {
		const char *s = intercepted->v[i];

		/* They were entries of the policy, so they are well-formed. */
		if (ab_host_entry_parse(s, strlen(s), &insight->hosts[insight->nhosts], NULL) == 0)
			insight->nhosts++;
	}
}

struct ab_insight_scrub {
	uint64_t secrets; /* those of the host: bits */
	struct ab_scrub *scrub;
};

static void forget_scrubs(struct ab_insight *insight)
{
	for (size_t i = 0; i < insight->nscrubs; i++)
		ab_scrub_free(insight->scrubs[i].scrub);
	free(ab_take(insight->scrubs));
	insight->nscrubs = 0;
}

static uint64_t secrets_of(const struct ab_insight *insight, const struct ab_host *host,
			   uint16_t port)
{
	uint64_t set = 0;

	_Static_assert(AB_SECRETS_MAX <= 64, "a bit for each");
	for (size_t i = 0; i < ab_vault_len(insight->vault); i++)
		if (ab_vault_bound(insight->vault, i, host, port))
			set |= 1ULL << i;
	return set;
}

struct ab_scrub *ab_insight_scrub(struct ab_insight *insight, const struct ab_host *host,
				  uint16_t port)
{
	uint64_t set = secrets_of(insight, host, port);
	struct ab_scrub *scrub;

	if (!set)
		return NULL;
	for (size_t i = 0; i < insight->nscrubs; i++)
		if (insight->scrubs[i].secrets == set)
			return ab_scrub_hold(insight->scrubs[i].scrub);
	scrub = ab_scrub_new(insight->vault, host, port);
	insight->scrubs =
		ab_realloc(insight->scrubs, (insight->nscrubs + 1) * sizeof(insight->scrubs[0]));
	insight->scrubs[insight->nscrubs++] = (struct ab_insight_scrub){ set, scrub };
	return ab_scrub_hold(scrub);
}

void ab_insight_renew(struct ab_insight *insight, size_t i, const char *value, size_t len)
{
	struct ab_error err;

	if (insight->vault && ab_vault_set(insight->vault, i, value, len, &err) == 0)
		forget_scrubs(insight);
}

void ab_insight_fini(struct ab_insight *insight)
{
	forget_scrubs(insight);
	free(insight->hosts);
	ab_vault_free(insight->vault);
	ab_tls_site_free(insight->site);
	*insight = (struct ab_insight){ 0 };
}

bool ab_insight_covers(const struct ab_insight *insight, const struct ab_host *host, uint16_t port)
{
	for (size_t i = 0; i < insight->nhosts; i++)
		if (ab_host_entry_allows(&insight->hosts[i], host, port))
			return true;
	return false;
}

const char *ab_insight_secret(const struct ab_insight *insight, int i)
{
	return i < 0 ? "" : ab_vault_at(insight->vault, (size_t)i)->secret->name;
}

void ab_insight_trip(const struct ab_insight *insight, int i)
{
	if (i >= 0 && ab_vault_at(insight->vault, (size_t)i)->secret->stop)
		insight->tripped(insight->arg, (size_t)i);
}

/* A secret without a provider goes by its own name. */
static bool goes_by(const struct ab_secret *secret, const char *name, size_t len)
{
	const char *own = secret->provider ? secret->provider->name : secret->name;

	if (strlen(own) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (tolower((unsigned char)own[i]) != name[i])
			return false;
	return true;
}

/* Where the gateway leads to: one host, so no wildcard. */
static bool leads_to(const struct ab_secret *secret, struct ab_host *ret_host, uint16_t *ret_port)
{
	const char *base = secret->provider ? secret->provider->base_host : NULL;
	struct ab_host_entry e;

	for (size_t i = 0; i < secret->hosts.len; i++) {
		const char *s = secret->hosts.v[i];

		if (ab_host_entry_parse(s, strlen(s), &e, NULL) < 0 || e.below)
			continue;
		if (base && *base && strcmp(base, e.host.text) != 0)
			continue;
		*ret_host = e.host;
		*ret_port = e.port ? e.port : 443;
		return true;
	}
	return false;
}

bool ab_insight_route(const struct ab_insight *insight, const char *path, size_t len,
		      struct ab_host *ret_host, uint16_t *ret_port, size_t *ret_skip)
{
	size_t end = 1;

	if (!insight->vault || !len || path[0] != '/')
		return false;
	while (end < len && path[end] != '/' && path[end] != '?')
		end++;
	for (size_t i = 0; i < ab_vault_len(insight->vault); i++) {
		const struct ab_secret *secret = ab_vault_at(insight->vault, i)->secret;

		if (secret->via == AB_VIA_TLS || !goes_by(secret, path + 1, end - 1) ||
		    !leads_to(secret, ret_host, ret_port))
			continue;
		*ret_skip = end;
		return true;
	}
	return false;
}
