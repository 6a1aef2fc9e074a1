#include "proxy/conn/inspected.h"

#include <ctype.h>

#include "proxy/io/tls.h"
#include "proxy/record/events.h"
#include "proxy/secrets/scrub.h"
#include "proxy/secrets/vault.h"

void ab_inspection_init(struct ab_inspection *inspection, const struct ab_strv *intercepted)
{
	if (!intercepted || !intercepted->len)
		return;
	inspection->hosts = ab_alloc(intercepted->len * sizeof(inspection->hosts[0]));
	for (size_t i = 0; i < intercepted->len; i++) {
		const char *s = intercepted->v[i];

		/* The policy has validated these entries. */
		if (ab_host_entry_parse(s, strlen(s), &inspection->hosts[inspection->nhosts],
					NULL) == 0)
			inspection->nhosts++;
	}
}

struct ab_scrub *ab_inspection_scrub(struct ab_inspection *inspection, const struct ab_host *host,
				     uint16_t port)
{
	uint64_t set = ab_vault_bound_all(inspection->vault, host, port);

	return set ? ab_scrub_of(&inspection->scrubs, inspection->vault, set) : NULL;
}

struct ab_inspection_failure {
	char *why;
	uint64_t at;
};

/* A source is read again after this time, not sooner. */
enum { FAILURE_MS = 5000 };

static void forget_failure(struct ab_inspection *inspection, size_t i)
{
	if (inspection->failures)
		free(ab_take(inspection->failures[i].why));
}

bool ab_inspection_renew(struct ab_inspection *inspection, size_t i, const char *value, size_t len)
{
	struct ab_error err;

	if (!inspection->vault || i >= ab_vault_len(inspection->vault) ||
	    ab_vault_set(inspection->vault, i, value, len, &err) < 0)
		return false;
	ab_scrubs_renew(inspection->scrubs);
	forget_failure(inspection, i);
	return true;
}

void ab_inspection_fail(struct ab_inspection *inspection, size_t i, const char *why, uint64_t now)
{
	if (!inspection->vault || i >= ab_vault_len(inspection->vault))
		return;
	if (!inspection->failures)
		inspection->failures =
			ab_alloc(ab_vault_len(inspection->vault) * sizeof(inspection->failures[0]));
	forget_failure(inspection, i);
	inspection->failures[i] = (struct ab_inspection_failure){ ab_strdup(why), now };
}

const char *ab_inspection_failure(const struct ab_inspection *inspection, size_t i, uint64_t now)
{
	const struct ab_inspection_failure *f =
		inspection->failures ? &inspection->failures[i] : NULL;

	return f && f->why && now - f->at < FAILURE_MS ? f->why : NULL;
}

void ab_inspection_fini(struct ab_inspection *inspection)
{
	ab_scrubs_free(inspection->scrubs);
	for (size_t i = 0; inspection->failures && i < ab_vault_len(inspection->vault); i++)
		forget_failure(inspection, i);
	ab_free_all(inspection->failures, inspection->hosts);
	ab_vault_free(inspection->vault);
	ab_tls_site_free(inspection->site);
	*inspection = (struct ab_inspection){ 0 };
}

bool ab_inspection_covers(const struct ab_inspection *inspection, const struct ab_host *host,
			  uint16_t port)
{
	for (size_t i = 0; i < inspection->nhosts; i++)
		if (ab_host_entry_allows(&inspection->hosts[i], host, port))
			return true;
	return false;
}

const char *ab_inspection_secret(const struct ab_inspection *inspection, int i)
{
	return i < 0 ? "" : ab_vault_at(inspection->vault, (size_t)i)->secret->name;
}

void ab_inspection_trip(const struct ab_inspection *inspection, int i, bool clear)
{
	if (i >= 0 && ab_vault_at(inspection->vault, (size_t)i)->secret->stop)
		inspection->setup->tripped(inspection->setup->arg, (size_t)i, clear);
}

/* A secret without a provider has its own name as route. */
static bool has_route_name(const struct ab_secret *secret, const char *name, size_t len)
{
	const char *own = secret->provider ? secret->provider->name : secret->name;

	if (strlen(own) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (tolower((unsigned char)own[i]) != name[i])
			return false;
	return true;
}

/* The host behind the route: the first that is not a wildcard. */
static bool find_route_host(const struct ab_secret *secret, struct ab_host *ret_host,
			    uint16_t *ret_port)
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

bool ab_inspection_route(const struct ab_inspection *inspection, const char *path, size_t len,
			 struct ab_host *ret_host, uint16_t *ret_port, size_t *ret_skip,
			 const char **ret_before)
{
	size_t end = 1, more;

	if (!inspection->vault || !len || path[0] != '/')
		return false;
	while (end < len && path[end] != '/' && path[end] != '?')
		end++;
	for (size_t i = 0; i < ab_vault_len(inspection->vault); i++) {
		const struct ab_secret *secret = ab_vault_at(inspection->vault, i)->secret;

		if (secret->via == AB_VIA_TLS || !has_route_name(secret, path + 1, end - 1) ||
		    !find_route_host(secret, ret_host, ret_port))
			continue;
		ab_provider_version(secret->provider, path + end, len - end, ret_before, &more);
		*ret_skip = end + more;
		return true;
	}
	return false;
}
