#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "policy/commands.h"
#include "policy/members.h"
#include "policy/why.h"
#include "shell/quote.h"
#include "shell/ruling.h"

/* The members of a rule, in the order in which it is written down again. The
 * first three say which commands are meant; a rule has one of them. */
enum member { MATCH, PREFIX, REGEX, DECISION, REASON, MEMBERS };

static const char *const members[MEMBERS] = {
	[MATCH] = "match",	 [PREFIX] = "prefix", [REGEX] = "regex",
	[DECISION] = "decision", [REASON] = "reason",
};

/* A rule that is being read. */
struct draft {
	struct ab_reader *r;
	const char *path; /* "commands.rules[2]" */
	uint32_t node;
	const json_t *given[MEMBERS];
	uint32_t at[MEMBERS];
	bool bad;
};

static void complain(struct draft *d, uint32_t node, const char *member,
		     const char *wrong, const char *right)
{
	ab_autofree char *path =
		ab_printf("%s%s%s", d->path, member[0] ? "." : "", member);

	ab_reader_report(d->r, node, path, wrong, right);
	d->bad = true;
}

static void wrong_type(struct draft *d, enum member m, const char *wanted,
		       const char *right)
{
	ab_autofree char *path = ab_printf("%s.%s", d->path, members[m]);

	ab_reader_wrong_type(d->r, d->at[m], path, d->given[m], wanted, right);
	d->bad = true;
}

/* What people can read, and not too much of it: so what is shown of a rule is
 * the rule. */
static bool is_fit(const char *text)
{
	size_t len = strlen(text), n = 0, step;

	while (n < len && (step = ab_printable(text + n, len - n)) > 0)
		n += step;
	return len > 0 && len <= AB_RULE_TEXT_MAX && n == len;
}

static const char *text_of(struct draft *d, enum member m)
{
	const char *text = json_string_value(d->given[m]);

	if (!d->given[m])
		return NULL;
	if (!text)
		wrong_type(d, m, "a text", "put it in quotes");
	else if (!text[0])
		complain(d, d->at[m], members[m], "is empty", "");
	else if (!is_fit(text))
		complain(d, d->at[m], members[m],
			 "is too long, or holds control characters",
			 "at most 1024 bytes that can be shown");
	return text;
}

static void read_prefix(struct draft *d, struct ab_user_rule *rule)
{
	const json_t *list = d->given[PREFIX];
	size_t n = json_array_size(list);
	struct ab_arena *a = d->r->ctx->arena;
	ab_autobuf struct ab_buf b = { 0 };
	const char **words;

	if (json_is_array(list) && n == 0) {
		complain(d, d->at[PREFIX], members[PREFIX], "is empty",
			 "write one like [\"git\", \"push\"]");
		return;
	}
	if (n == 0) {
		wrong_type(d, PREFIX, "a list of words",
			   "write one like [\"git\", \"push\"]");
		return;
	}
	words = ab_arena_alloc(a, n * sizeof(*words));
	for (size_t i = 0; i < n; i++) {
		const char *word = json_string_value(json_array_get(list, i));

		if (!word) {
			wrong_type(d, PREFIX, "a list of words",
				   "put each of them in quotes");
			return;
		}
		words[i] = ab_arena_dup(a, word);
	}
	ab_quote_argv(&b, words, n);
	if (!is_fit(b.data))
		complain(d, d->at[PREFIX], members[PREFIX],
			 "is too long, or holds control characters",
			 "at most 1024 bytes that can be shown");
	rule->text = ab_arena_dup(a, b.data);
	rule->words = words;
	rule->nwords = n;
}

static void read_regex(struct draft *d, const char *pattern)
{
	struct ab_why why = { .right = "" };

	if (ab_regex_check(pattern, !d->r->ctx->untrusted, &why) < 0)
		complain(d, d->at[REGEX], members[REGEX], why.wrong, why.right);
}

