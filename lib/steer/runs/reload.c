#include "steer/runs/reload.h"

#include "base/system/folder.h"
#include "steer/client/json.h"
#include "steer/client/steer.h"

static void reload_one(struct ab_steer *steer, bool cut, struct ab_reloaded *ret)
{
	json_auto_t *answer = NULL;

	*ret = (struct ab_reloaded){ 0 };
	memcpy(ret->run, steer->id, sizeof(ret->run));
	if (ab_steer_ask(steer, &answer, &ret->error, "'do':'reload','cut':%hhd", cut) < 0)
		return;
	ab_json_words(json_object_get(answer, "changes"), &ret->changes);
	ab_json_words(json_object_get(answer, "notes"), &ret->notes);
}

static int reload_run(const struct ab_state *state, const char *run, bool cut,
		      struct ab_reloads *list, struct ab_error *err)
{
	ab_auto(ab_steer_fini) struct ab_steer steer = { .fd = -1 };

	if (ab_steer_open(state, run, &steer, err) < 0)
		return -1;
	reload_one(&steer, cut, ab_append(list->v, list->len));
	return 0;
}

/* Ignore runs that end meanwhile. */
static int reload_all(const struct ab_state *state, bool cut, struct ab_reloads *list,
		      struct ab_error *err)
{
	ab_autodir DIR *live = ab_folder_list(state->live, ".");
	const char *id;

	if (!live)
		return ab_fail(err, AB_ESYSTEM, errno, "list the runs");
	while ((id = ab_folder_next(live)) != NULL) {
		struct ab_error gone = { 0 };

		if (id[0] != '.')
			reload_run(state, id, cut, list, &gone);
	}
	return list->len ? 0 : ab_fail(err, AB_ESYSTEM, 0, "no active runs");
}

int ab_reload(const struct ab_policy_input *input, const char *run, bool cut,
	      struct ab_reloads *ret, struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;

	*ret = (struct ab_reloads){ 0 };
	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	return run ? reload_run(&state, run, cut, ret, err) : reload_all(&state, cut, ret, err);
}

void ab_reloads_fini(struct ab_reloads *list)
{
	for (size_t i = 0; i < list->len; i++)
		ab_strv_fini_all(&list->v[i].changes, &list->v[i].notes);
	free(list->v);
	*list = (struct ab_reloads){ 0 };
}
