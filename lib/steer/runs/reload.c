#include "steer/runs/reload.h"

#include "base/system/folder.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"

struct reload {
	const struct ab_state *state;
	bool cut;
	ab_reloaded_fn *fn;
	void *arg;
};

static int reload_run(const struct reload *r, const char *run, struct ab_error *err)
{
	ab_auto(ab_steer_fini) struct ab_steer steer = { .fd = -1 };
	struct ab_reloaded done = { 0 };
	json_auto_t *answer = NULL;

	if (ab_steer_open(r->state, run, &steer, err) < 0)
		return -1;
	memcpy(done.run, steer.id, sizeof(done.run));
	if (ab_steer_ask(&steer, &answer, &done.error, "'do':'reload','cut':%hhd", r->cut) == 0) {
		ab_json_words(json_object_get(answer, "changes"), &done.changes);
		ab_json_words(json_object_get(answer, "notes"), &done.notes);
	}
	r->fn(r->arg, &done);
	ab_strv_fini_all(&done.changes, &done.notes);
	return 0;
}

/* Ignore runs that end meanwhile. */
static int reload_all(const struct reload *r, struct ab_error *err)
{
	ab_autodir DIR *live = ab_folder_list(r->state->live, ".");
	const char *id;
	bool any = false;

	if (!live)
		return ab_fail(err, AB_ESYSTEM, errno, "list the runs");
	while ((id = ab_folder_next(live)) != NULL) {
		struct ab_error gone = { 0 };

		any |= id[0] != '.' && reload_run(r, id, &gone) == 0;
	}
	return any ? 0 : ab_fail(err, AB_ESYSTEM, 0, "no active runs");
}

int ab_reload(const struct ab_policy_input *input, const char *run, bool cut, ab_reloaded_fn *fn,
	      void *arg, struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	const struct reload r = { &state, cut, fn, arg };

	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	return run ? reload_run(&r, run, err) : reload_all(&r, err);
}
