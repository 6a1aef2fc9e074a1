#include "steer/layers/layers.h"

#include "layer/apply/apply.h"
#include "layer/journal/view.h"
#include "layer/store/store.h"
#include "policy/layers/layers.h"
#include "state/claim.h"
#include "state/state.h"
#include "steer/client/steer.h"
#include "workspace/tree/dir.h"

static void fill_info(struct ab_layer_info *info, const struct ab_layer_set *set, bool sizes)
{
	const struct ab_layer_meta *meta = &set->meta;
	ab_autoclose int home = ab_layer_set_open(set, "home", O_PATH | O_DIRECTORY);
	struct ab_layer_size size;

	info->name = ab_strdup(meta->name);
	info->profile = ab_strdup(meta->profile);
	info->workspace = ab_strdup(meta->workspace);
	info->created_ms = meta->created_ns / 1000000;
	info->used_ms = meta->last_ns / 1000000;
	info->busy = ab_layer_set_busy(set);
	if (meta->runs.len)
		snprintf(info->run, sizeof(info->run), "%s", meta->runs.v[meta->runs.len - 1]);
	info->home = home >= 0;
	info->undo = ab_apply_can_undo(set);
	info->waiting = ab_layer_set_waiting(set);
	info->gone = ab_layer_root_gone(set, false);
	info->changes = meta->waiting;
	if (!sizes)
		return;
	ab_layer_set_size(set, AB_LAYER_ENTRIES_MAX, &size);
	info->bytes = size.bytes;
	info->more = size.cut;
}

/* The lock lets us look into closed folders. Without it a box uses them, or a command does. */
static int open_to_look(const struct ab_layer_store *store, const char *key, bool sizes,
			struct ab_layer_set *ret, struct ab_error *err)
{
	if (sizes && ab_layers_open(store, key, AB_LAYERS_LOCK | AB_LAYERS_LOOK, ret, err) == 0)
		return 0;
	return ab_layers_open(store, key, 0, ret, err);
}

static int by_use(const void *a, const void *b)
{
	const struct ab_layer_info *x = a, *y = b;

	if (x->used_ms != y->used_ms)
		return x->used_ms < y->used_ms ? 1 : -1;
	return strcmp(x->key, y->key);
}

static void look_at(const struct ab_layer_store *store, const struct ab_strv *keys, bool sizes,
		    struct ab_layer_infos *ret)
{
	ret->v = ab_alloc((keys->len + 1) * sizeof(ret->v[0]));
	for (size_t i = 0; i < keys->len; i++) {
		ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
		struct ab_layer_info *info = &ret->v[ret->len];
		struct ab_error err = { 0 };

		if (open_to_look(store, keys->v[i], sizes, &set, &err) == 0) {
			fill_info(info, &set, sizes);
		} else if (err.errnum == ENOENT) {
			continue; /* removed meanwhile */
		} else {
			info->damaged = ab_strdup(err.text);
			info->changes = -1;
		}
		info->key = ab_strdup(keys->v[i]);
		ret->len++;
	}
	qsort(ret->v, ret->len, sizeof(ret->v[0]), by_use);
}

int ab_layer_infos_get(const struct ab_policy_input *input, bool sizes, struct ab_layer_infos *ret,
		       struct ab_error *err)
{
	ab_autostrv struct ab_strv keys = { 0 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;

	*ret = (struct ab_layer_infos){ 0 };
	if (ab_steer_state(input, &state, err) < 0 ||
	    ab_layers_list(AB_LAYER_STORE(&state), &keys, err) < 0)
		return -1;
	look_at(AB_LAYER_STORE(&state), &keys, sizes, ret);
	return 0;
}

void ab_layer_infos_fini(struct ab_layer_infos *list)
{
	for (size_t i = 0; i < list->len; i++)
		ab_free_all(list->v[i].key, list->v[i].name, list->v[i].profile,
			    list->v[i].workspace, list->v[i].damaged);
	free(list->v);
	*list = (struct ab_layer_infos){ 0 };
}

/* A folder that cannot be read counts as one with files. */
static bool has_home_files(const struct ab_layer_set *set)
{
	ab_autoclose int fd = ab_layer_set_open(set, "home/upper", O_RDONLY | O_DIRECTORY);
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0)
		return errno != ENOENT;
	return ab_listing_read(&l, fd, 1) < 0 || l.len > 0;
}

/* Files of the host may be half changed, and the others are in the set. If their folder is gone,
 * they are of no use. */
static int settle_apply(const struct ab_state *state, const struct ab_layer_set *set, bool force,
			struct ab_strv *notes, struct ab_error *err)
{
	struct ab_claim claim;

	ab_claim_init(&claim, state, NULL);
	if (ab_layer_recover(set, &claim.guard, notes, err) == 0)
		return 0;
	if (!force || err->errnum != ENODEV)
		return -1;
	*err = (struct ab_error){ 0 };
	return 0;
}

int ab_layers_rm(const struct ab_policy_input *input, const char *which, bool force,
		 int64_t *ret_changes, struct ab_strv *notes, struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
	const struct ab_layer_store *store;
	bool damaged = false;

	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	store = AB_LAYER_STORE(&state);
	/* The cleanup of a run may look at it for a moment. */
	if (ab_layers_find(store, which, input->cwd, AB_LAYERS_LOCK, &set, err) < 0) {
		/* What cannot be read can still be removed. */
		if (err->code != AB_ECONFIG)
			return -1;
		*err = (struct ab_error){ 0 };
		if (ab_layers_open(store, which, AB_LAYERS_LOCK | AB_LAYERS_TRY | AB_LAYERS_UNREAD,
				   &set, err) < 0)
			return -1;
		damaged = true;
	}
	if (!damaged && settle_apply(&state, &set, force, notes, err) < 0)
		return -1;
	*ret_changes = set.meta.waiting;
	if (!force && ab_layer_set_waiting(&set))
		return 1;
	if (!force && !damaged && has_home_files(&set))
		return 2;
	return ab_layers_remove(store, &set, err);
}
