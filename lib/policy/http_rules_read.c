#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "policy/http_config.h"
#include "policy/members.h"
#include "policy/urlpath.h"
#include "policy/why.h"

/* In the order in which a rule is written down again. */
enum member { HOST, METHODS, PATHS, MEMBERS };

static const char *const members[MEMBERS] = {
	[HOST] = "host",
	[METHODS] = "methods",
	[PATHS] = "paths",
};

/* A rule that is being read. */
struct draft {
	struct ab_reader *r;
	const char *path; /* "network.http[2]" */
	uint32_t node;
	const json_t *given[MEMBERS];
	uint32_t at[MEMBERS];
	struct ab_http_rule *rule;
	bool bad;
};

static void complain(struct draft *d, uint32_t node, const char *member,
		     const char *wrong, const char *right)
{
	ab_autofree char *path = ab_printf("%s.%s", d->path, member);

	ab_reader_report(d->r, node, path, wrong, right);
	d->bad = true;
}

static void wrong_type(struct draft *d, uint32_t node, const char *member,
		       const json_t *value, const char *wanted,
		       const char *right)
{
	ab_autofree char *path = ab_printf("%s.%s", d->path, member);

	ab_reader_wrong_type(d->r, node, path, value, wanted, right);
	d->bad = true;
}

static int parse_host(const char *text, struct ab_host_entry *e,
		      struct ab_why *why)
{
	if (text[0] == '@')
		return ab_why_value(why, text, "is a group of hosts",
				    "write a rule for each host");
	if (ab_host_entry_parse(text, strlen(text), e, why) < 0)
		return -1;
	if (e->host.kind != AB_HOST_NAME)
		return ab_why_value(why, text, "is an address",
				    "write the name that is asked for");
	return 0;
}

static void read_host(struct draft *d)
{
	static const char right[] = "write one like \"api.example.com\"";
	const char *text = json_string_value(d->given[HOST]);
	struct ab_why why = { .right = "" };

	if (!d->given[HOST])
		complain(d, d->node, members[HOST], "is missing", right);
	else if (!text)
		wrong_type(d, d->at[HOST], members[HOST], d->given[HOST],
			   "a text", right);
	else if (parse_host(text, &d->rule->host, &why) < 0)
		complain(d, d->at[HOST], members[HOST], why.wrong, why.right);
}

typedef const char *take_fn(struct ab_arena *a, const char *text,
			    struct ab_why *why);

static const char *take_method(struct ab_arena *a, const char *text,
			       struct ab_why *why)
{
	size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_");

	if (n == 0 || text[n] || n > 32) {
		ab_why_value(why, text, "is not a method",
			     "write one like \"GET\", in capitals");
		return NULL;
	}
	return ab_arena_dup(a, text);
}

static bool has_dotdot(const char *path)
{
	for (const char *p = strstr(path, "/.."); p; p = strstr(p + 1, "/.."))
		if (p[3] == '\0' || p[3] == '/')
			return true;
	return false;
}

static const char *take_path(struct ab_arena *a, const char *text,
			     struct ab_why *why)
{
	size_t len = strlen(text);
	const char *wrong;
	char *normal;

	if (len > AB_HTTP_PATH_MAX) {
		ab_why_value(why, text, "is too long", "at most %d bytes",
			     AB_HTTP_PATH_MAX);
		return NULL;
	}
	normal = ab_arena_alloc(a, len + 1);
	if (strchr(text, '?')) {
		ab_why_value(why, text, "has a query",
			     "a rule is about the path before the ?");
		return NULL;
	}
	if (!ab_urlpath_normal(text, len, normal, &len, &wrong)) {
		ab_why_value(why, text, "is not the path of a URL", "%s",
			     wrong);
		return NULL;
	}
	/* What would a "*" before it be? */
	if (has_dotdot(text)) {
		ab_why_value(why, text, "has dots in it", "write \"%.100s\"",
			     normal);
		return NULL;
	}
	return normal;
}

