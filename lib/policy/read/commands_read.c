#include "policy/model/commands.h"
#include "policy/read/members.h"
#include "shell/judge/ruling.h"
#include "shell/syntax/quote.h"

/* The members of a rule, in the order of its canonical text. A rule has one of
 * the first three, which selects its commands. */
enum member { MATCH, PREFIX, REGEX, DECISION, REASON, MEMBERS };

static const char *const members[MEMBERS] = {
	[MATCH] = "match",	 [PREFIX] = "prefix", [REGEX] = "regex",
	[DECISION] = "decision", [REASON] = "reason",
};

/* Only short and printable text, so that a rule looks like what it is wherever
 * it is shown. */
static bool is_fit(const char *text)
{
	size_t len = strlen(text), n = 0, step;

	while (n < len && (step = ab_printable(text + n, len - n)) > 0)
		n += step;
	return len > 0 && len <= AB_RULE_TEXT_MAX && n == len;
}

static const struct ab_members_kind kind = {
	.names = members,
	.n = MEMBERS,
	.fits = is_fit,
	.fitting = "at most 1024 bytes of printable text",
};

static void read_prefix(struct ab_members *m, struct ab_user_rule *rule)
{
	const struct ab_json_scan_node *list = m->given[PREFIX];
	struct ab_arena *a = m->r->ctx->arena;
	ab_autobuf struct ab_buf b = { 0 };
	const char **words;
	size_t n = 0;

	if (list->kind != '[') {
		ab_members_wrong_type(m, PREFIX, "a list of strings",
				      "use one like [\"git\", \"push\"]");
		return;
	}
	if (list->count == 0) {
		ab_members_complain(m, PREFIX, "is empty", "use one like [\"git\", \"push\"]");
		return;
	}
	words = ab_arena_alloc(a, list->count * sizeof(*words));
	ab_json_scan_each(word, list)
	{
		if (!word->text) {
			ab_reader_wrong_type(m->r, word, "a string", "put it in quotes");
			m->bad = true;
			return;
		}
		words[n++] = ab_arena_dup(a, word->text);
	}
	ab_quote_argv(&b, words, n);
	ab_members_fit(m, PREFIX, b.data);
	rule->text = ab_arena_dup(a, b.data);
	rule->words = words;
	rule->nwords = n;
}

/* Read the member that selects commands. */
static void read_pattern(struct ab_members *m, struct ab_user_rule *rule)
{
	static const enum ab_match_kind kinds[] = { AB_MATCH_GLOB, AB_MATCH_PREFIX,
						    AB_MATCH_REGEX };
	size_t given = 0;

	for (size_t i = MATCH; i <= REGEX; i++) {
		given += m->given[i] != NULL;
		rule->kind = m->given[i] ? kinds[i] : rule->kind;
	}
	if (given != 1) {
		ab_reader_report(m->r, m->node, NULL,
				 given ? "has more than one of match, prefix and regex"
				       : "has none of match, prefix and regex",
				 given ? "keep one of them" : "add one of them");
		m->bad = true;
		return;
	}
	if (m->given[PREFIX]) {
		read_prefix(m, rule);
		return;
	}
	rule->text = ab_members_text(m, m->given[MATCH] ? MATCH : REGEX);
	if (m->given[REGEX] && !m->bad &&
	    ab_regex_check(rule->text, !m->r->ctx->untrusted, &m->why) < 0)
		ab_members_refuse(m, REGEX);
}

static void read_decision(struct ab_members *m, struct ab_user_rule *rule)
{
	static const char right[] = "use allow, sandboxed, escalated or forbidden";

	if (!m->given[DECISION])
		ab_members_complain(m, DECISION, "is missing", right);
	rule->decision =
		ab_members_word(m, DECISION, ab_decision_names, AB_COUNT(ab_decision_names), right);
}

static const char *make_canonical(struct ab_arena *a, const struct ab_user_rule *rule)
{
	ab_autobuf struct ab_buf b = { 0 };
	const struct ab_strv words = { (char **)(uintptr_t)rule->words, rule->nwords };

	ab_buf_jsonf(&b, "{?,'match':%s?,'prefix':%p?,'regex':%s,'decision':%s?,'reason':%s}",
		     rule->kind == AB_MATCH_GLOB ? rule->text : NULL, ab_list(&words),
		     rule->kind == AB_MATCH_REGEX ? rule->text : NULL,
		     ab_decision_names[rule->decision], rule->reason);
	return ab_arena_dup(a, b.data);
}

static void read_rule(struct ab_members *m)
{
	struct ab_arena *a = m->r->ctx->arena;
	struct ab_user_rule *rule = ab_arena_alloc(a, sizeof(*rule));

	read_pattern(m, rule);
	read_decision(m, rule);
	rule->reason = ab_members_text(m, REASON);
	if (m->bad)
		return;
	ab_members_add(m, AB_KEY_RULES,
		       (struct ab_item){ .text = make_canonical(a, rule), .rule = rule });
}

const struct ab_members_list ab_rules_members = {
	.kind = &kind,
	.key = AB_KEY_RULES,
	.most = AB_RULES_MAX,
	.too_many = "more than 256 rules",
	.instead = "one pattern can match several commands",
	.example = "{ \"match\": \"git push *\", \"decision\": \"escalated\" }",
	.read = read_rule,
};
