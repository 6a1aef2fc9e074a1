#include "steer/preview/preview.h"

#include "consent/consent.h"
#include "host/home/home.h"
#include "host/home/home_registries.h"
#include "policy/toolchains/registries.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"
#include "state/approvals.h"
#include "state/next_run.h"

/* With the paths that were allowed for the next run, which stay for it. */
static int load_policy(const struct ab_policy_input *in, struct ab_preview *p, struct ab_error *err)
{
	struct ab_policy_input with = *in;
	ab_autofree struct ab_setting *settings = NULL;
	ab_autostrv struct ab_strv next = { 0 };
	size_t n = in->nsettings;

	if (!p->nested)
		ab_next_run_peek(in, time(NULL), &next);
	settings = ab_alloc((n + next.len + 1) * sizeof(settings[0]));
	for (size_t i = 0; i < n; i++)
		settings[i] = in->settings[i];
	for (size_t i = 0; i < next.len; i++)
		settings[n++] =
			(struct ab_setting){ "filesystem.write", next.v[i], AB_NEXT_RUN_ORIGIN };
	with.settings = settings;
	with.nsettings = n;
	if (ab_policy_load(&with, &p->policy, &p->notes, err) < 0)
		return -1;
	/* As in a run inside a box, and in one without mounts. */
	if (p->nested)
		p->policy->fs.review = AB_REVIEW_NONE;
	if (p->policy->assurance.engine == AB_ENGINE_NO_NAMESPACES &&
	    p->policy->fs.home != AB_HOME_PRIVATE)
		p->policy->fs.home = AB_HOME_READONLY;
	ab_policy_review_commands(p->policy);
	return 0;
}

static int look_at_host(const struct ab_request *rq, struct ab_preview *p, struct ab_error *err)
{
	ab_autofree char *state = ab_state_dir(rq->policy.environ, rq->policy.home, rq->policy.cwd);
	struct ab_home_setup setup = { .policy = p->policy,
				       .env = rq->policy.environ,
				       .nested = p->nested };
	struct ab_host_look look = { .policy = p->policy,
				     .env = rq->policy.environ,
				     .program = rq->argc ? rq->argv[0] : NULL,
				     .look_only = true };
	struct ab_registry_views views = { 0 };
	int result;

	p->state = state && !p->nested ? realpath(state, NULL) : NULL;
	look.state = p->state;
	if (!p->nested)
		ab_home_registries_find(p->policy, &views);
	look.viewed = &views;
	result = ab_host_facts_look(&look, &p->host, err);
	ab_registry_views_fini(&views);
	if (result < 0)
		return -1;
	ab_home_look(&setup, &p->host, &p->notes, &p->home);
	ab_home_try(p->policy, &p->host, &p->home);
	ab_strv_extend(&p->notes, &p->host.notes);
	ab_strv_extend(&p->notes, &p->host.survey.findings);
	/* Its layer does not exist yet: it is made when the run starts. */
	if (p->host.survey.reviewed) {
		ab_layer_mounts_drop(&p->host.facts.layers, p->host.survey.reviewed);
		ab_layer_mounts_add(&p->host.facts.layers, p->host.survey.reviewed);
	}
	ab_plan_make(&p->host.facts, &p->plan);
	return 0;
}

/* What would answer the question, if something does. */
static enum ab_preview_verdict find_approval(const struct ab_request *rq,
					     const struct ab_command *command, bool nested)
{
	enum ab_memory memory = AB_MEMORY_NONE;
	struct ab_session_key session;
	struct ab_error unread = { 0 };
	char key[65], id[8];

	if (nested)
		return rq->yes ? AB_PREVIEW_APPROVED : AB_PREVIEW_REFUSED;
	ab_consent_key(command, key);
	ab_session_of_caller(&session);
	(void)ab_approvals_find(&rq->policy, &session, key, &memory, id, &unread);
	if (memory == AB_MEMORY_NONE)
		return rq->yes ? AB_PREVIEW_APPROVED : AB_PREVIEW_ASKED;
	return memory == AB_MEMORY_DENIED ? AB_PREVIEW_REFUSED : AB_PREVIEW_APPROVED;
}

static void judge_command(const struct ab_request *rq, struct ab_preview *p)
{
	struct ab_command command = { .policy = p->policy,
				      .cwd = rq->policy.cwd,
				      .argv = rq->argv,
				      .argc = rq->argc,
				      .script = rq->script };

	if (rq->argc == 0 && !rq->script)
		return;
	ab_consent_judge(&p->arena, &command, &p->judgement);
	if (p->judgement.decision == AB_ESCALATED)
		p->verdict = find_approval(rq, &command, p->nested);
	else
		p->verdict = p->judgement.decision == AB_FORBIDDEN ? AB_PREVIEW_REFUSED
								   : AB_PREVIEW_RUNS;
}

int ab_preview_open(const struct ab_request *request, bool judging, struct ab_preview *ret,
		    struct ab_error *err)
{
	struct ab_policy_input in = request->policy;

	in.judging = judging;
	*ret = (struct ab_preview){ .nested = ab_furniture_boxed() };
	if (load_policy(&in, ret, err) < 0 || look_at_host(request, ret, err) < 0) {
		ab_preview_fini(ret);
		return -1;
	}
	judge_command(request, ret);
	return 0;
}

void ab_preview_fini(struct ab_preview *p)
{
	ab_plan_fini(&p->plan);
	ab_host_facts_fini(&p->host);
	ab_arena_fini(&p->arena);
	ab_policy_free(p->policy);
	ab_strv_fini_all(&p->notes, &p->home);
	free(p->state);
	*p = (struct ab_preview){ 0 };
}
