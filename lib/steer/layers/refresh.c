/*
 * `layers refresh`: the copy in the layer is removed, and the host's file shows
 * again. The box chose every name in the layer: it is opened beneath it, without
 * links and on one mount, and only what the comparison found is removed.
 */
#include "layer/journal/view.h"
#include "layer/store/store.h"
#include "layer/walk/changes.h"
#include "policy/layers/layers.h"
#include "state/claim.h"
#include "state/state.h"
#include "steer/client/steer.h"
#include "steer/layers/layers.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/remove_tree.h"

static void leave_path(struct ab_layers_refreshed *ret, const char *path, const char *why)
{
	ab_strv_add(&ret->left, path);
	ab_strv_add(&ret->left, why);
}

/* A folder that the host has as a file is removed with everything in it. */
static int remove_copy(int upper, const struct ab_change *change)
{
	ab_autofree char *parent = strchr(change->path, '/') ? ab_strdup(change->path) : NULL;
	const char *name = ab_path_name(change->path);
	ab_autoclose int dir = -1;

	if (parent)
		*strrchr(parent, '/') = '\0';
	dir = ab_open_same_mount(upper, parent ? parent : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (dir < 0)
		return -1;
	return change->is == AB_TYPE_DIR ? ab_remove_tree(dir, name) : unlinkat(dir, name, 0);
}

/* Is it one of the paths that were named? */
static bool is_named(const char *path, const struct ab_strv *named)
{
	for (size_t i = 0; i < named->len; i++)
		if (strcmp(named->v[i], "") == 0 || strcmp(named->v[i], path) == 0 ||
		    ab_changes_below(path, named->v[i]))
			return true;
	return false;
}

static void refresh_changes(int upper, const struct ab_changes *changes,
			    const struct ab_strv *named, struct ab_layers_refreshed *ret)
{
	for (size_t i = 0; i < changes->len; i++) {
		const struct ab_change *change = &changes->v[i];
		bool wanted = named->len ? is_named(change->path, named) : change->conflict;
		/* A folder in the layer and on the host is one folder; only its mode may differ. */
		bool folder = change->was == AB_TYPE_DIR && change->is == AB_TYPE_DIR;

		if (!wanted || folder || change->kind == AB_CHANGE_ADDED)
			continue;
		if (change->full)
			leave_path(ret, change->path, "the box replaced its folder");
		else if (remove_copy(upper, change) < 0)
			leave_path(ret, change->path, strerror(errno));
		else
			ab_strv_add(&ret->paths, change->path);
	}
}

/* Relative to the home folder of the layer. */
static int name_paths(const struct ab_policy_input *input, const char *home,
		      const char *const *paths, size_t npaths, struct ab_strv *ret,
		      struct ab_error *err)
{
	for (size_t i = 0; i < npaths; i++) {
		ab_autofree char *path = ab_path_resolve(paths[i], input->cwd, input->home);

		if (!path || !ab_path_within(path, home)) {
			ab_fail(err, AB_EUSAGE, 0, "%s is not in the home folder %s", paths[i],
				home);
			return ab_hint(err, "name files and folders in it, for example ~/.npmrc");
		}
		ab_strv_add(ret, strcmp(path, home) == 0 ? "" : path + strlen(home) + 1);
	}
	return 0;
}

static int refresh_set(const struct ab_policy_input *input, const struct ab_layer_set *set,
		       const char *const *paths, size_t npaths, struct ab_layers_refreshed *ret,
		       struct ab_error *err)
{
	ab_autostrv struct ab_strv named = { 0 };
	const char *home = set->meta.home;
	ab_autoclose int upper = ab_layer_set_open(set, "home/upper", O_RDONLY | O_DIRECTORY);
	ab_autoclose int lower = -1;
	struct ab_changes changes = { 0 };
	struct ab_layer_view view = {
		.upper = upper,
		.since = { .tv_sec = set->meta.first_ns / 1000000000,
			   .tv_nsec = set->meta.first_ns % 1000000000 },
	};
	int result;

	if (upper < 0 && errno == ENOENT)
		return 0;
	if (upper < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s/home/upper", set->path);
	if (!home || !*home)
		return ab_fail(err, AB_ESYSTEM, 0, "the home folder of %s is not known", set->key);
	if (name_paths(input, home, paths, npaths, &named, err) < 0)
		return -1;
	lower = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lower < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", home);
	view.lower = lower;
	result = ab_changes_collect(&view, NULL, &changes, err);
	/* What was found can be refreshed even if it is not all. */
	if (result == 0)
		refresh_changes(upper, &changes, &named, ret);
	if (result == 0 && changes.cut)
		leave_path(ret, "", "there are too many files to compare all of them");
	ab_changes_fini(&changes);
	return result;
}

int ab_layers_refresh(const struct ab_policy_input *input, const char *which,
		      const char *const *paths, size_t npaths, struct ab_layers_refreshed *ret,
		      struct ab_error *err)
{
	ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	struct ab_claim claim;

	*ret = (struct ab_layers_refreshed){ 0 };
	/* The cleanup of a run may look at it for a moment. */
	if (ab_steer_state(input, &state, err) < 0 ||
	    ab_layers_find(AB_LAYER_STORE(&state), which, input->cwd, AB_LAYERS_LOCK, &set, err) <
		    0)
		return -1;
	ab_claim_init(&claim, &state, NULL);
	if (ab_layer_recover(&set, &claim.guard, &ret->notes, err) < 0)
		return -1;
	return refresh_set(input, &set, paths, npaths, ret, err);
}

void ab_layers_refreshed_fini(struct ab_layers_refreshed *done)
{
	ab_strv_fini_all(&done->paths, &done->left, &done->notes);
}
