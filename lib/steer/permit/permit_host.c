#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "policy/layers/layers.h"
#include "policy/values/host_groups.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"
#include "steer/permit/permit_state.h"

static const char *verb(const struct ab_permit_job *job)
{
	return job->ask->deny ? "deny" : "allow";
}

static const char *list_key(const struct ab_permit_job *job)
{
	return job->ask->deny ? "network.deny" : "network.allow";
}

static void say_done(struct ab_permit_job *job, const char *run, const char *entry,
		     const json_t *answer)
{
	json_int_t released = json_integer_value(json_object_get(answer, "released"));

	memcpy(job->ret->run, run, sizeof(job->ret->run));
	job->ret->released += (uint64_t)released;
	ab_strv_give(&job->ret->said, ab_permit_sentence(run, entry, job->ask->deny,
							 job->ask->for_ms, (uint64_t)released));
}

static int grant(struct ab_permit_job *job, struct ab_steer *steer, const char *entry,
		 struct ab_error *err)
{
	json_t *answer;

	if (ab_steer_ask(steer, verb(job),
			 json_pack("{s:s,s:I}", "entry", entry, "for_ms",
				   (json_int_t)job->ask->for_ms),
			 &answer, err) < 0)
		return -1;
	say_done(job, steer->id, entry, answer);
	json_decref(answer);
	return 0;
}

static int grant_all(struct ab_permit_job *job, const char *run, struct ab_error *err)
{
	struct ab_steer steer;
	int result = 0;

	if (ab_steer_open(&job->state, run, &steer, err) < 0)
		return -1;
	for (size_t i = 0; result == 0 && i < job->ret->entries.len; i++)
		result = grant(job, &steer, job->ret->entries.v[i], err);
	ab_steer_fini(&steer);
	return result;
}

/* What can be done where no run goes on. */
static int hint_new_run(const struct ab_permit_job *job, struct ab_error *err)
{
	ab_autofree char *flag =
		ab_permit_flag(job->ask->deny ? "--deny" : "--allow", job->ret->entries.v[0]);
	ab_autofree char *again = ab_permit_again(&job->again, flag);

	return ab_hint(err,
		       "in a new run:  %s\n"
		       "in every run:  agentbox %s %s --always",
		       again, verb(job), job->ask->what);
}

/* Those that go on read the file by themselves. */
static int grant_beside(struct ab_permit_job *job, struct ab_error *err)
{
	struct ab_error lone = { 0 };
	struct ab_run only;

	if (ab_state_find_live(&job->state, NULL, &only, &lone) == 0) {
		ab_run_fini(&only);
		return grant_all(job, NULL, err);
	}
	/* None; or several. */
	if (lone.code == AB_EUSAGE)
		ab_strv_add(&job->ret->notes, "several runs go on: each reads the settings "
					      "again by itself");
	return 0;
}

static int expand(struct ab_permit_job *job, const struct ab_meant *meant)
{
	const struct ab_policy_input *in = job->ask->input;

	if (meant->kind == AB_MEANT_HOST) {
		ab_strv_add(&job->ret->entries, meant->entry);
		return 0;
	}
	return ab_group_expand(meant->entry + 1, in->home, in->environ, &job->ret->entries) ? 0
											    : -1;
}

/* Whose lists the settings stand above: those of the run that was meant, else
 * of the last one here. */
static void find_profile(struct ab_permit_job *job)
{
	struct ab_error none = { 0 };

	if (*job->ret->run)
		ab_permit_find(job, job->ret->run, &none);
	else
		ab_permit_find_here(job, job->ask->input->cwd);
}

int ab_permit_hosts(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err)
{
	const struct ab_permit *ask = job->ask;

	if (expand(job, meant) < 0)
		return ab_fail(err, AB_EUSAGE, 0, "there is no group %s", meant->entry);
	if (ask->run || !ask->always) {
		if (grant_all(job, ask->run, err) < 0)
			return err->code == AB_EUSAGE || err->hint[0] ? -1 : hint_new_run(job, err);
	} else if (grant_beside(job, err) < 0) {
		return -1;
	}
	if (!ask->always)
		return 0;
	find_profile(job);
	return ab_permit_always(job, list_key(job), meant->entry, err);
}

static int answer_question(struct ab_permit_job *job, struct ab_steer *steer, const char *entry,
			   struct ab_error *err)
{
	json_t *answer;

	/* A word with an end, and a no that lasts, are rules. */
	if (job->ask->for_ms || job->ask->deny)
		return grant(job, steer, entry, err);
	if (ab_steer_ask(steer, "answer",
			 json_pack("{s:s,s:s}", "id", job->ask->what, "answer", "run"), &answer,
			 err) < 0)
		return -1;
	say_done(job, steer->id, entry, answer);
	json_decref(answer);
	return 0;
}

