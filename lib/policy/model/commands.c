#include "policy/model/commands.h"

#include <regex.h>

#include "base/text/guess.h"
#include "policy/values/complaint.h"
#include "shell/judge/ruling.h"

/* A regular expression that is being checked. */
struct scan {
	const char *at;
	unsigned long times; /* the most that a part is repeated */
	bool back;	     /* has a back-reference */
};

/* "[...]": nothing in it is special, except its end. */
static void skip_bracket(struct scan *s)
{
	s->at++;
	if (*s->at == '^')
		s->at++;
	if (*s->at == ']')
		s->at++;
	while (*s->at && *s->at != ']') {
		char kind = s->at[1];

		if (*s->at == '[' && kind && strchr(":.=", kind)) {
			char end[] = { kind, ']', '\0' };
			const char *close = strstr(s->at + 2, end);

			s->at = close ? close + 1 : s->at + 1;
		}
		s->at++;
	}
}

/* "{3}" "{1,3}" "{2,}" */
static void take_interval(struct scan *s)
{
	enum { MANY = 1 << 20 };
	unsigned long n = 0, most = 1;

	for (s->at++; *s->at && *s->at != '}'; s->at++) {
		if (*s->at >= '0' && *s->at <= '9')
			n = n < MANY ? n * 10 + (unsigned long)(*s->at - '0') : n;
		else
			n = 0;
		most = n > most ? n : most;
	}
	s->times = s->times < MANY ? s->times * most : s->times;
}

static void scan_pattern(struct scan *s)
{
	for (; *s->at; s->at++) {
		if (*s->at == '\\' && s->at[1]) {
			s->at++;
			s->back |= *s->at >= '1' && *s->at <= '9';
		} else if (*s->at == '[') {
			skip_bracket(s);
		} else if (*s->at == '{') {
			take_interval(s);
		}
		if (!*s->at)
			break;
	}
}

int ab_regex_check(const char *pattern, bool compile, struct ab_complaint *why)
{
	/* Compiling a pattern expands its intervals. */
	enum { UNFOLDED_MAX = 64 * 1024 };
	struct scan s = { .at = pattern, .times = 1 };
	char text[128];
	regex_t regex;
	int r;

	scan_pattern(&s);
	if (s.back)
		return ab_complaint_value(why, pattern, "uses a back-reference",
					  "rewrite it without \\1 to \\9");
	if (s.times * strlen(pattern) > UNFOLDED_MAX)
		return ab_complaint_value(why, pattern, "repeats too often",
					  "use + or * instead of large numbers");
	r = compile ? regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) : REG_NOMATCH;
	if (r == 0) {
		regfree(&regex);
		return 0;
	}
	if (r == REG_NOMATCH)
		return 0;
	regerror(r, NULL, text, sizeof(text));
	return ab_complaint_value(why, pattern, "is not a regular expression", "%s", text);
}

static int refuse_rule(struct ab_complaint *why, const char *name)
{
	const char *names[AB_RULE_COUNT];
	ab_autofree char *right = NULL;
	const char *guess;

	for (size_t i = 0; i < AB_RULE_COUNT; i++)
		names[i] = ab_rules[i].name;
	guess = ab_guess(name, names, AB_RULE_COUNT);
	if (guess)
		right = ab_printf("did you mean %s?", guess);
	return ab_complaint_say(why, right ? right : "list them with: agentbox rules list",
				"unknown rule");
}

int ab_override_put(const struct ab_put *p, const char *text)
{
	size_t n = strcspn(text, "=");
	ab_autofree char *name = ab_strndup(text, n);
	enum ab_decision decision;
	enum ab_rule_id rule;

	if (!ab_rule_find(text, n, &rule))
		return refuse_rule(p->why, name);
	if (!text[n] || !ab_decision_parse(text + n + 1, &decision))
		return ab_why_invalid(p->why, text[n] ? text + n + 1 : "",
				      "use allow, sandboxed, escalated or forbidden");
	return ab_put_copy(p, text);
}

static enum ab_rule_id rule_of(const struct ab_item *override)
{
	enum ab_rule_id rule = 0;

	ab_rule_find(override->text, strcspn(override->text, "="), &rule);
	return rule;
}

static enum ab_decision decision_of(const struct ab_item *override)
{
	enum ab_decision decision = AB_FORBIDDEN;

	ab_decision_parse(strchr(override->text, '=') + 1, &decision);
	return decision;
}

const struct ab_item *ab_override_find(const struct ab_value *overrides, unsigned rule)
{
	for (size_t i = 0; i < overrides->len; i++)
		if (rule_of(&overrides->items[i]) == rule)
			return &overrides->items[i];
	return NULL;
}

