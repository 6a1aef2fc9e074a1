/*
 * Theory of operation.
 *
 * A program has up to three names: argv[0], which the caller chooses freely and by which programs
 * like busybox select their function; the path; and the file that the path leads to. It is judged
 * under each of them, and the strictest verdict counts.
 *
 * The text of "sh -c" is judged like any other. But the guard sees every program that it executes,
 * and then every word is known. So a part that would be escalated only because something is unknown
 * is left until then.
 */
#include "guard/notify/exec_read.h"
#include "policy/model/policy.h"

static bool is_rule(const char *name, enum ab_rule_id id)
{
	return strcmp(name, ab_rules[id].name) == 0;
}

/* Rules that only say that something is unknown. */
static bool is_about_unknown(const char *rule)
{
	return is_rule(rule, AB_RULE_DYNAMIC_COMMAND) || is_rule(rule, AB_RULE_EVAL_EXEC) ||
	       is_rule(rule, AB_RULE_UNPARSED);
}

/* Rules about named files, perhaps in a redirection, which is not judged again. */
static bool is_about_files(const char *rule)
{
	return is_rule(rule, AB_RULE_AGENT_CONFIG) || is_rule(rule, AB_RULE_CREDENTIAL_ACCESS) ||
	       is_rule(rule, AB_RULE_EXFILTRATION) || is_rule(rule, AB_RULE_PERSISTENCE);
}

static bool has_unknown(const struct ab_judged *part)
{
	for (size_t i = 0; i < part->argc; i++)
		if (part->argv[i].unknown)
			return true;
	return false;
}

static bool is_escalated(const struct ab_judged *part)
{
	return part->decision == AB_ESCALATED && !is_about_unknown(part->rule);
}

/* The rule that escalates a part because of known words; or NULL. */
static const char *find_escalating_rule(const struct ab_judgement *j)
{
	bool only_parts = is_about_unknown(j->rule);

	for (const struct ab_judged *p = j->commands; p; p = p->next) {
		if (is_escalated(p) && (!has_unknown(p) || is_about_files(p->rule)))
			return p->rule;
		only_parts |= is_escalated(p) && strcmp(p->rule, j->rule) == 0;
	}
	/* Else the rule is about the whole text: how its parts are joined. */
	return only_parts ? NULL : j->rule;
}

static const char *find_reason(const struct ab_judgement *j, const char *rule)
{
	enum ab_rule_id id;

	if (strcmp(rule, j->rule) == 0 || !ab_rule_find(rule, strlen(rule), &id))
		return j->reason;
	return ab_rules[id].reason;
}

static bool is_approved(const struct ab_terms *terms, const struct ab_judgement *j,
			const char *rule)
{
	if (!terms->approved || strcmp(rule, terms->approved) != 0)
		return false;
	/* For a rule of the user's own, it must be the same one. */
	return strcmp(rule, "user") != 0 || (j->user_rule && terms->approved_user &&
					     strcmp(j->user_rule, terms->approved_user) == 0);
}

/* True: it is refused, and *ret says why. */
static bool is_refused(const struct ab_terms *terms, const struct ab_judgement *j,
		       struct ab_refused *ret)
{
	const char *rule = j->rule;

	switch (j->decision) {
	case AB_ALLOW:
	case AB_SANDBOXED:
		return false;
	case AB_ESCALATED:
		if (terms->yes)
			return false;
		rule = find_escalating_rule(j);
		if (!rule || is_approved(terms, j, rule))
			return false;
		break;
	case AB_FORBIDDEN:
		break;
	}
	*ret = (struct ab_refused){ .decision = j->decision,
				    .rule = rule,
				    .reason = find_reason(j, rule),
				    .command = j->text };
	return true;
}

static int judge_as(struct ab_arena *arena, const struct ab_terms *terms, const struct ab_exec *a,
		    const char *name, struct ab_refused *ret)
{
	struct ab_scene scene = { .home = terms->policy->home,
				  .cwd = a->cwd ? a->cwd : terms->cwd,
				  .workspace = terms->policy->workspace,
				  .ruling = terms->policy->commands.ruling,
				  .deny_write = &terms->policy->fs.deny_write };
	struct ab_judgement j;
	struct ab_refused found;

	a->argv[0] = name;
	ab_judge_argv(arena, &scene, a->argv, a->argc, &j);
	/* The end of the text was not judged. */
	if (j.text.len > AB_SHELL_TEXT_MAX)
		return E2BIG;
	if (is_refused(terms, &j, &found) && found.decision > ret->decision)
		*ret = found;
	return 0;
}

int ab_exec_judge(struct ab_arena *arena, const struct ab_terms *terms, const struct ab_exec *a,
		  struct ab_refused *ret)
{
	const char *names[] = { a->argv[0], a->path, a->real };
	struct ab_refused found = { .decision = AB_ALLOW };
	int errnum = 0;

	for (size_t i = 0; i < AB_COUNT(names) && !errnum; i++) {
		bool skip = !names[i];

		/* Rules apply to the last part of a name. */
		for (size_t k = 0; k < i && !skip; k++)
			skip = strcmp(ab_path_name(names[k]), ab_path_name(names[i])) == 0;
		if (!skip)
			errnum = judge_as(arena, terms, a, names[i], &found);
	}
	a->argv[0] = names[0];
	if (errnum || found.decision == AB_ALLOW)
		return errnum;
	if (a->absent)
		return a->absent;
	*ret = found;
	return EPERM;
}