/* Which commands are meant. */
static void read_pattern(struct draft *d, struct ab_user_rule *rule)
{
	static const enum ab_match_kind kinds[] = { AB_MATCH_GLOB,
						    AB_MATCH_PREFIX,
						    AB_MATCH_REGEX };
	size_t given = 0;
	const char *text;

	for (size_t m = MATCH; m <= REGEX; m++) {
		given += d->given[m] != NULL;
		rule->kind = d->given[m] ? kinds[m] : rule->kind;
	}
	if (given != 1) {
		complain(d, d->node, "",
			 given ? "says in two ways which commands are meant"
			       : "does not say which commands are meant",
			 "write \"match\", \"prefix\" or \"regex\"");
		return;
	}
	if (d->given[PREFIX]) {
		read_prefix(d, rule);
		return;
	}
	text = text_of(d, d->given[MATCH] ? MATCH : REGEX);
	if (d->bad)
		return;
	if (d->given[REGEX])
		read_regex(d, text);
	rule->text = ab_arena_dup(d->r->ctx->arena, text);
}

static void read_decision(struct draft *d, struct ab_user_rule *rule)
{
	static const char right[] =
		"write \"allow\", \"sandboxed\", \"escalated\" or \"forbidden\"";
	const char *text = json_string_value(d->given[DECISION]);
	struct ab_why why;

	if (!d->given[DECISION]) {
		complain(d, d->node, "decision", "is missing", right);
	} else if (!text) {
		wrong_type(d, DECISION, "a text", right);
	} else if (!ab_decision_parse(text, &rule->decision)) {
		ab_why_value(&why, text, "is not possible here", "%s", right);
		complain(d, d->at[DECISION], members[DECISION], why.wrong,
			 why.right);
	}
}

static const char *canonical(struct ab_arena *a, const struct draft *d,
			     const struct ab_user_rule *rule)
{
	ab_autobuf struct ab_buf b = { 0 };
	size_t m = d->given[MATCH] ? MATCH : d->given[PREFIX] ? PREFIX : REGEX;

	ab_buf_printf(&b, "{\"%s\":", members[m]);
	if (m != PREFIX)
		ab_buf_json(&b, rule->text);
	for (size_t i = 0; i < rule->nwords; i++) {
		ab_buf_puts(&b, i ? "," : "[");
		ab_buf_json(&b, rule->words[i]);
	}
	ab_buf_printf(&b, "%s,\"decision\":\"%s\"", m == PREFIX ? "]" : "",
		      ab_decision_names[rule->decision]);
	if (rule->reason) {
		ab_buf_puts(&b, ",\"reason\":");
		ab_buf_json(&b, rule->reason);
	}
	ab_buf_puts(&b, "}");
	return ab_arena_dup(a, b.data);
}

static void read_rule(struct draft *d, const json_t *object)
{
	struct ab_arena *a = d->r->ctx->arena;
	struct ab_user_rule *rule = ab_arena_alloc(a, sizeof(*rule));
	const char *reason;

	d->bad = !ab_members_find(d->r, d->node, d->path, object, members,
				  MEMBERS, d->given, d->at);
	read_pattern(d, rule);
	read_decision(d, rule);
	reason = text_of(d, REASON);
	if (d->bad)
		return;
	rule->reason = reason ? ab_arena_dup(a, reason) : NULL;
	ab_value_add(a, &d->r->config->v[AB_KEY_RULES],
		     (struct ab_item){
			     .text = canonical(a, d, rule),
			     .from = ab_reader_origin(d->r, d->node),
			     .rule = rule,
		     });
}

void ab_rules_read(struct ab_reader *r, uint32_t node, const json_t *list)
{
	static const char right[] =
		"write [{ \"match\": \"git push *\", \"decision\": \"escalated\" }]";
	const char *key = ab_keys[AB_KEY_RULES].path;
	uint32_t k = node + 1;

	if (!json_is_array(list)) {
		ab_reader_wrong_type(r, node, key, list, "a list", right);
		return;
	}
	if (json_array_size(list) > AB_RULES_MAX) {
		ab_reader_report(r, node, key, "more than 256 rules",
				 "a pattern can stand for several");
		return;
	}
	r->config->v[AB_KEY_RULES].from = ab_reader_origin(r, node);
	for (size_t i = 0; i < json_array_size(list) && !ab_reader_full(r);
	     i++) {
		const json_t *object = json_array_get(list, i);
		ab_autofree char *path = ab_printf("%s[%zu]", key, i);
		struct draft d = { .r = r, .path = path, .node = k };

		if (json_is_object(object))
			read_rule(&d, object);
		else
			ab_reader_wrong_type(
				r, k, path, object, "an object",
				"write { \"match\": \"git push *\", \"decision\": \"escalated\" }");
		k = r->nodes[k].next;
	}
}
