#include <stdlib.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "policy/layers/layers.h"
#include "steer/client/json.h"
#include "steer/permit/permit_state.h"

/* A person looks for what happened a moment ago. */
enum { LOOKED_AT = 200 };

void ab_permit_forget(struct ab_permit_job *job)
{
	ab_found_run_fini(&job->run);
	json_decref(job->start);
	job->start = NULL;
	job->again.start = NULL;
}

static void keep(struct ab_permit_job *job, const struct ab_found_run *run)
{
	ab_permit_forget(job);
	job->run = *run;
	job->start = json_loads(run->first, 0, NULL);
	job->again.start = job->start;
}

int ab_permit_find(struct ab_permit_job *job, const char *run, struct ab_error *err)
{
	struct ab_found_run found;

	if (ab_find_run(job->state.live, job->state.runs, run, &found, err) < 0)
		return -1;
	keep(job, &found);
	return 0;
}

static bool is_in(const struct ab_found_run *run, const char *workspace)
{
	json_t *start = json_loads(run->first, 0, NULL);
	bool same = ab_json_is(json_object_get(start, "policy"), "workspace", workspace);

	json_decref(start);
	return same;
}

void ab_permit_find_here(struct ab_permit_job *job, const char *workspace)
{
	ab_autostrv struct ab_strv ids = { 0 };
	struct ab_error err = { 0 };

	if (ab_find_all(job->state.live, job->state.runs, &ids, &err) < 0)
		return;
	for (size_t i = ids.len, n = 0; i-- > 0 && n < LOOKED_AT; n++) {
		struct ab_found_run run;

		if (ab_find_run(job->state.live, job->state.runs, ids.v[i], &run, &err) < 0)
			continue;
		if (is_in(&run, workspace)) {
			keep(job, &run);
			return;
		}
		ab_found_run_fini(&run);
	}
}

struct ab_policy_input ab_permit_input(const struct ab_permit_job *job)
{
	const char *profile = ab_json_text(json_object_get(job->start, "policy"), "profile");
	const char *workspace = ab_json_text(json_object_get(job->start, "policy"), "workspace");
	struct ab_policy_input in = *job->ask->input;

	/* Nothing will run: the folder that we stand in may be any. */
	in.judging = true;
	if (*profile)
		in.profile = profile;
	if (*workspace)
		in.workspace = workspace;
	return in;
}
