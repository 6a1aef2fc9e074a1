#include "consent/check.h"

#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "shell/match/closed_paths.h"
#include "shell/command/rules.h"
#include "shell/judge/judge.h"
#include "shell/syntax/parse.h"

struct ab_check {
	struct ab_policy *policy;
	struct ab_scene scene;
	struct ab_closed closed;
	struct ab_arena arena; /* holds the last judgement */
	struct ab_judgement judgement;
	char *cwd;
};

int ab_check_new(const struct ab_policy_input *input, struct ab_check **ret,
		 struct ab_strv *ret_notes, struct ab_error *err)
{
	struct ab_policy_input in = *input;
	struct ab_policy *policy;
	struct ab_check *check;

	in.judging = true;
	if (ab_policy_load(&in, &policy, ret_notes, err) < 0)
		return -1;
	check = ab_alloc(sizeof(*check));
	check->policy = policy;
	check->cwd = ab_strdup(input->cwd);
	ab_closed_init(&check->closed, &policy->fs.deny_read, check->cwd);
	check->scene = (struct ab_scene){
		.home = policy->home,
		.cwd = check->cwd,
		.workspace = policy->workspace,
		.ruling = policy->commands.ruling,
		.deny_write = &policy->fs.deny_write,
		.closed = &check->closed,
	};
	*ret = check;
	return 0;
}

void ab_check_free(struct ab_check *check)
{
	if (!check)
		return;
	ab_arena_fini(&check->arena);
	ab_policy_free(check->policy);
	ab_free_all(check->cwd, check);
}

const struct ab_judgement *ab_check_text(struct ab_check *check, const char *text, size_t len)
{
	/* The judge rejects any text above the limit without reading it. */
	if (len > AB_SHELL_TEXT_MAX)
		len = AB_SHELL_TEXT_MAX + 1;
	ab_arena_reset(&check->arena);
	ab_judge_text(&check->arena, &check->scene, (struct ab_text){ text, (uint32_t)len },
		      &check->judgement);
	return &check->judgement;
}

const struct ab_judgement *ab_check_argv(struct ab_check *check, const char *const *argv,
					 size_t argc)
{
	ab_arena_reset(&check->arena);
	ab_judge_argv(&check->arena, &check->scene, argv, argc, &check->judgement);
	return &check->judgement;
}
