#include "shell/judge/judge.h"

#include "shell/command/name_index.h"
#include "shell/judge/ruling.h"
#include "shell/syntax/name_table.h"
#include "shell/syntax/quote.h"
#include "shell/walk/walk.h"

struct judge {
	struct ab_arena *arena;
	const struct ab_scene *scene;
	struct ab_judgement *verdict;
	struct ab_judged *first, **tail;
	bool any; /* a part has decided */
};

/* The verdict on one command or one hit. */
struct finding {
	enum ab_decision decision;
	const char *rule, *reason, *instead, *user_rule;
	struct ab_span range;
	bool replaces_inner; /* also replaces an equally strict inner command */
};

static const char in_the_box[] = "Runs in the box.";

/* Of equally strict hits, the heaviest is named. Rules that often match in addition to a
 * more specific one weigh less; an evasion trick weighs more than what it hides. */
static int get_weight(enum ab_rule_id rule)
{
	if (rule == AB_RULE_UNKNOWN_PROGRAM)
		return -1;
	if (rule == AB_RULE_GIT_PUBLISH || rule == AB_RULE_SYSTEM_WRITE ||
	    rule == AB_RULE_CREDENTIAL_ACCESS)
		return 0;
	return rule == AB_RULE_IFS_BYPASS ? 2 : 1;
}

/* Use the range of the whole command: "/" alone does not explain what is wrong with
 * "rm -rf /". */
static struct finding make_finding(const struct ab_hit *hit, enum ab_decision decision,
				   struct ab_span whole)
{
	const struct ab_rule *rule = &ab_rules[hit->rule];
	struct finding f = {
		.decision = decision,
		.rule = rule->name,
		.reason = rule->reason,
		.instead = rule->instead,
		.range = whole,
		.replaces_inner = hit->rule == AB_RULE_DESTRUCTIVE_FIND ||
				  hit->rule == AB_RULE_DESTRUCTIVE_XARGS,
	};

	if (hit->mild && rule->mild_reason)
		f.reason = rule->mild_reason;
	if (hit->reason)
		f.reason = hit->reason;
	return f;
}

/* A later part decides only if it is stricter, so an inner command takes precedence
 * over an equally strict wrapper. */
static void consider_finding(struct judge *j, const struct finding *f)
{
	struct ab_judgement *v = j->verdict;
	bool same = f->replaces_inner && f->decision == v->decision &&
		    v->range.from >= f->range.from && v->range.to <= f->range.to;

	if (j->any && f->decision <= v->decision && !same)
		return;
	j->any = true;
	v->decision = f->decision;
	v->rule = f->rule;
	v->reason = f->reason;
	v->instead = f->instead;
	v->user_rule = f->user_rule;
	v->range = f->range;
	if (v->range.to > v->text.len)
		v->range.to = v->text.len;
	if (v->range.from > v->range.to)
		v->range.from = v->range.to;
}

/* Variables that only change the language or layout of output. */
static const char harmless_variables[] = "COLUMNS LANG LANGUAGE LC_* LINES NO_COLOR TERM TZ";

static bool writes_file(const struct ab_redirect *r)
{
	if (ab_redir_writes(r->op))
		return !ab_listed("/dev/null /dev/stderr /dev/stdout /dev/tty", r->file.text);
	return r->file.unknown && r->op != AB_REDIR_HEREDOC && r->op != AB_REDIR_HERESTRING;
}

static bool only_reads(const struct ab_simple *c)
{
	for (size_t i = 0; i < c->nredirects; i++)
		if (writes_file(&c->redirects[i]))
			return false;
	return !(c->flags & AB_SIMPLE_BACKGROUND);
}

/* Nothing in it is unknown, runs in the background or changes how a program runs. */
static bool is_plain(const struct ab_simple *c)
{
	if (!only_reads(c))
		return false;
	for (size_t i = 0; i < c->argc && ab_command_shows(c, AB_SIGN_UNKNOWN); i++)
		if (c->argv[i].unknown || c->argv[i].splits)
			return false;
	for (size_t i = 0; i < c->nbindings; i++)
		if (!ab_matches_listed(harmless_variables, c->bindings[i].name, false))
			return false;
	return true;
}

