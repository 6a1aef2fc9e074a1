#include "steer/client/live_writers.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "base/system/path.h"
#include "session/state/state.h"
#include "workspace/quarantine/journal.h"

struct search {
	const char *path;
	bool whole;
	char found[8];
};

static void look_at_run(struct ab_run *run, void *arg)
{
	struct search *s = arg;
	json_t *start = ab_run_start(run), *one;
	const json_t *roots = json_object_get(json_object_get(start, "watch"), "write");
	size_t i;

	json_array_foreach(roots, i, one)
	{
		ab_autofree char *root = ab_journal_get_path(json_string_value(one));

		if (root &&
		    (ab_path_within(s->path, root) || (s->whole && ab_path_within(root, s->path))))
			memcpy(s->found, run->id, sizeof(s->found));
	}
	json_decref(start);
}

bool ab_find_live_writer(const struct ab_state *state, const char *path, bool whole,
			 char ret_run[8])
{
	struct search s = { .path = path, .whole = whole };

	ab_state_each_live(state, look_at_run, &s);
	if (!s.found[0])
		return false;
	memcpy(ret_run, s.found, sizeof(s.found));
	return true;
}
