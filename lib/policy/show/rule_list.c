#include "policy/show/show.h"

#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "policy/model/commands.h"
#include "policy/model/policy.h"
#include "shell/judge/ruling.h"

enum { NAME = 24, WHAT = 40 };

/* Where a user's rule or override was written. */
static void put_origin(struct ab_buf *b, const struct ab_item *item)
{
	ab_autofree char *from = ab_origin_text(item->from);

	ab_buf_printf(b, "%s%s", from,
		      item->tighten ? " (not trusted: applies only where stricter)" : "");
}

static void put_user_row(struct ab_buf *b, const struct ab_item *item)
{
	const struct ab_user_rule *rule = item->rule;
	ab_autobuf struct ab_buf what = { 0 };

	if (rule->kind == AB_MATCH_REGEX)
		ab_buf_puts(&what, "regex ");
	ab_buf_escape(&what, rule->text);
	if (rule->kind == AB_MATCH_PREFIX)
		ab_buf_puts(&what, " ...");
	ab_buf_printf(b, "%-*s %-10s %-*s  ", NAME, "user", ab_decision_names[rule->decision], WHAT,
		      what.data);
	put_origin(b, item);
	ab_buf_puts(b, "\n");
}

static void put_builtin_row(struct ab_buf *b, unsigned id, const struct ab_value *overrides)
{
	const struct ab_rule *rule = &ab_rules[id];
	const struct ab_item *item = ab_override_find(overrides, id);
	struct ab_decided now = ab_override_decided(overrides, id);

	ab_buf_printf(b, "%-*s %-10s %s", NAME, rule->name, ab_decision_names[now.strong],
		      rule->what);
	if (now.weak != now.strong)
		ab_buf_printf(b, "; %s in milder cases", ab_decision_names[now.weak]);
	if (item) {
		ab_buf_printf(b, "  (built in: %s; ", ab_decision_names[rule->decision]);
		put_origin(b, item);
		ab_buf_puts(b, ")");
	}
	ab_buf_puts(b, "\n");
}

static char *make_text(const struct ab_value *rules, const struct ab_value *overrides)
{
	struct ab_buf b = { 0 };

	ab_buf_printf(&b, "%-*s %-10s %s\n", NAME, "RULE", "VERDICT", "WHAT");
	for (size_t i = 0; i < rules->len; i++)
		put_user_row(&b, &rules->items[i]);
	for (unsigned i = 0; i < AB_RULE_COUNT; i++)
		put_builtin_row(&b, i, overrides);
	return ab_buf_take(&b);
}

static void put_json_text(struct ab_buf *b, const char *key, const char *text)
{
	ab_buf_printf(b, ",\"%s\":", key);
	ab_buf_json(b, text);
}

static void put_json_origin(struct ab_buf *b, const struct ab_item *item)
{
	ab_autofree char *from = ab_origin_text(item->from);

	put_json_text(b, "from", from);
	ab_buf_printf(b, ",\"trusted\":%s", item->tighten ? "false" : "true");
}

static void put_user_json(struct ab_buf *b, const struct ab_item *item)
{
	/* The text is an object: continue with more members. */
	ab_buf_add(b, item->text, strlen(item->text) - 1);
	put_json_origin(b, item);
	ab_buf_puts(b, "}");
}

static void put_builtin_json(struct ab_buf *b, unsigned id, const struct ab_value *overrides)
{
	const struct ab_rule *rule = &ab_rules[id];
	const struct ab_item *item = ab_override_find(overrides, id);
	struct ab_decided now = ab_override_decided(overrides, id);

	ab_buf_puts(b, "{\"name\":");
	ab_buf_json(b, rule->name);
	put_json_text(b, "decision", ab_decision_names[now.strong]);
	if (now.weak != now.strong)
		put_json_text(b, "mild", ab_decision_names[now.weak]);
	put_json_text(b, "what", rule->what);
	put_json_text(b, "reason", rule->reason);
	if (rule->instead)
		put_json_text(b, "instead", rule->instead);
	if (item) {
		put_json_text(b, "builtin", ab_decision_names[rule->decision]);
		put_json_origin(b, item);
	}
	ab_buf_puts(b, "}");
}

static char *make_json(const struct ab_value *rules, const struct ab_value *overrides)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\"user\":[");
	for (size_t i = 0; i < rules->len; i++) {
		ab_buf_puts(&b, i ? "," : "");
		put_user_json(&b, &rules->items[i]);
	}
	ab_buf_puts(&b, "],\"builtin\":[");
	for (unsigned i = 0; i < AB_RULE_COUNT; i++) {
		ab_buf_puts(&b, i ? "," : "");
		put_builtin_json(&b, i, overrides);
	}
	ab_buf_puts(&b, "]}\n");
	return ab_buf_take(&b);
}

char *ab_policy_rules(const struct ab_policy *policy, bool json)
{
	const struct ab_config *c = &policy->store->config;
	const struct ab_value *rules = &c->v[AB_KEY_RULES];
	const struct ab_value *overrides = &c->v[AB_KEY_OVERRIDE];

	return json ? make_json(rules, overrides) : make_text(rules, overrides);
}