/* Apply the built-in rules; `hollow`: the command only runs its inner ones. *ret_firm: the strictest
 * one that is managed, or AB_ALLOW. */
static struct finding apply_rules(const struct judge *j, const struct ab_simple *c, bool hollow,
				  struct finding *ret_firm)
{
	const struct ab_hit *best = NULL;
	enum ab_decision strictest = AB_ALLOW;
	struct ab_hits hits;

	hits.len = 0;
	ab_rules_match(c, &hits);
	for (size_t i = 0; i < hits.len; i++) {
		const struct ab_hit *hit = &hits.v[i];
		enum ab_decision decision = ab_ruling_decide(j->scene->ruling, hit);

		if (j->scene->ruling && j->scene->ruling->overrides[hit->rule].managed &&
		    decision > ret_firm->decision)
			*ret_firm = make_finding(hit, decision, c->range);
		if (!best || decision > strictest ||
		    (decision == strictest && get_weight(hit->rule) > get_weight(best->rule))) {
			best = hit;
			strictest = decision;
		}
	}
	if (strictest > AB_ALLOW && !(hollow && strictest == AB_SANDBOXED))
		return make_finding(best, strictest, c->range);
	if ((hollow || !c->argc) && only_reads(c))
		return (struct finding){ .decision = AB_ALLOW,
					 .rule = "",
					 .reason = "Changes nothing.",
					 .range = c->range };
	if (!hollow && c->argc && best && is_plain(c))
		return make_finding(best, strictest, c->range);
	return (struct finding){
		.decision = AB_SANDBOXED, .rule = "", .reason = in_the_box, .range = c->range
	};
}

/* Mark a reason from an untrusted file, so that nobody takes it for the user's or
 * for ours. */
static const char *get_user_reason(const struct judge *j, const struct ab_user_rule *rule)
{
	if (rule->managed)
		return rule->reason
			       ? ab_arena_cat(j->arena, "The managed settings say: ", rule->reason)
			       : "A rule in the managed settings matches.";
	if (rule->tighten)
		return rule->reason
			       ? ab_arena_cat(j->arena, "The project file says: ", rule->reason)
			       : "A rule in the project file matches.";
	return rule->reason ? rule->reason : "One of your own rules matches.";
}

/* A rule that can only tighten does not replace an equally strict finding. */
static void apply_user_rule(const struct judge *j, const struct ab_simple *c, struct finding *f)
{
	const struct ab_user_rule *rule;

	if (!j->scene->ruling || !c->argc)
		return;
	rule = ab_ruling_match(j->scene->ruling, c);
	if (!rule || (f->decision == AB_FORBIDDEN && rule->decision < AB_FORBIDDEN) ||
	    (rule->tighten && rule->decision <= f->decision))
		return;
	*f = (struct finding){
		.decision = rule->decision,
		.rule = "user",
		.reason = get_user_reason(j, rule),
		.user_rule = rule->text,
		.range = c->range,
	};
}

static void *reserve_place(void *arg)
{
	struct judge *j = arg;
	struct ab_judged *place = ab_arena_alloc(j->arena, sizeof(*place));

	*j->tail = place;
	j->tail = (struct ab_judged **)&place->next;
	return place;
}

static void judge_command(void *arg, const struct ab_simple *c, bool hollow, void *place)
{
	struct judge *j = arg;
	struct finding firm = { .decision = AB_ALLOW }, f = apply_rules(j, c, hollow, &firm);
	struct ab_judged *listed = place;

	apply_user_rule(j, c, &f);
	if (firm.decision > f.decision)
		f = firm;
	if (listed) {
		listed->argv = c->argv;
		listed->argc = c->argc;
		listed->via = c->via;
		listed->range = c->range;
		listed->decision = f.decision;
		listed->rule = f.rule;
	}
	consider_finding(j, &f);
}

