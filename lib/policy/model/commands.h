#ifndef AB_POLICY_MODEL_COMMANDS_H
#define AB_POLICY_MODEL_COMMANDS_H
/*
 * Inside lib/policy: the section "commands". A rule is an item whose text is
 * the rule as JSON, written in one way only, and whose `rule` is the same for
 * the judge; an override is an item "name=decision".
 */
#include "policy/model/config.h"

struct ab_reader;
struct ab_json_scan_node;
struct ab_ruling;

enum {
	AB_RULES_MAX = 256,	 /* rules in one file */
	AB_RULE_TEXT_MAX = 1024, /* bytes of a pattern or a reason */
};

/* The list commands.rules of a file. */
void ab_rules_read(struct ab_reader *r, const struct ab_json_scan_node *list);

/*
 * Can this be compiled, and at a cost that a file may have? Without `compile`
 * only what can be told from the text is.
 */
int ab_regex_check(const char *pattern, bool compile, struct ab_complaint *why);

/* "sudo=forbidden" */
int ab_override_put(const struct ab_context *ctx, struct ab_value *v, const char *text,
		    const struct ab_origin *from, struct ab_complaint *why);

/* What a file that is not trusted adds, marked. It stands behind the rules
 * that are there, so that it hides none of them. */
void ab_commands_tighten(struct ab_arena *a, enum ab_key_id id, struct ab_value *base,
			 const struct ab_value *layer, size_t *ret_dropped);

/* What a built-in rule decides by these overrides: the weaker of its two
 * decisions, and the stronger. */
struct ab_decided {
	unsigned weak, strong;
};
struct ab_decided ab_override_decided(const struct ab_value *overrides, unsigned rule);
/* The override of this rule, or NULL. */
const struct ab_item *ab_override_find(const struct ab_value *overrides, unsigned rule);

/* For the judge, in the arena but for what release() gives back; NULL where
 * nothing was said. */
const struct ab_ruling *ab_commands_ruling(struct ab_arena *a, const struct ab_value *rules,
					   const struct ab_value *overrides);
void ab_commands_release(const struct ab_ruling *ruling);

#endif
