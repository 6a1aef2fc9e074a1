#include "proxy/filter/filter.h"

#include "proxy/filter/hostset.h"
#include "proxy/filter/ranges.h"

struct origin {
	const char *entry, *from;
};

struct ab_filter {
	struct ab_hostset allow, deny, lift, quiet;
	struct ab_hostset most; /* no other host can be allowed, if `bounded` */
	bool bounded;
	struct ab_arena texts;
	struct origin *origins; /* of the deny list, sorted by entry */
	size_t norigins;
	struct ab_verdict other; /* for hosts on no list */
};

static int compare_origin(const void *a, const void *b)
{
	return strcmp(((const struct origin *)a)->entry, ((const struct origin *)b)->entry);
}

static void keep_origins(struct ab_filter *filter, const struct ab_policy *policy)
{
	const struct ab_strv *deny = &policy->net.deny, *from = &policy->net.deny_from;
	const char *last = NULL, *copy = NULL;

	if (deny->len == 0 || deny->len != from->len)
		return;
	filter->norigins = deny->len;
	filter->origins = ab_alloc(deny->len * sizeof(filter->origins[0]));
	for (size_t i = 0; i < deny->len; i++) {
		if (!last || strcmp(last, from->v[i]) != 0)
			copy = ab_arena_dup(&filter->texts, from->v[i]);
		last = from->v[i];
		filter->origins[i] =
			(struct origin){ ab_arena_dup(&filter->texts, deny->v[i]), copy };
	}
	qsort(filter->origins, filter->norigins, sizeof(filter->origins[0]), compare_origin);
}

static const char *find_origin(const struct ab_filter *filter, const char *entry)
{
	struct origin key = { .entry = entry };
	const struct origin *found = filter->norigins
					     ? bsearch(&key, filter->origins, filter->norigins,
						       sizeof(filter->origins[0]), compare_origin)
					     : NULL;

	return found && found->from[0] ? found->from : NULL;
}

struct ab_filter *ab_filter_new(const struct ab_policy *policy)
{
	static const struct ab_verdict others[] = {
		[AB_UNKNOWN_DENY] = { AB_ACCESS_DENY, AB_BASIS_NONE, "" },
		[AB_UNKNOWN_ASK] = { AB_ACCESS_ASK, AB_BASIS_NONE, "" },
		[AB_UNKNOWN_LEARN] = { AB_ACCESS_ALLOW, AB_BASIS_LEARNED, "" },
	};
	struct ab_filter *filter = ab_alloc(sizeof(*filter));

	ab_hostset_init(&filter->allow, &policy->net.allow);
	ab_hostset_init(&filter->deny, &policy->net.deny);
	ab_hostset_init(&filter->lift, &policy->net.allow_private);
	ab_hostset_init(&filter->most, &policy->net.most);
	filter->bounded = policy->net.bounded;
	ab_hostset_init(&filter->quiet, &policy->net.quiet);
	keep_origins(filter, policy);
	filter->other = others[policy->net.unknown];
	return filter;
}

void ab_filter_free(struct ab_filter *filter)
{
	if (!filter)
		return;
	ab_each(struct ab_hostset *, ab_hostset_fini, &filter->allow, &filter->deny, &filter->lift,
		&filter->most, &filter->quiet);
	ab_arena_fini(&filter->texts);
	ab_free_all(filter->origins, filter);
}

static int compare_own(const void *a, const void *b)
{
	const struct ab_addr *x = a, *y = b;

	if (x->v6 != y->v6)
		return x->v6 ? 1 : -1;
	return memcmp(x->addr, y->addr, x->v6 ? 16 : 4);
}

void ab_own_sort(struct ab_own *own)
{
	if (own->len)
		qsort(own->v, own->len, sizeof(own->v[0]), compare_own);
}

static bool is_own(const struct ab_own *own, const struct ab_host *host)
{
	struct ab_addr key = { .v6 = host->kind == AB_HOST_IPV6 };

	memcpy(key.addr, host->addr, sizeof(key.addr));
	return own->len && bsearch(&key, own->v, own->len, sizeof(own->v[0]), compare_own);
}

static bool set_verdict(struct ab_verdict *ret, enum ab_access access, enum ab_basis basis,
			const char *entry)
{
	*ret = (struct ab_verdict){ access, basis, entry, NULL };
	return access != AB_ACCESS_DENY;
}

