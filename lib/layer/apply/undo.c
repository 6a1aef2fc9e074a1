#include "layer/apply/apply.h"
#include "layer/journal/steps.h"
#include "layer/store/store.h"
#include "layer/walk/index.h"
#include "layer/walk/look.h"
#include "workspace/tree/guard.h"

bool ab_apply_can_undo(const struct ab_layer_set *set)
{
	ab_autoclose int undo = ab_layer_set_open(set, "undo", O_RDONLY | O_DIRECTORY);
	ab_autoclose int newest = undo < 0 ? -1 : ab_undo_open_newest(undo);

	/* One that cannot be opened is there. */
	return newest >= 0 || errno != ENOENT;
}

/* The layer that the last apply was of. */
static int load_last(struct ab_layer_set *set, struct ab_site *site, struct ab_error *err)
{
	ab_autoclose int last = ab_layer_set_open(set, "undo/last", O_RDONLY | O_DIRECTORY);
	struct ab_steps steps;
	struct ab_look root;

	if (last < 0 && errno == ENOENT)
		return ab_fail(err, AB_EREFUSED, 0, "%s has no apply to take back", set->key);
	if (last < 0 || ab_steps_load(last, &steps) < 0)
		return ab_site_fail_unread(set, "last", err);
	if (ab_site_open(site, set, steps.home, err) < 0) {
		ab_steps_fini(&steps);
		return -1;
	}
	site->steps = steps;
	if (ab_site_enter(site, "last") < 0 || ab_steps_load_ready(site->dir, &site->steps) < 0 ||
	    ab_look_at(site->root, "", &root) < 0)
		return ab_site_fail_unread(set, "last", err);
	if (root.id.ino != site->steps.root.ino || root.id.dev != site->steps.root.dev)
		return ab_fail(err, AB_EREFUSED, 0,
			       "the folder has been replaced since the last apply");
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return ab_path_order(*(char *const *)a, *(char *const *)b);
}

/* What is below a path follows it in the list. */
static int by_folder(const void *path, const void *entry)
{
	const char *own = *(char *const *)entry;

	return ab_changes_below(own, path) ? 0 : ab_path_order(path, own);
}

static void sort_paths(struct ab_strv *list)
{
	if (list->len)
		qsort(list->v, list->len, sizeof(list->v[0]), by_path);
}

static bool is_in_list(const struct ab_strv *list, const char *path)
{
	return list->len && bsearch(&path, list->v, list->len, sizeof(list->v[0]), by_path);
}

/* Is one of the list at, above or below this path? */
static bool touches_list(const struct ab_strv *list, const char *path)
{
	ab_autofree char *above = ab_strdup(path);
	char *slash = above;

	if (list->len && bsearch(path, list->v, list->len, sizeof(list->v[0]), by_folder))
		return true;
	while (!is_in_list(list, above) && (slash = strrchr(above, '/')) != NULL)
		*slash = '\0';
	return slash != NULL;
}

/* A new object of a repository stays: git may need it by now, and an unused one does no harm. */
static bool is_kept_object(const struct ab_step *step)
{
	return step->kind == AB_STEP_PUT && !step->old.ino && ab_index_object(step->path);
}

/* The repository whose state the step changes, or NULL. */
static char *get_repo(const struct ab_step *step)
{
	size_t len = step->kind == AB_STEP_MOVE ? 0 : ab_index_state(step->path);

	return len ? ab_strndup(step->path, len) : NULL;
}

/* Half of a repository's state is worse than all of it: if a part stays, everything does. */
static void hold_repos(struct ab_site *site, struct ab_step_now *now, struct ab_undone *ret)
{
	ab_autostrv struct ab_strv repos = { 0 };

	for (size_t i = 0; i < site->steps.len; i++) {
		const struct ab_step *step = &site->steps.v[i];
		ab_autofree char *repo =
			now[i].skip && !is_kept_object(step) ? get_repo(step) : NULL;

		if (repo && !(repos.len && strcmp(repos.v[repos.len - 1], repo) == 0))
			ab_strv_add(&repos, repo);
	}
	sort_paths(&repos);
	for (size_t i = 0; repos.len && i < site->steps.len; i++) {
		ab_autofree char *repo = now[i].skip ? NULL : get_repo(&site->steps.v[i]);

		if (repo && is_in_list(&repos, repo)) {
			now[i].skip = true;
			ab_strv_add(ret->held, site->steps.v[i].path);
		}
	}
}

/* Which steps can be taken back? A file that a later run changed in the layer stays on the host if
 * the layer's change stays: it was made on top of it. */
