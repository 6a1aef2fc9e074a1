#include "policy/model/http_config.h"
#include "policy/model/list_element.h"
#include "policy/read/members.h"
#include "policy/values/complaint.h"
#include "policy/values/urlpath.h"

/* In the order of the canonical text. */
enum member { HOST, METHODS, PATHS, MEMBERS };

static const char *const members[MEMBERS] = {
	[HOST] = "host",
	[METHODS] = "methods",
	[PATHS] = "paths",
};

static const struct ab_members_kind kind = {
	.names = members,
	.n = MEMBERS,
};

static int parse_host(const char *text, struct ab_host_entry *e, struct ab_complaint *why)
{
	if (text[0] == '@')
		return ab_complaint_value(why, text, "is a group of hosts",
					  "use a rule for each host");
	if (ab_host_entry_parse(text, strlen(text), e, why) < 0)
		return -1;
	if (e->host.kind != AB_HOST_NAME)
		return ab_complaint_value(why, text, "is an address", "use the host name");
	return 0;
}

static void read_host(struct ab_members *m, struct ab_http_rule *rule)
{
	static const char right[] = "use one like \"api.example.com\"";
	const struct ab_json_scan_node *given = m->given[HOST];

	if (!given)
		ab_members_complain(m, HOST, "is missing", right);
	else if (!given->text)
		ab_members_wrong_type(m, HOST, "a string", right);
	else if (parse_host(given->text, &rule->host, &m->why) < 0)
		ab_members_refuse(m, HOST);
}

static int take_method(const struct ab_context *ctx, struct ab_strv *to, const char *text,
		       struct ab_complaint *why)
{
	size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_");

	if (n == 0 || text[n] || n > 32)
		return ab_complaint_value(why, text, "is not a method",
					  "use capitals, as in \"GET\"");
	return ab_list_add_once(ctx->arena, to, text);
}

static bool has_dotdot(const char *path)
{
	for (const char *p = strstr(path, "/.."); p; p = strstr(p + 1, "/.."))
		if (p[3] == '\0' || p[3] == '/')
			return true;
	return false;
}

static int take_path(const struct ab_context *ctx, struct ab_strv *to, const char *text,
		     struct ab_complaint *why)
{
	size_t len = strlen(text);
	const char *wrong;
	char normal[AB_HTTP_PATH_MAX + 1];

	if (len > AB_HTTP_PATH_MAX)
		return ab_complaint_value(why, text, "is too long", "at most %d bytes",
					  AB_HTTP_PATH_MAX);
	if (strchr(text, '?'))
		return ab_complaint_value(why, text, "contains a query",
					  "rules match only the path, before the ?");
	if (!ab_urlpath_normal(text, len, false, normal, &len, &wrong))
		return ab_complaint_value(why, text, "is not a URL path", "%s", wrong);
	/* A "*" before it could mean any segment. */
	if (has_dotdot(text))
		return ab_complaint_value(why, text, "contains a .. segment", "use \"%.100s\"",
					  normal);
	return ab_list_add_once(ctx->arena, to, normal);
}

static const char *make_canonical(struct ab_arena *a, const struct ab_http_rule *r)
{
	ab_autobuf struct ab_buf b = { 0 };
	char host[AB_HOST_ENTRY_TEXT];

	ab_host_entry_format(&r->host, host);
	ab_buf_jsonf(&b, "{'host':%s?,'methods':%p?,'paths':%p}", host, ab_list(&r->methods),
		     ab_list(&r->paths));
	return ab_arena_dup(a, b.data);
}

static void read_rule(struct ab_members *m)
{
	struct ab_arena *a = m->r->ctx->arena;
	struct ab_http_rule *rule = ab_arena_alloc(a, sizeof(*rule));

	read_host(m, rule);
	ab_members_strings(m, METHODS, AB_HTTP_LIST_MAX, take_method, &rule->methods,
			   "use one like [\"GET\"], or remove it to allow all");
	ab_members_strings(m, PATHS, AB_HTTP_LIST_MAX, take_path, &rule->paths,
			   "use one like [\"/v1/*\"], or remove it to allow all");
	if (m->bad)
		return;
	rule->text = make_canonical(a, rule);
	ab_members_add(m, AB_KEY_HTTP, (struct ab_item){ .text = rule->text, .http = rule });
}

const struct ab_members_list ab_http_members = {
	.kind = &kind,
	.key = AB_KEY_HTTP,
	.most = AB_HTTP_RULES_MAX,
	.too_many = "more than 256 rules",
	.instead = "one pattern can match several paths",
	.example = "{ \"host\": \"api.example.com\", \"methods\": [\"GET\"] }",
	.read = read_rule,
};
