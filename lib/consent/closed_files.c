#include "consent/closed_files.h"

#include "base/text/words.h"
#include "consent/consent.h"
#include "policy/model/policy.h"
#include "shell/judge/ruling.h"
#include "workspace/tree/glob.h"

/* Programs that do nothing but read the files of their arguments. */
static const char readers[] = "base64 cat cut file grep head less md5sum more nl od sha256sum stat "
			      "strings tac tail wc xxd";
/* Nothing is known of what another program would do with the command. */
static const char shells[] = "bash dash sh";

static bool is_reader(const struct ab_judged *c)
{
	const struct ab_text *name = &c->argv[0].text;

	if (c->via && !ab_word_listed(shells, c->via, strlen(c->via)))
		return false;
	return c->argc > 1 && !c->argv[0].unknown && ab_word_listed(readers, name->s, name->len);
}

/* Would it be escalated as well without the rule about secrets? */
static bool has_other_reason(struct ab_arena *arena, const struct ab_command *command)
{
	const struct ab_ruling *ruling = command->policy->commands.ruling;
	struct ab_ruling without = { 0 };
	struct ab_judgement again;

	if (ruling)
		without = *ruling;
	/* The user's own word about the rule counts. */
	if (without.overrides[AB_RULE_CREDENTIAL_ACCESS].changed)
		return true;
	without.overrides[AB_RULE_CREDENTIAL_ACCESS].changed = true;
	without.overrides[AB_RULE_CREDENTIAL_ACCESS].decision = AB_SANDBOXED;
	ab_consent_judge_by(arena, command, &without, &again);
	return again.decision > AB_SANDBOXED;
}

/* Is it a file with secrets, as far as the judge knows? */
static bool is_secret(struct ab_arena *arena, const struct ab_command *command, const char *word)
{
	const char *argv[] = { "cat", "--", word };
	struct ab_command one = {
		.policy = command->policy, .cwd = command->cwd, .argv = argv, .argc = AB_COUNT(argv)
	};
	struct ab_judgement verdict;

	ab_consent_judge(arena, &one, &verdict);
	return verdict.decision >= AB_ESCALATED;
}

struct hidden {
	struct ab_guard *v;
	size_t n;
};

/* A relative path may be in any folder: the command may have changed to another one. */
static bool is_hidden(const struct hidden *hidden, const char *path)
{
	ab_autofree char *real = path[0] == '/' ? realpath(path, NULL) : NULL;

	return real && ab_guards_cover(hidden->v, hidden->n, real);
}

/* False: an argument may be a file that the box shows. */
static bool check_arguments(struct ab_arena *arena, const struct ab_command *command,
			    const struct ab_judged *c, const struct hidden *hidden,
			    struct ab_strv *ret)
{
	size_t before = ret->len;

	for (size_t i = 1; i < c->argc; i++) {
		const struct ab_field *f = &c->argv[i];
		ab_autofree char *word = ab_strndup(f->text.s, f->text.len);

		if (f->unknown || f->splits || f->pattern || strlen(word) != f->text.len)
			return false;
		/* "-fFILE", "--file=FILE" */
		if (word[0] == '-' && strlen(word) > 2)
			return false;
		if (!is_secret(arena, command, word))
			continue;
		if (!is_hidden(hidden, word))
			return false;
		ab_strv_add_once(ret, word);
	}
	return ret->len > before;
}

bool ab_closed_files(struct ab_arena *arena, const struct ab_command *command,
		     const struct ab_judgement *judgement, struct ab_strv *ret_paths)
{
	const char *rule = ab_rules[AB_RULE_CREDENTIAL_ACCESS].name;
	struct hidden hidden = { 0 };
	struct ab_error err;
	bool closed;

	/* A redirection may name a file that the box shows. */
	if (memchr(judgement->text.s, '<', judgement->text.len))
		return false;
	if (judgement->decision != AB_ESCALATED || strcmp(judgement->rule, rule) != 0 ||
	    has_other_reason(arena, command) ||
	    ab_expand_deny(&command->policy->fs.deny_read, &hidden.v, &hidden.n, &err) < 0)
		return false;
	closed = true;
	for (const struct ab_judged *c = judgement->commands; c && closed; c = c->next)
		if (c->decision >= AB_ESCALATED)
			closed = is_reader(c) &&
				 check_arguments(arena, command, c, &hidden, ret_paths);
	ab_guards_free(hidden.v, hidden.n);
	return closed && ret_paths->len > 0;
}
