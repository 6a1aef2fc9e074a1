#include "policy/model/http_rules.h"

#include "policy/model/http_config.h"

static const uint16_t http_ports[] = { 80, 443 };

void ab_http_rule_hosts(const struct ab_http_rule *rule, struct ab_strv *ret)
{
	struct ab_host_entry entry = rule->host;
	char text[AB_HOST_ENTRY_TEXT];

	for (size_t i = 0; i < AB_COUNT(http_ports); i++) {
		if (rule->host.port == 0)
			entry.port = http_ports[i];
		ab_host_entry_format(&entry, text);
		ab_strv_add_once(ret, text);
	}
}

static bool is_for(const struct ab_http_rule *rule, const struct ab_host *host, uint16_t port)
{
	return ab_host_entry_denies(&rule->host, host, port) &&
	       (rule->host.port || port == http_ports[0] || port == http_ports[1]);
}

bool ab_http_rules_bind(const struct ab_http_rules *rules, const struct ab_host *host,
			uint16_t port)
{
	for (size_t i = 0; i < rules->len; i++)
		if (is_for(&rules->v[i], host, port))
			return true;
	return false;
}

/*
 * "*" matches anything. The text between two of them is taken where it is first
 * found, which leaves the most for the rest, so each byte is searched once.
 */
static bool match_path(const char *pattern, const char *s, size_t len)
{
	size_t n = strcspn(pattern, "*");

	if (len < n || memcmp(pattern, s, n) != 0)
		return false;
	while (pattern[n]) {
		const char *found;

		s += n;
		len -= n;
		pattern += n + 1;
		n = strcspn(pattern, "*");
		if (!pattern[n])
			return len >= n && memcmp(pattern, s + len - n, n) == 0;
		found = memmem(s, len, pattern, n);
		if (!found)
			return false;
		len -= (size_t)(found - s);
		s = found;
	}
	return len == n;
}

static bool has_method(const struct ab_strv *methods, const char *method, size_t len)
{
	for (size_t i = 0; i < methods->len; i++)
		if (strlen(methods->v[i]) == len && memcmp(methods->v[i], method, len) == 0)
			return true;
	return methods->len == 0;
}

static bool has_path(const struct ab_strv *paths, const char *path, size_t len)
{
	for (size_t i = 0; i < paths->len; i++)
		if (match_path(paths->v[i], path, len))
			return true;
	return paths->len == 0;
}

/* A request. */
struct asked {
	const struct ab_host *host;
	uint16_t port;
	const char *method, *path;
	size_t method_len, path_len;
};

enum list { OWN, UNTRUSTED, MANAGED, LISTS };

static enum list list_of(const struct ab_http_rule *rule)
{
	return rule->managed ? MANAGED : rule->tighten ? UNTRUSTED : OWN;
}

/* Does this list permit it? *ret_rule: the rule that permits it, or else the first rule for this
 * host, or NULL. */
static bool permits_request(const struct ab_http_rules *rules, enum list list,
			    const struct asked *q, const struct ab_http_rule **ret_rule)
{
	const struct ab_http_rule *first = NULL;

	for (size_t i = 0; i < rules->len; i++) {
		const struct ab_http_rule *rule = &rules->v[i];

		if (list_of(rule) != list || !is_for(rule, q->host, q->port))
			continue;
		if (has_method(&rule->methods, q->method, q->method_len) &&
		    has_path(&rule->paths, q->path, q->path_len)) {
			*ret_rule = rule;
			return true;
		}
		first = first ? first : rule;
	}
	*ret_rule = first;
	return !first;
}

bool ab_http_rules_judge(const struct ab_http_rules *rules, const struct ab_host *host,
			 uint16_t port, const char *method, size_t method_len, const char *path,
			 size_t path_len, const struct ab_http_rule **ret_rule)
{
	struct asked q = { host, port, method, path, method_len, path_len };
	const struct ab_http_rule *first = NULL, *rule;

	for (int list = 0; list < LISTS; list++) {
		if (!permits_request(rules, list, &q, &rule)) {
			*ret_rule = rule;
			return false;
		}
		first = first ? first : rule;
	}
	*ret_rule = first;
	return true;
}

struct ab_http_rules ab_http_fill(struct ab_arena *a, const struct ab_value *v)
{
	struct ab_http_rule *rules = ab_arena_alloc(a, (v->len + 1) * sizeof(*rules));

	for (size_t i = 0; i < v->len; i++) {
		rules[i] = *v->items[i].http;
		rules[i].tighten = v->items[i].tighten;
		rules[i].managed = v->items[i].managed;
	}
	return (struct ab_http_rules){ .v = rules, .len = v->len };
}

/* Only our "*" matches their "*", so our pattern of a path covers everything that theirs
 * can match. */
static bool covers(const struct ab_strv *all, const struct ab_strv *some,
		   bool (*has)(const struct ab_strv *list, const char *s, size_t len))
{
	if (all->len && !some->len)
		return false;
	for (size_t i = 0; i < some->len; i++)
		if (!has(all, some->v[i], strlen(some->v[i])))
			return false;
	return true;
}

static bool covers_hosts(const struct ab_host_entry *all, const struct ab_host_entry *some)
{
	char text[AB_HOST_ENTRY_TEXT], other[AB_HOST_ENTRY_TEXT];
	char *entry = text;

	ab_host_entry_format(all, text);
	ab_host_entry_format(some, other);
	return ab_hosts_cover(&entry, 1, other, true);
}

/* Do the two have a host in common? */
static bool share_host(const struct ab_http_rule *a, const struct ab_http_rule *b)
{
	struct ab_host_entry p = a->host, q = b->host;

	if (p.port && q.port && p.port != q.port)
		return false;
	p.port = q.port = 0;
	return covers_hosts(&p, &q) || covers_hosts(&q, &p);
}

static bool are_marked_alike(const struct ab_item *a, const struct ab_item *b)
{
	return a->tighten == b->tighten && a->managed == b->managed;
}

bool ab_http_wider(const struct ab_value *a, const struct ab_item *b)
{
	bool bound = false;

	for (size_t i = 0; i < a->len; i++) {
		const struct ab_http_rule *rule = a->items[i].http;

		if (!are_marked_alike(&a->items[i], b) || !share_host(rule, b->http))
			continue;
		if (covers_hosts(&rule->host, &b->http->host) &&
		    covers(&rule->methods, &b->http->methods, has_method) &&
		    covers(&rule->paths, &b->http->paths, has_path))
			return false;
		bound = true;
	}
	return bound;
}

bool ab_http_binds(const struct ab_value *v, const struct ab_item *item)
{
	for (size_t i = 0; i < v->len; i++)
		if (are_marked_alike(&v->items[i], item) &&
		    covers_hosts(&v->items[i].http->host, &item->http->host))
			return true;
	return false;
}
