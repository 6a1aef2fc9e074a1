#include "policy/model/commands.h"
#include "policy/model/policy.h"
#include "policy/values/complaint.h"

/* Mildest first. */
static const char *const verdict_names[] = {
	[AB_TOOL_ALLOW] = "allow",
	[AB_TOOL_ASK] = "ask",
	[AB_TOOL_DENY] = "deny",
};

static bool find_verdict(const char *name, enum ab_tool_verdict *ret)
{
	for (size_t i = AB_TOOL_ALLOW; i < AB_COUNT(verdict_names); i++)
		if (strcmp(verdict_names[i], name) == 0) {
			*ret = (enum ab_tool_verdict)i;
			return true;
		}
	return false;
}

static enum ab_tool_verdict verdict_of(const struct ab_item *item)
{
	enum ab_tool_verdict verdict = AB_TOOL_DENY;

	find_verdict(item->text + strcspn(item->text, "=") + 1, &verdict);
	return verdict;
}

int ab_tool_put(const struct ab_put *p, const char *text)
{
	size_t len = strcspn(text, "=");
	ab_autofree char *pattern = ab_strndup(text, len);
	enum ab_tool_verdict verdict;

	if (len == 0 || len > AB_TOOL_NAME_MAX)
		return ab_complaint_value(p->why, pattern, "is not the name of a tool",
					  "use a name or a pattern, such as \"mcp__github__*\"");
	if (!text[len] || !find_verdict(text + len + 1, &verdict))
		return ab_why_invalid(p->why, text[len] ? text + len + 1 : "",
				      "use allow, ask or deny");
	return ab_put_copy(p, text);
}

/* The strictest match decides, so an entry that asks or denies makes nothing milder. */
size_t ab_tool_tighten(struct ab_arena *a, struct ab_value *base, struct ab_item item)
{
	struct ab_item *there = ab_value_find_named(base, item.text);

	if (verdict_of(&item) == AB_TOOL_ALLOW || (there && verdict_of(there) > verdict_of(&item)))
		return 1;
	ab_value_set(a, base, there, item);
	return 0;
}

bool ab_tool_is_covered(const struct ab_value *v, const struct ab_item *item)
{
	const struct ab_item *there = ab_value_find_named(v, item->text);

	if (verdict_of(item) == AB_TOOL_ALLOW)
		return there && verdict_of(there) == AB_TOOL_ALLOW;
	return there && verdict_of(there) >= verdict_of(item);
}

bool ab_tool_allows(const struct ab_item *item)
{
	return verdict_of(item) == AB_TOOL_ALLOW;
}

void ab_tools_fill(struct ab_arena *a, const struct ab_value *v, struct ab_policy *policy)
{
	struct ab_tool_rule *rules = ab_arena_alloc(a, (v->len + 1) * sizeof(*rules));

	for (size_t i = 0; i < v->len; i++) {
		const char *text = v->items[i].text;

		rules[i].pattern = ab_arena_ndup(a, text, strcspn(text, "="));
		rules[i].verdict = verdict_of(&v->items[i]);
	}
	policy->commands.tools = rules;
	policy->commands.ntools = v->len;
}
