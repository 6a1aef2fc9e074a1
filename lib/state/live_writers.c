#include "state/live_writers.h"

#include "audit/write/log.h"
#include "state/state.h"
#include "workspace/quarantine/journal.h"

struct look {
	const struct ab_writer_search *search;
	char found[8];
};

static bool is_concerned(const struct ab_writer_search *s, const char *writable)
{
	if (!s->paths)
		return ab_paths_overlap(writable, s->root);
	if (ab_path_within(s->root, writable))
		return true;
	for (size_t i = 0; ab_path_within(writable, s->root) && i < s->paths->len; i++) {
		ab_autofree char *path = ab_path_join(s->root, s->paths->v[i]);

		if (ab_paths_overlap(writable, path))
			return true;
	}
	return false;
}

static bool can_write(const struct ab_writer_search *s, const json_t *start)
{
	const json_t *roots = json_object_get(json_object_get(start, "watch"), "write"), *one;
	size_t i;

	json_array_foreach(roots, i, one)
	{
		ab_autofree char *root = ab_journal_get_path(json_string_value(one));

		if (!root || is_concerned(s, root))
			return true;
	}
	return false;
}

static void look_at_run(struct ab_run *run, void *arg)
{
	struct look *l = arg;
	json_auto_t *start = NULL;

	if (l->search->except && strcmp(run->id, l->search->except) == 0)
		return;
	start = ab_run_start(run);
	if (start ? can_write(l->search, start) : ab_log_begun(run->dir))
		memcpy(l->found, run->id, sizeof(l->found));
}

bool ab_find_live_writer(const struct ab_state *state, const struct ab_writer_search *search,
			 char ret_run[8])
{
	struct look l = { .search = search };
	bool all = ab_state_each_live(state, look_at_run, &l) == 0;

	if (all && !l.found[0])
		return false;
	memcpy(ret_run, l.found[0] ? l.found : "?", l.found[0] ? sizeof(l.found) : 2);
	return true;
}

int ab_fail_live_writer(const char *place, const char *run, struct ab_error *err)
{
	ab_autofree char *shown = ab_escape(place);

	if (run[0] == '?')
		return ab_fail(err, AB_EREFUSED, 0,
			       "cannot change files in %s: it is not known which runs are active",
			       shown);
	ab_fail(err, AB_EREFUSED, 0, "cannot change files in %s while the run %s can write there",
		shown, run);
	return ab_hint(err, "wait until it ends, or end it: agentbox stop %s", run);
}
