#include "shell/command/rules.h"

const char *const ab_decision_names[AB_FORBIDDEN + 1] = {
	[AB_ALLOW] = "allow",
	[AB_SANDBOXED] = "sandboxed",
	[AB_ESCALATED] = "escalated",
	[AB_FORBIDDEN] = "forbidden",
};

bool ab_decision_parse(const char *name, enum ab_decision *ret)
{
	return ab_word_parse(ab_decision_names, name, ret);
}

bool ab_rule_find(const char *name, size_t len, enum ab_rule_id *ret)
{
	struct ab_text text = { name, (uint32_t)len };

	for (size_t i = 0; i < AB_RULE_COUNT; i++)
		if (ab_text_is(text, ab_rules[i].name)) {
			*ret = (enum ab_rule_id)i;
			return true;
		}
	return false;
}

static enum ab_decision get_verdict(const struct ab_hit *hit)
{
	const struct ab_rule *rule = &ab_rules[hit->rule];

	return hit->mild ? rule->elsewhere : rule->decision;
}

static void keep_hit(struct ab_hits *hits, const struct ab_hit *hit)
{
	size_t mildest = 0;

	if (hits->len < AB_COUNT(hits->v)) {
		hits->v[hits->len++] = *hit;
		return;
	}
	for (size_t i = 1; i < hits->len; i++)
		if (get_verdict(&hits->v[i]) < get_verdict(&hits->v[mildest]))
			mildest = i;
	if (get_verdict(&hits->v[mildest]) < get_verdict(hit))
		hits->v[mildest] = *hit;
}

bool ab_hits_have(const struct ab_hits *hits, enum ab_rule_id rule)
{
	for (size_t i = 0; i < hits->len; i++)
		if (hits->v[i].rule == rule)
			return true;
	return false;
}

void ab_hit_add(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range)
{
	keep_hit(hits, &(struct ab_hit){ .rule = rule, .range = range });
}

void ab_hit_mild(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range)
{
	keep_hit(hits, &(struct ab_hit){ .rule = rule, .mild = true, .range = range });
}

void ab_hit_because(struct ab_hits *hits, enum ab_rule_id rule, struct ab_span range,
		    const char *reason)
{
	keep_hit(hits, &(struct ab_hit){ .rule = rule, .range = range, .reason = reason });
}
