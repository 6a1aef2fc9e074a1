#pragma once
/*
 * Inside lib/policy: the section "commands". A rule is an item; its text is the
 * rule as canonical JSON, its `rule` the same for the judge. An override is an
 * item "name=verdict".
 */
#include "policy/model/list_element.h"

struct ab_policy;
struct ab_ruling;

enum {
	AB_RULES_MAX = 256,	 /* rules in one file */
	AB_RULE_TEXT_MAX = 1024, /* bytes of a pattern or a reason */
};

/*
 * Is this a valid pattern at a reasonable cost? Without `compile` only the text
 * is checked.
 */
int ab_regex_check(const char *pattern, bool compile, struct ab_complaint *why);

/* "sudo=forbidden" */
ab_put_fn ab_override_put;

/* Add one element of an untrusted file. Returns how many are dropped: 1, or 0. A rule is marked and
 * comes after the existing ones, so that it hides none of them. */
typedef size_t ab_tighten_fn(struct ab_arena *a, struct ab_value *base, struct ab_item item);
ab_tighten_fn ab_rule_tighten, ab_override_tighten, ab_tool_tighten;

/* Add managed rules or overrides: no other rule or override makes the verdict milder. */
void ab_commands_manage(struct ab_arena *a, enum ab_key_id id, struct ab_value *base,
			const struct ab_value *managed);

/* The two verdicts of a built-in rule with these overrides: the weaker one and
 * the stronger one. */
struct ab_decided {
	unsigned weak, strong;
};
struct ab_decided ab_override_decided(const struct ab_value *overrides, unsigned rule);
/* The override of this rule, or NULL. */
const struct ab_item *ab_override_find(const struct ab_value *overrides, unsigned rule);

/* The rules for the judge; NULL: no setting. They are in the arena, except for
 * what ab_commands_release() frees. */
const struct ab_ruling *ab_commands_ruling(struct ab_arena *a, const struct ab_value *rules,
					   const struct ab_value *overrides);
/* The same for a run that writes to layers only (filesystem.review): a rule that guards files of the
 * host says "sandboxed", unless a setting says otherwise. The result replaces the old one. */
const struct ab_ruling *ab_commands_layered(struct ab_arena *a, const struct ab_ruling *ruling);
void ab_commands_release(const struct ab_ruling *ruling);

/*
 * commands.tools: an item is "PATTERN=verdict". The strictest match decides, so patterns have no
 * order.
 */
ab_put_fn ab_tool_put;
/* Has `v` the same pattern with this verdict or a stricter one? One that allows: exactly this. */
bool ab_tool_is_covered(const struct ab_value *v, const struct ab_item *item);
bool ab_tool_allows(const struct ab_item *item);
void ab_tools_fill(struct ab_arena *a, const struct ab_value *v, struct ab_policy *policy);