static unsigned pick_stricter(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

struct ab_decided ab_override_decided(const struct ab_value *overrides, unsigned rule)
{
	const struct ab_item *item = ab_override_find(overrides, rule);
	struct ab_decided own = { ab_rules[rule].elsewhere, ab_rules[rule].decision };
	unsigned decision;

	if (own.weak > own.strong)
		own = (struct ab_decided){ own.strong, own.weak };
	if (!item)
		return own;
	decision = decision_of(item);
	if (!item->tighten)
		return (struct ab_decided){ decision, decision };
	return (struct ab_decided){ pick_stricter(own.weak, decision),
				    pick_stricter(own.strong, decision) };
}

/* Replace by name. An override that makes nothing stricter is dropped, and
 * counted if it asks for something milder. */
size_t ab_override_tighten(struct ab_arena *a, struct ab_value *base, struct ab_item item)
{
	enum ab_rule_id rule = rule_of(&item);
	struct ab_decided now = ab_override_decided(base, rule);
	unsigned wanted = decision_of(&item);
	const struct ab_item *there = ab_override_find(base, rule);

	if (wanted <= now.weak)
		return wanted < now.strong;
	item.tighten = !there || there->tighten;
	ab_value_set(a, base, there, item);
	return 0;
}

/* Their regular expressions are never run, and a rule that allows makes nothing
 * stricter. */
size_t ab_rule_tighten(struct ab_arena *a, struct ab_value *base, struct ab_item item)
{
	if (item.rule->kind == AB_MATCH_REGEX || item.rule->decision == AB_ALLOW)
		return 1;
	item.tighten = true;
	ab_value_add(a, base, item);
	return 0;
}

/* An override that makes nothing stricter is kept as well: another setting must not weaken the rule. */
static void manage_override(struct ab_arena *a, struct ab_value *base, struct ab_item item)
{
	enum ab_rule_id rule = rule_of(&item);
	struct ab_decided now = ab_override_decided(base, rule);
	const struct ab_item *there = ab_override_find(base, rule);

	item.managed = true;
	item.tighten = !there || there->tighten;
	if (!there || decision_of(&item) > now.weak)
		ab_value_set(a, base, there, item);
	else
		base->items[there - base->items].managed = true;
}

void ab_commands_manage(struct ab_arena *a, enum ab_key_id id, struct ab_value *base,
			const struct ab_value *managed)
{
	for (size_t i = 0; i < managed->len; i++) {
		struct ab_item item = managed->items[i];

		if (id == AB_KEY_OVERRIDE) {
			manage_override(a, base, item);
			continue;
		}
		item.tighten = item.managed = true;
		ab_value_add(a, base, item);
	}
}

/*
 * The library starts a search at each byte, and ".*" then runs to the end each
 * time. A pattern that starts with ".*" is found in one pass. Intervals would
 * need too many states for that.
 */
static const regex_t *compile_pattern(const char *pattern)
{
	ab_autofree char *whole = ab_printf("^.*(%s)", pattern);
	regex_t *regex = ab_alloc(sizeof(*regex));

	if (!strchr(pattern, '{') && regcomp(regex, whole, REG_EXTENDED | REG_NOSUB) == 0)
		return regex;
	/* It compiled when it was read, so only memory can be missing. */
	if (regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		abort();
	return regex;
}

const struct ab_ruling *ab_commands_ruling(struct ab_arena *a, const struct ab_value *rules,
					   const struct ab_value *overrides)
{
	struct ab_ruling *ruling;
	struct ab_user_rule *own;

	if (rules->len == 0 && overrides->len == 0)
		return NULL;
	ruling = ab_arena_alloc(a, sizeof(*ruling));
	own = ab_arena_alloc(a, (rules->len + 1) * sizeof(*own));
	for (size_t i = 0; i < rules->len; i++) {
		own[i] = *rules->items[i].rule;
		own[i].tighten = rules->items[i].tighten;
		own[i].managed = rules->items[i].managed;
		if (own[i].kind == AB_MATCH_REGEX)
			own[i].regex = compile_pattern(own[i].text);
	}
	ruling->rules = own;
	ruling->nrules = rules->len;
	for (size_t i = 0; i < overrides->len; i++) {
		const struct ab_item *item = &overrides->items[i];
		enum ab_rule_id rule = rule_of(item);

		ruling->overrides[rule].decision = decision_of(item);
		ruling->overrides[rule].changed = true;
		ruling->overrides[rule].tighten = item->tighten;
		ruling->overrides[rule].managed = item->managed;
	}
	return ruling;
}

/* What these guard against stays in a layer: files that are deleted or written. */
static const enum ab_rule_id layered_rules[] = {
	AB_RULE_RECURSIVE_DELETE_ROOT, AB_RULE_RECURSIVE_PERM_ROOT, AB_RULE_DESTRUCTIVE_FIND,
	AB_RULE_DESTRUCTIVE_XARGS,     AB_RULE_GIT_DISCARD,	    AB_RULE_WORKSPACE_DELETE,
	AB_RULE_PERSISTENCE,
};

const struct ab_ruling *ab_commands_layered(struct ab_arena *a, const struct ab_ruling *ruling)
{
	struct ab_ruling *ret = ab_arena_alloc(a, sizeof(*ret));

	if (ruling)
		*ret = *ruling;
	for (size_t i = 0; i < AB_COUNT(layered_rules); i++) {
		if (ret->overrides[layered_rules[i]].changed)
			continue;
		ret->overrides[layered_rules[i]].decision = AB_SANDBOXED;
		ret->overrides[layered_rules[i]].changed = true;
	}
	return ret;
}

void ab_commands_release(const struct ab_ruling *ruling)
{
	for (size_t i = 0; ruling && i < ruling->nrules; i++) {
		regex_t *regex = (regex_t *)(uintptr_t)ruling->rules[i].regex;

		if (regex)
			regfree(regex);
		free(regex);
	}
}
