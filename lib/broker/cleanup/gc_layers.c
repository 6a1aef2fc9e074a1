#include "broker/cleanup/gc_layers.h"

#include <jansson.h>

#include "audit/write/log.h"
#include "base/text/units.h"
#include "broker/cleanup/hourly.h"
#include "layer/store/store.h"
#include "state/state.h"

enum {
	COUNTED = 20000,   /* entries, at a look */
	STEP_REMOVED = 25, /* entries, for each folder of a record that may be removed */
};

/* Its time is that of the last look at all sets. It is not empty while something is left to remove.
 */
#define LOOKED AB_LAYERS_FOLDER "/.looked"

struct kept_set {
	char *key;
	int64_t used_ms;
	uint64_t bytes;
	bool busy, waiting, unreadable;
};

struct set_list {
	struct kept_set *v;
	size_t len;
};

/* Beside a box, the broker that watches it must not wait. */
static unsigned how_to_open(const struct ab_gc_layers_rule *rule)
{
	return AB_LAYERS_LOCK | AB_LAYERS_LOOK | (rule->late ? AB_LAYERS_TRY : 0);
}

/* Also counts a set that another process has locked or that cannot be read. */
static void look_at_set(const struct ab_layer_store *store, const struct ab_gc_layers_rule *rule,
			const char *key, uint64_t *entries, struct kept_set *ret)
{
	ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
	struct ab_error err = { 0 };
	struct ab_layer_size size;

	*ret = (struct kept_set){ .key = ab_strdup(key) };
	if (ab_layers_open(store, key, how_to_open(rule), &set, &err) < 0) {
		ret->busy = true;
		ret->unreadable = ab_layers_open(store, key, 0, &set, &err) < 0;
		if (ret->unreadable)
			return;
	}
	ret->used_ms = set.meta.last_ns / 1000000;
	ret->waiting = ab_layer_set_waiting(&set);
	/* It has files that belong to the host. The next command that uses it settles that. */
	ret->busy |= ab_layer_set_interrupted(&set);
	ab_layer_set_size(&set, *entries, &size);
	ret->bytes = size.bytes;
	*entries -= size.entries;
}

/* Those that stay come first, then the newest. */
static int by_claim(const void *a, const void *b)
{
	const struct kept_set *x = a, *y = b;
	bool stays_x = x->busy || x->waiting, stays_y = y->busy || y->waiting;

	if (stays_x != stays_y)
		return stays_x ? -1 : 1;
	if (x->used_ms != y->used_ms)
		return x->used_ms < y->used_ms ? 1 : -1;
	return strcmp(x->key, y->key);
}

static void list_sets(const struct ab_layer_store *store, const struct ab_gc_layers_rule *rule,
		      struct set_list *ret)
{
	uint64_t entries = rule->entries;
	ab_autostrv struct ab_strv keys = { 0 };

	*ret = (struct set_list){ 0 };
	if (ab_layers_list(store, &keys, &(struct ab_error){ 0 }) < 0 || keys.len == 0)
		return;
	ret->v = ab_alloc(keys.len * sizeof(ret->v[0]));
	for (ret->len = 0; ret->len < keys.len; ret->len++)
		look_at_set(store, rule, keys.v[ret->len], &entries, &ret->v[ret->len]);
	qsort(ret->v, ret->len, sizeof(ret->v[0]), by_claim);
}

/* One that was used in the future counts as new. */
static bool is_old(const struct kept_set *set, const struct ab_gc_layers_rule *rule, int64_t now)
{
	return rule->keep_ms != UINT64_MAX && now > set->used_ms &&
	       (uint64_t)(now - set->used_ms) > rule->keep_ms;
}

/* A run may have begun to use it since we looked. */
static bool remove_set(const struct ab_layer_store *store, const struct ab_gc_layers_rule *rule,
		       const struct kept_set *old)
{
	ab_autolayerset struct ab_layer_set set = AB_LAYER_SET_NONE;
	struct ab_error err = { 0 };

	if (ab_layers_open(store, old->key, how_to_open(rule), &set, &err) < 0 ||
	    set.meta.last_ns / 1000000 != old->used_ms ||
	    ab_layer_set_waiting(&set) != old->waiting)
		return false;
	return (rule->late ? ab_layers_retire(store, &set, &err)
			   : ab_layers_remove(store, &set, &err)) == 0;
}