/* The run holds its whole network until somebody says something. */
static int release_hold(struct ab_permit_job *job, struct ab_steer *steer, struct ab_error *err)
{
	bool deny = job->ask->deny;
	json_t *answer;

	if (job->ask->for_ms || job->ask->always)
		return ab_fail(err, AB_EUSAGE, 0,
			       "%s holds its network: that is answered once, "
			       "without --for and --always",
			       steer->id);
	if (ab_steer_ask(steer, "answer",
			 json_pack("{s:s,s:s}", "id", job->ask->what, "answer",
				   deny ? "no" : "run"),
			 &answer, err) < 0)
		return -1;
	memcpy(job->ret->run, steer->id, sizeof(job->ret->run));
	ab_strv_addf(&job->ret->said, "%s: %s", steer->id,
		     deny ? "what waits for the network is refused" : "the network goes on");
	json_decref(answer);
	return 0;
}

static int take_question(struct ab_permit_job *job, struct ab_steer *steer, const json_t *question,
			 struct ab_error *err)
{
	struct ab_lift lift;

	if (ab_json_is(question, "why", "held"))
		return release_hold(job, steer, err);
	if (ab_permit_judge(job->ask->what, question, job->ask->deny, &job->again, &lift, err) < 0)
		return -1;
	ab_strv_add(&job->ret->entries, lift.entry);
	if (answer_question(job, steer, lift.entry, err) < 0)
		return -1;
	if (job->ask->deny)
		ab_strv_add(&job->ret->said, "what waited for it is refused");
	return job->ask->always ? ab_permit_always(job, list_key(job), lift.entry, err) : 0;
}

/* 1: it was a question, and is answered. */
static int try_question(struct ab_permit_job *job, uint32_t number, struct ab_error *err)
{
	struct ab_error away = { 0 };
	json_t *question = NULL;
	struct ab_steer steer;
	int result;

	/* It may have ended since; its record is still there. */
	if (ab_steer_open(&job->state, job->run.id, &steer, &away) < 0)
		return 0;
	result = ab_steer_question(&steer, job->ask->what, number, &question, err);
	if (result > 0 && take_question(job, &steer, question, err) < 0)
		result = -1;
	json_decref(question);
	ab_steer_fini(&steer);
	return result;
}

/* The run of a denial is over. */
static int tell_over(struct ab_permit_job *job, struct ab_error *err)
{
	ab_fail(err, AB_EREFUSED, 0, "run %s is over, and nothing was changed", job->run.id);
	return hint_new_run(job, err);
}

static int lift_host(struct ab_permit_job *job, const char *entry, struct ab_error *err)
{
	const struct ab_permit *ask = job->ask;
	const char *run = ask->run ? ask->run : job->run.live ? job->run.id : NULL;

	ab_strv_add(&job->ret->entries, entry);
	if (!run && !ask->always)
		return tell_over(job, err);
	if (run && grant_all(job, run, err) < 0)
		return -1;
	return ask->always ? ab_permit_always(job, list_key(job), entry, err) : 0;
}

static int take_record(struct ab_permit_job *job, const char *line, struct ab_error *err)
{
	json_t *record = json_loads(line, 0, NULL);
	struct ab_lift lift;
	int result =
		ab_permit_judge(job->ask->what, record, job->ask->deny, &job->again, &lift, err);

	if (result == 0)
		result = lift.path ? ab_permit_path(job, lift.path, true, err)
				   : lift_host(job, lift.entry, err);
	json_decref(record);
	return result;
}

static int no_such_run(const struct ab_permit_job *job, struct ab_error *err)
{
	return ab_hint(err, "if it is a host, write it with a dot: %s.", job->ask->what);
}

int ab_permit_hold(struct ab_permit_job *job, struct ab_error *err)
{
	int result = job->run.live ? try_question(job, 0, err) : 0;

	if (result)
		return result < 0 ? -1 : 0;
	ab_fail(err, AB_EUSAGE, 0, "%s is a run, not a host", job->ask->what);
	return ab_hint(err,
		       "what it was refused: agentbox log %s --denied\n"
		       "if it is a host, write it with a dot: %s.",
		       job->ask->what, job->ask->what);
}

int ab_permit_denial(struct ab_permit_job *job, const struct ab_meant *meant, struct ab_error *err)
{
	const char *id = job->ask->what;
	struct ab_found_denial found = { 0 };
	int result;

	if (ab_permit_find(job, meant->denial.run, err) < 0)
		return no_such_run(job, err);
	if (job->run.live && meant->denial.kind == AB_DENIAL_NETWORK) {
		result = try_question(job, meant->denial.number, err);
		if (result)
			return result < 0 ? -1 : 0;
	}
	result = ab_find_denial(job->run.dir, id, &found, err);
	if (result == 0) {
		ab_fail(err, AB_EUSAGE, 0, "run %s was refused nothing as %s", job->run.id, id);
		return ab_hint(err,
			       "what it was refused: agentbox log %s "
			       "--denied",
			       job->run.id);
	}
	if (result > 0)
		result = take_record(job,
				     found.denied     ? found.denied
				     : found.question ? found.question
						      : found.request,
				     err);
	ab_found_denial_fini(&found);
	return result;
}