static int check_steps(struct ab_site *site, enum ab_apply_conflict conflict,
		       struct ab_step_now *now, struct ab_undone *ret)
{
	bool ours = conflict == AB_APPLY_OURS;
	ab_autostrv struct ab_strv later = { 0 };
	struct ab_look ready;

	if (ab_look_at(site->dir, "ready", &ready) < 0)
		return -1;
	for (size_t i = 0; i < site->steps.len; i++) {
		const struct ab_step *step = &site->steps.v[i];
		enum ab_step_change change = ab_step_check(site, i, ready.id.mtime, &now[i]);

		now[i].skip = is_kept_object(step);
		if (now[i].skip || change == AB_STEP_SAME)
			continue;
		ab_strv_add(ret->changed, step->path);
		now[i].skip = ours;
		if (change == AB_STEP_LAYER_CHANGED && ours)
			ab_strv_add(&later, step->path);
	}
	sort_paths(&later);
	for (size_t i = 0; later.len && i < site->steps.len; i++)
		if (site->steps.v[i].kind != AB_STEP_MOVE &&
		    touches_list(&later, site->steps.v[i].path))
			now[i].skip = true;
	hold_repos(site, now, ret);
	for (size_t i = 0; i < site->steps.len; i++) {
		if (site->steps.v[i].kind == AB_STEP_MOVE || now[i].skip)
			continue;
		ab_strv_add(ret->paths, site->steps.v[i].path);
		ret->changes += site->steps.v[i].changes;
	}
	return 0;
}

/* Before anything is taken back: an original can only return to a folder. */
static int check_parents(struct ab_site *site, const struct ab_step_now *now, struct ab_error *err)
{
	for (size_t i = 0; i < site->steps.len; i++) {
		const struct ab_step *step = &site->steps.v[i];
		bool placed = step->kind == AB_STEP_PUT || step->kind == AB_STEP_REMOVE;
		ab_autofree char *shown = NULL;
		const char *name;

		if (now[i].skip || !placed || !step->old.ino ||
		    ab_parent_open(&site->host, site->root, step->path, &name) >= 0)
			continue;
		shown = ab_escape(step->path);
		ab_fail(err, AB_EREFUSED, errno,
			"nothing was taken back: the folder of %s cannot be opened", shown);
		return ab_hint(err, "create it again, or use --ours: it leaves what changed since "
				    "as it is and takes back the rest");
	}
	return 0;
}

static int count_waiting(struct ab_layer_set *set, bool home, struct ab_error *err)
{
	ab_autoview struct ab_layer_view view = AB_LAYER_VIEW_NONE;
	struct ab_changes changes = { 0 };

	if (home)
		return 0;
	if (ab_layer_open_view(set, home, &view, err) < 0) {
		if (err->errnum != ENOENT || set->meta.form != AB_LAYER_FORM_COPY)
			return -1;
		*err = (struct ab_error){ 0 }; /* it was discarded */
		set->meta.waiting = 0;
		return ab_layer_set_save(set, err);
	}
	if (ab_changes_collect(&view, NULL, &changes, err) < 0)
		return -1;
	set->meta.waiting = (int64_t)changes.len;
	ab_changes_fini(&changes);
	return ab_layer_set_save(set, err);
}

int ab_apply_undo(struct ab_layer_set *set, enum ab_apply_conflict conflict,
		  struct ab_host_guard *guard, const struct ab_progress *progress,
		  struct ab_undone *ret, struct ab_error *err)
{
	ab_autosite struct ab_site site = AB_SITE_NONE;
	ab_autofree struct ab_step_now *now = NULL;
	ab_autostrv struct ab_strv earlier = { 0 };

	if (load_last(set, &site, err) < 0 || ab_site_claim(&site, set, guard, err) < 0)
		return -1;
	ret->home = site.steps.home;
	now = ab_alloc((site.steps.len + 1) * sizeof(now[0]));
	if (check_steps(&site, conflict, now, ret) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot read the journal of the last apply");
	if (ret->changed->len && conflict == AB_APPLY_LEAVE) {
		ab_fail(err, AB_EREFUSED, 0, "nothing was taken back: %zu changed since the apply",
			ret->changed->len);
		return ab_hint(err, "--theirs takes them back too, and loses what changed since;\n"
				    "--ours leaves them as they are and takes back the rest");
	}
	if (check_parents(&site, now, err) < 0 ||
	    ab_site_undo(&site, now, progress, ret->notes, err) < 0)
		return -1;
	ret->gone = site.upper < 0;
	if (ab_undo_earlier(site.undo, &earlier) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot list the earlier applies");
	ret->left = earlier.len + ab_apply_can_undo(set);
	return count_waiting(set, site.steps.home, err);
}
