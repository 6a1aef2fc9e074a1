#include "proxy/filter/grants.h"

struct ab_granted {
	struct ab_host_entry entry;
	char text[AB_HOST_ENTRY_TEXT];
	enum ab_grant_kind kind;
	uint64_t until; /* 0: no end */
};

void ab_grants_fini(struct ab_grants *grants)
{
	for (size_t i = 0; i < grants->len; i++)
		free(grants->v[i]);
	free(grants->v);
	*grants = (struct ab_grants){ 0 };
}

static bool is_expired(const struct ab_granted *g, uint64_t now)
{
	return g->until && g->until <= now;
}

static void drop_grant(struct ab_grants *grants, size_t i)
{
	free(grants->v[i]);
	grants->len--;
	memmove(grants->v + i, grants->v + i + 1, (grants->len - i) * sizeof(grants->v[0]));
}

static bool drop_oldest(struct ab_grants *grants, enum ab_grant_kind kind)
{
	for (size_t i = 0; i < grants->len; i++)
		if (grants->v[i]->kind == kind) {
			drop_grant(grants, i);
			return true;
		}
	return false;
}

/* Drop only grants whose loss leads to a question or a denial. */
static bool make_room(struct ab_grants *grants)
{
	return grants->len < AB_GRANTS_MAX || drop_oldest(grants, AB_GRANT_ANSWER) ||
	       drop_oldest(grants, AB_GRANT_ALLOW);
}

bool ab_grants_add(struct ab_grants *grants, uint64_t now, const char *entry,
		   enum ab_grant_kind kind, uint64_t until)
{
	struct ab_granted *g = ab_alloc(sizeof(*g));

	if (ab_host_entry_parse(entry, strlen(entry), &g->entry, NULL) < 0) {
		free(g);
		return false;
	}
	ab_host_entry_format(&g->entry, g->text);
	g->kind = kind;
	g->until = until;
	for (size_t i = grants->len; i-- > 0;)
		if (is_expired(grants->v[i], now) || strcmp(grants->v[i]->text, g->text) == 0)
			drop_grant(grants, i);
	if (!make_room(grants)) {
		free(g);
		return false;
	}
	*ab_append(grants->v, grants->len) = g;
	return true;
}

static bool matches_host(const struct ab_granted *g, const struct ab_host *host, uint16_t port)
{
	return g->kind == AB_GRANT_ALLOW ? ab_host_entry_allows(&g->entry, host, port)
					 : ab_host_entry_denies(&g->entry, host, port);
}

/* Does it allow the name with some port, or deny it with all? A host that was answered with no
 * still resolves, so that its connections are denied with an explanation. */
static bool matches_name(const struct ab_granted *g, const struct ab_host *name, uint16_t port)
{
	enum { SOME_USUAL = 443 };
	uint16_t own = g->entry.port;

	(void)port;
	return g->kind == AB_GRANT_ALLOW
		       ? ab_host_entry_allows(&g->entry, name, own ? own : SOME_USUAL)
		       : !own && ab_host_entry_denies(&g->entry, name, 0);
}

/* A grant cannot override these. */
static bool is_fixed(const struct ab_verdict *verdict)
{
	return verdict->basis == AB_BASIS_RANGE || verdict->basis == AB_BASIS_OWN ||
	       verdict->basis == AB_BASIS_DENY || verdict->basis == AB_BASIS_BOUND;
}

static void apply_grant(const struct ab_granted *g, struct ab_verdict *verdict)
{
	bool deny = g->kind != AB_GRANT_ALLOW;

	if (deny || verdict->basis != AB_BASIS_ALLOW)
		*verdict = (struct ab_verdict){ deny ? AB_ACCESS_DENY : AB_ACCESS_ALLOW,
						AB_BASIS_GRANT, g->text };
}

/* The newest one of an answer, or of another kind, that matches; or NULL. */
static const struct ab_granted *
find_newest(const struct ab_grants *grants, uint64_t now, const struct ab_host *host, uint16_t port,
	    bool answer,
	    bool (*matches)(const struct ab_granted *g, const struct ab_host *host, uint16_t port))
{
	for (size_t i = grants->len; i-- > 0;) {
		const struct ab_granted *g = grants->v[i];

		if ((g->kind == AB_GRANT_ANSWER) == answer && !is_expired(g, now) &&
		    matches(g, host, port))
			return g;
	}
	return NULL;
}

void ab_grants_judge(const struct ab_grants *grants, uint64_t now, const struct ab_host *host,
		     uint16_t port, struct ab_verdict *verdict)
{
	const struct ab_granted *g;

	if (is_fixed(verdict))
		return;
	g = find_newest(grants, now, host, port, false, matches_host);
	/* It was an answer about another port, perhaps. */
	if (!g && verdict->access != AB_ACCESS_ALLOW)
		g = find_newest(grants, now, host, port, true, matches_host);
	if (g)
		apply_grant(g, verdict);
}

void ab_grants_name(const struct ab_grants *grants, uint64_t now, const struct ab_host *name,
		    struct ab_verdict *verdict)
{
	const struct ab_granted *g =
		is_fixed(verdict) ? NULL : find_newest(grants, now, name, 0, false, matches_name);

	if (g)
		apply_grant(g, verdict);
}