static void decide_set(const struct ab_layer_store *store, const struct ab_gc_layers_rule *rule,
		       const struct kept_set *set, bool due, struct ab_gc_layers_report *ret)
{
	bool kept = true;

	if (due && !set->busy && set->waiting && !rule->waiting) {
		ab_strv_add(&ret->waiting, set->key);
	} else if (due && !set->busy) {
		kept = !rule->dry && !remove_set(store, rule, set);
		ret->failed += kept;
	}
	if (kept) {
		ret->kept++;
		ret->left += set->bytes;
	} else {
		ab_strv_add(&ret->removed, set->key);
		ret->freed += set->bytes;
	}
}

void ab_gc_layers(const struct ab_layer_store *store, const struct ab_gc_layers_rule *rule,
		  struct ab_gc_layers_report *ret)
{
	int64_t now = ab_clock_ms(CLOCK_REALTIME);
	struct set_list list;
	uint64_t total = 0;

	*ret = (struct ab_gc_layers_report){ 0 };
	list_sets(store, rule, &list);
	for (size_t i = 0; i < list.len; i++) {
		const struct kept_set *set = &list.v[i];
		bool large;

		total += set->bytes;
		large = rule->max_size != UINT64_MAX && total > rule->max_size;
		decide_set(store, rule, set, large || is_old(set, rule, now), ret);
	}
	ab_free_rows(list.v, list.len, key);
	if (!rule->dry && !rule->late)
		ab_layers_sweep(store, SIZE_MAX);
}

void ab_gc_layers_report_fini(struct ab_gc_layers_report *report)
{
	ab_strv_fini_all(&report->removed, &report->waiting);
}

int ab_gc_layers_policy(const char *record, struct ab_gc_layers_rule *ret)
{
	json_auto_t *root = json_loads(record, 0, NULL);
	const json_t *policy = json_object_get(root, "policy");
	const json_t *layers = json_object_get(policy, "layers");
	const char *age = json_string_value(json_object_get(layers, "keepFor"));
	const char *size = json_string_value(json_object_get(layers, "maxSize"));

	if (!policy)
		return -1;
	*ret = (struct ab_gc_layers_rule){ .keep_ms = UINT64_MAX, .max_size = UINT64_MAX };
	if (age)
		ab_parse_duration(age, &ret->keep_ms);
	if (size)
		ab_parse_size(size, &ret->max_size);
	return 0;
}

/* This is all that most runs pay for. */
static bool has_work(const struct ab_layer_store *store)
{
	struct stat st;

	if (fstatat(store->root, LOOKED, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return ab_hourly_is_due(&st) || st.st_size > 0;
	return fstatat(store->root, AB_LAYERS_FOLDER, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

void ab_gc_layers_hourly(const struct ab_run *run, size_t most)
{
	const struct ab_layer_store *store = AB_LAYER_STORE(run->state);
	struct ab_gc_layers_rule rule = { 0 };
	struct ab_gc_layers_report report = { 0 };
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	ab_autofree char *record = NULL;
	ab_autoclose int fd = -1;
	struct stat st;

	if (!has_work(store) || ab_log_first(run->dir, &record) < 0 ||
	    ab_gc_layers_policy(record, &rule) < 0)
		return;
	fd = ab_hourly_open(store->root, LOOKED, &st);
	if (fd < 0)
		return;
	times[1] = st.st_mtim;
	if (ab_hourly_is_due(&st) || st.st_size == 0) {
		rule.entries = COUNTED;
		rule.late = true;
		ab_gc_layers(store, &rule, &report);
		ab_gc_layers_report_fini(&report);
		times[1].tv_nsec = UTIME_NOW;
	}
	/* Its length says whether the next run has something to do; its time is that of the look. */
	(void)!ftruncate(fd, ab_layers_sweep(store, most * STEP_REMOVED));
	futimens(fd, times);
}