static bool set_denied(const struct ab_filter *filter, struct ab_verdict *ret, const char *entry)
{
	set_verdict(ret, AB_ACCESS_DENY, AB_BASIS_DENY, entry);
	ret->from = find_origin(filter, entry);
	return false;
}

/* For a list where an entry without port means every port. */
static const char *find_any_port(const struct ab_hostset *set, const struct ab_host *host,
				 uint16_t port)
{
	const char *entry = ab_hostset_find(set, host, 0);

	return entry || !port ? entry : ab_hostset_find(set, host, port);
}

/* `any`: with some port. */
static const char *find_allowed(const struct ab_hostset *set, const struct ab_host *host,
				uint16_t port, bool any)
{
	const char *entry = any ? ab_hostset_find(set, host, AB_HOSTSET_ANY_PORT) : NULL;

	if (!entry && ab_port_usual(port))
		entry = ab_hostset_find(set, host, 0);
	return entry || !port ? entry : ab_hostset_find(set, host, port);
}

/* false: denied by a range or the deny list, whatever the allow list says. */
static bool may_be_allowed(const struct ab_filter *filter, const struct ab_own *own,
			   const struct ab_host *host, uint16_t port, struct ab_verdict *ret)
{
	const struct ab_range *range;
	const char *entry;

	if (host->kind != AB_HOST_NAME) {
		range = ab_range_find(host);
		if ((range || is_own(own, host)) && !find_any_port(&filter->lift, host, port))
			return set_verdict(ret, AB_ACCESS_DENY,
					   range ? AB_BASIS_RANGE : AB_BASIS_OWN,
					   range ? range->text : "");
	}
	entry = find_any_port(&filter->deny, host, port);
	return !entry || set_denied(filter, ret, entry);
}

/* For a host that the other lists do not decide about. */
static bool is_quiet(const struct ab_filter *filter, const struct ab_host *host, uint16_t port,
		     struct ab_verdict *ret)
{
	const char *entry = filter->other.access == AB_ACCESS_ALLOW
				    ? NULL
				    : find_any_port(&filter->quiet, host, port);

	if (entry)
		set_verdict(ret, AB_ACCESS_DENY, AB_BASIS_QUIET, entry);
	return entry != NULL;
}

void ab_filter_other(const struct ab_filter *filter, struct ab_verdict *ret)
{
	*ret = filter->other;
}

/* Of a host that no range and no entry of the deny list denies; `any`: with some port. */
static bool judge_allowed(const struct ab_filter *filter, const struct ab_host *host, uint16_t port,
			  bool any, struct ab_verdict *ret)
{
	const char *entry = find_allowed(&filter->allow, host, port, any);

	if (filter->bounded && !find_allowed(&filter->most, host, port, any))
		return set_verdict(ret, AB_ACCESS_DENY, AB_BASIS_BOUND, "");
	if (entry)
		return set_verdict(ret, AB_ACCESS_ALLOW, AB_BASIS_ALLOW, entry);
	if (is_quiet(filter, host, port, ret))
		return false;
	*ret = filter->other;
	entry = ab_hostset_find(&filter->allow, host, AB_HOSTSET_ANY_PORT);
	if (entry && ret->basis == AB_BASIS_NONE)
		set_verdict(ret, ret->access, AB_BASIS_PORT, entry);
	return ret->access != AB_ACCESS_DENY;
}

void ab_filter_judge(const struct ab_filter *filter, const struct ab_own *own,
		     const struct ab_host *host, uint16_t port, struct ab_verdict *ret)
{
	if (may_be_allowed(filter, own, host, port, ret))
		judge_allowed(filter, host, port, false, ret);
}

bool ab_filter_resolvable(const struct ab_filter *filter, const struct ab_host *name,
			  struct ab_verdict *ret)
{
	const char *entry;

	if (name->kind != AB_HOST_NAME)
		return set_verdict(ret, AB_ACCESS_DENY, AB_BASIS_NONE, "");
	entry = ab_hostset_find(&filter->deny, name, 0);
	return entry ? set_denied(filter, ret, entry) : judge_allowed(filter, name, 0, true, ret);
}

bool ab_filter_address(const struct ab_filter *filter, const struct ab_own *own,
		       const struct ab_host *addr, uint16_t port, struct ab_verdict *ret)
{
	if (addr->kind == AB_HOST_NAME)
		return set_verdict(ret, AB_ACCESS_DENY, AB_BASIS_NONE, "");
	return may_be_allowed(filter, own, addr, port, ret) &&
	       set_verdict(ret, AB_ACCESS_ALLOW, AB_BASIS_NONE, "");
}