static void read_list(struct draft *d, enum member m, take_fn *take,
		      const char *right, struct ab_strv *ret)
{
	struct ab_arena *a = d->r->ctx->arena;
	const json_t *list = d->given[m];
	size_t n = json_array_size(list);
	uint32_t k = d->at[m] + 1;

	if (!list)
		return;
	if (!json_is_array(list)) {
		wrong_type(d, d->at[m], members[m], list, "a list", right);
		return;
	}
	if (n == 0 || n > AB_HTTP_LIST_MAX) {
		complain(d, d->at[m], members[m],
			 n ? "has more than 64 entries" : "is empty",
			 n ? "write a second rule"
			   : "leave it out where all are meant");
		return;
	}
	ret->v = ab_arena_alloc(a, (n + 1) * sizeof(*ret->v));
	for (size_t i = 0; i < n; i++) {
		const json_t *e = json_array_get(list, i);
		ab_autofree char *name = ab_printf("%s[%zu]", members[m], i);
		struct ab_why why = { .right = "" };
		const char *text = NULL;

		if (!json_is_string(e))
			wrong_type(d, k, name, e, "a text", "put it in quotes");
		else if (!(text = take(a, json_string_value(e), &why)))
			complain(d, k, name, why.wrong, why.right);
		if (text && !ab_strv_has(ret, text))
			ret->v[ret->len++] = (char *)(uintptr_t)text;
		k = d->r->nodes[k].next;
	}
}

static void put_list(struct ab_buf *b, enum member m,
		     const struct ab_strv *list)
{
	if (list->len == 0)
		return;
	ab_buf_printf(b, ",\"%s\":[", members[m]);
	for (size_t i = 0; i < list->len; i++) {
		ab_buf_puts(b, i ? "," : "");
		ab_buf_json(b, list->v[i]);
	}
	ab_buf_puts(b, "]");
}

static const char *canonical(struct ab_arena *a, const struct ab_http_rule *r)
{
	ab_autobuf struct ab_buf b = { 0 };
	char host[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(&r->host, host);
	ab_buf_printf(&b, "{\"%s\":\"%s\"", members[HOST], host);
	put_list(&b, METHODS, &r->methods);
	put_list(&b, PATHS, &r->paths);
	ab_buf_puts(&b, "}");
	return ab_arena_dup(a, b.data);
}

static void read_rule(struct draft *d, const json_t *object)
{
	struct ab_arena *a = d->r->ctx->arena;

	d->rule = ab_arena_alloc(a, sizeof(*d->rule));
	d->bad = !ab_members_find(d->r, d->node, d->path, object, members,
				  MEMBERS, d->given, d->at);
	read_host(d);
	read_list(d, METHODS, take_method, "write one like [\"GET\"]",
		  &d->rule->methods);
	read_list(d, PATHS, take_path, "write one like [\"/v1/*\"]",
		  &d->rule->paths);
	if (d->bad)
		return;
	d->rule->text = canonical(a, d->rule);
	ab_value_add(a, &d->r->config->v[AB_KEY_HTTP],
		     (struct ab_item){
			     .text = d->rule->text,
			     .from = ab_reader_origin(d->r, d->node),
			     .http = d->rule,
		     });
}

void ab_http_read(struct ab_reader *r, uint32_t node, const json_t *list)
{
	static const char right[] =
		"{ \"host\": \"api.example.com\", \"methods\": [\"GET\"] }";
	ab_autofree char *whole = ab_printf("write [%s]", right);
	ab_autofree char *one = ab_printf("write %s", right);
	const char *key = ab_keys[AB_KEY_HTTP].path;
	uint32_t k = node + 1;

	if (!json_is_array(list)) {
		ab_reader_wrong_type(r, node, key, list, "a list", whole);
		return;
	}
	if (json_array_size(list) > AB_HTTP_RULES_MAX) {
		ab_reader_report(r, node, key, "more than 256 rules",
				 "a path can be a pattern");
		return;
	}
	r->config->v[AB_KEY_HTTP].from = ab_reader_origin(r, node);
	for (size_t i = 0; i < json_array_size(list) && !ab_reader_full(r);
	     i++) {
		const json_t *object = json_array_get(list, i);
		ab_autofree char *path = ab_printf("%s[%zu]", key, i);
		struct draft d = { .r = r, .path = path, .node = k };

		if (json_is_object(object))
			read_rule(&d, object);
		else
			ab_reader_wrong_type(r, k, path, object, "an object",
					     one);
		k = r->nodes[k].next;
	}
}