/* A command that a program may run which no table knows. */
static void judge_guess(void *arg, const struct ab_simple *c, bool hollow, bool any)
{
	struct judge *j = arg;
	struct finding firm = { .decision = AB_ALLOW }, f = apply_rules(j, c, hollow, &firm);
	const struct ab_hit hit = {
		.rule = AB_RULE_UNKNOWN_PROGRAM,
		.range = c->range,
		.reason =
			"Passes a command that is refused or needs approval to a program that agentbox does not know.",
	};

	if (f.decision < (any ? AB_ESCALATED : AB_FORBIDDEN))
		return;
	f = make_finding(&hit, ab_ruling_decide(j->scene->ruling, &hit), c->range);
	consider_finding(j, &f);
}

static void judge_hit(void *arg, const struct ab_hit *hit)
{
	struct judge *j = arg;
	const struct finding f =
		make_finding(hit, ab_ruling_decide(j->scene->ruling, hit), hit->range);

	consider_finding(j, &f);
}

/* Remove places that no command filled because the walk hit a limit. */
static void finish_list(struct judge *j)
{
	struct ab_judged *p = j->first, **link = &j->first;
	size_t n = 0;

	for (; p; p = (struct ab_judged *)p->next) {
		if (!p->rule)
			continue;
		*link = p;
		link = (struct ab_judged **)&p->next;
		n++;
	}
	*link = NULL;
	j->verdict->commands = j->first;
	j->verdict->ncommands = n;
}

static void refuse_bytes(struct judge *j, uint32_t at, const char *reason)
{
	const struct ab_hit hit = { .rule = AB_RULE_UNPARSED,
				    .range = { at, at + 1 },
				    .reason = reason };

	judge_hit(j, &hit);
}

static void judge_variant(struct judge *j, struct ab_text text)
{
	const struct ab_walk_events events = { NULL, judge_command, judge_hit, j, judge_guess };
	struct ab_script script;

	ab_parse(j->arena, text, &script);
	ab_walk_script(j->arena, j->scene, &events, text, &script);
}

/* A reader of text with NUL bytes ends at the first (a C string) or skips them (a
 * shell that reads a file): judge both variants too. */
static void judge_nul_variants(struct judge *j, struct ab_text text, uint32_t first)
{
	char *without = ab_arena_alloc(j->arena, text.len);
	uint32_t len = 0;

	for (uint32_t i = 0; i < text.len; i++)
		if (text.s[i])
			without[len++] = text.s[i];
	judge_variant(j, (struct ab_text){ text.s, first });
	judge_variant(j, (struct ab_text){ without, len });
	refuse_bytes(j, first, "Cannot parse this: it contains a NUL byte.");
}

void ab_judge_text(struct ab_arena *arena, const struct ab_scene *scene, struct ab_text text,
		   struct ab_judgement *ret)
{
	struct judge j = { .arena = arena, .scene = scene, .verdict = ret };
	const struct ab_walk_events events = { reserve_place, judge_command, judge_hit, &j,
					       judge_guess };
	const uint32_t zero = ab_text_find(text, '\0');
	struct ab_text read = text;

	*ret = (struct ab_judgement){
		.decision = AB_ALLOW, .rule = "", .reason = "There is nothing to run.", .text = text
	};
	j.tail = &j.first;
	if (read.len > AB_SHELL_TEXT_MAX)
		read.len = AB_SHELL_TEXT_MAX;
	if (zero < read.len)
		judge_nul_variants(&j, read, zero);
	ab_parse(arena, read, &ret->script);
	ab_walk_script(arena, scene, &events, read, &ret->script);
	if (read.len < text.len)
		refuse_bytes(&j, read.len, "Too long to analyse completely.");
	finish_list(&j);
}

void ab_judge_argv(struct ab_arena *arena, const struct ab_scene *scene, const char *const *argv,
		   size_t argc, struct ab_judgement *ret)
{
	ab_autobuf struct ab_buf quoted = { 0 };
	struct ab_text text = { "", 0 };

	ab_quote_argv(&quoted, argv, argc);
	if (quoted.len)
		text = (struct ab_text){ ab_arena_ndup(arena, quoted.data, quoted.len),
					 (uint32_t)quoted.len };
	ab_judge_text(arena, scene, text, ret);
}
