#include "layer/apply/apply.h"

#include <sys/random.h>

#include "layer/apply/stage.h"
#include "layer/diff/contents.h"
#include "layer/journal/steps.h"
#include "workspace/tree/remove_tree.h"
#include "layer/store/store.h"
#include "layer/walk/look.h"

int ab_apply_open(struct ab_layer_set *set, bool home, struct ab_host_guard *guard,
		  struct ab_apply *ret, struct ab_strv *notes, struct ab_error *err)
{
	struct ab_apply apply = AB_APPLY_NONE;

	if (ab_layer_recover(set, guard, notes, err) < 0)
		return -1;
	apply.set = set;
	apply.guard = guard;
	if (ab_layer_open_view(set, home, &apply.view, err) < 0)
		return -1;
	if (ab_changes_collect(&apply.view, NULL, &apply.changes, err) < 0) {
		ab_apply_fini(&apply);
		return -1;
	}
	if (apply.changes.cut) {
		ab_apply_fini(&apply);
		ab_fail(err, AB_EREFUSED, 0, "the layer of %s has too many entries", set->key);
		return ab_hint(err,
			       "Nothing of it can be applied. Remove it with: agentbox discard %s",
			       set->key);
	}
	apply.picks = ab_alloc((apply.changes.len + 1) * sizeof(apply.picks[0]));
	*ret = apply;
	return 0;
}

void ab_apply_fini(struct ab_apply *apply)
{
	ab_free_rows(apply->picks, apply->picks ? apply->changes.len : 0, content);
	ab_changes_fini(&apply->changes);
	ab_layer_view_fini(&apply->view);
	*apply = (struct ab_apply)AB_APPLY_NONE;
}

/* ---- picks ---- */

void ab_apply_label(struct ab_apply *apply)
{
	if (!apply->labelled)
		ab_changes_label(&apply->view, &apply->changes, false);
	apply->labelled = true;
}

static void leave_change(struct ab_pick *pick, const char *why)
{
	pick->take = false;
	pick->left = why;
}

void ab_apply_keep_safe(struct ab_apply *apply)
{
	ab_apply_label(apply);
	apply->safe = true;
	for (size_t i = 0; i < apply->changes.len; i++)
		if (apply->picks[i].take && apply->changes.v[i].labels)
			leave_change(&apply->picks[i], "it wants a look");
}

void ab_apply_pick_safe(struct ab_apply *apply)
{
	ab_apply_pick_path(apply, "");
	ab_apply_keep_safe(apply);
}

bool ab_apply_pick_path(struct ab_apply *apply, const char *path)
{
	bool found = false;

	for (size_t i = ab_changes_from(&apply->changes, path); i < apply->changes.len; i++) {
		const char *own = apply->changes.v[i].path;

		if (path[0] && strcmp(own, path) != 0 && !ab_changes_below(own, path))
			break;
		found = apply->picks[i].take = true;
	}
	return found;
}

void ab_apply_pick_part(struct ab_apply *apply, size_t i, char *content, size_t len)
{
	struct ab_pick *pick = &apply->picks[i];

	free(pick->content);
	*pick = (struct ab_pick){ .take = true, .part = true, .content = content, .len = len };
}

size_t ab_apply_rest(const struct ab_apply *apply)
{
	size_t rest = 0;

	for (size_t i = 0; i < apply->changes.len; i++)
		rest += !apply->picks[i].done || apply->picks[i].part;
	return rest;
}

/* ---- decisions ---- */

static bool makes_folder(const struct ab_change *c)
{
	return c->is == AB_TYPE_DIR &&
	       (c->kind == AB_CHANGE_ADDED || c->kind == AB_CHANGE_REPLACED);
}

/* The new folder that `i` is in, if it is in one. */
static bool find_new_parent(const struct ab_apply *apply, size_t i, size_t *ret)
{
	const char *path = apply->changes.v[i].path;
	const char *slash = strrchr(path, '/');
	ab_autofree char *parent = slash ? ab_strndup(path, (size_t)(slash - path)) : NULL;
	const struct ab_change *c = parent ? ab_changes_find(&apply->changes, parent) : NULL;

	if (!c || !makes_folder(c))
		return false;
	*ret = (size_t)(c - apply->changes.v);
	return true;
}

/* A change cannot be applied without the new folder that it is in. */
static void take_parents(struct ab_apply *apply)
{
	for (size_t i = apply->changes.len; i-- > 0;) {
		size_t parent;

		if (apply->picks[i].take && find_new_parent(apply, i, &parent) && !apply->safe)
			apply->picks[parent].take = true;
	}
}

static void decide_change(struct ab_apply *apply, size_t i, enum ab_apply_conflict conflict)
{
	const struct ab_change *c = &apply->changes.v[i];
	struct ab_pick *pick = &apply->picks[i];
	size_t parent;

	if (find_new_parent(apply, i, &parent) && !apply->picks[parent].take) {
		leave_change(pick, "the folder that it is in is not applied");
		pick->dropped = apply->picks[parent].dropped;
	} else if (c->refused) {
		leave_change(pick, c->refused);
	} else if (c->conflict && conflict != AB_APPLY_THEIRS) {
		leave_change(pick, c->held ? "the host changed the repository's index since"
					   : "the host changed it since");
		pick->dropped = conflict == AB_APPLY_OURS;
	}
}

/* Parents come before what is in them. */
static size_t decide_changes(struct ab_apply *apply, enum ab_apply_conflict conflict)
{
	size_t n = 0;

	take_parents(apply);
	for (size_t i = 0; i < apply->changes.len; i++) {
		if (apply->picks[i].take)
			decide_change(apply, i, conflict);
		n += apply->picks[i].take;
	}
	return n;
}

/* ---- the transaction ---- */

static int pick_token(char ret[AB_TOKEN_LEN + 1])
{
	unsigned char raw[AB_TOKEN_LEN / 2];

	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		return -1;
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(ret + 2 * i, 3, "%02x", raw[i]);
	return 0;
}

/* Can a file be renamed from one folder to the other? */
static int is_far(int a, int b)
{
	struct statx x, y;

	if (statx(a, "", AT_EMPTY_PATH, STATX_MNT_ID, &x) < 0 ||
	    statx(b, "", AT_EMPTY_PATH, STATX_MNT_ID, &y) < 0)
		return -1;
	return x.stx_dev_major != y.stx_dev_major || x.stx_dev_minor != y.stx_dev_minor ||
	       ((x.stx_mask & y.stx_mask & STATX_MNT_ID) && x.stx_mnt_id != y.stx_mnt_id);
}

/* Another apply may have changed the host's files since the labels were found: together with it a change
 * may want a look. False: nothing is left to do. */
static bool look_again(struct ab_apply *apply, struct ab_site *site,
		       enum ab_apply_conflict conflict)
{
	if (!apply->safe || !ab_changes_label(&apply->view, &apply->changes, true))
		return true;
	ab_apply_keep_safe(apply);
	ab_steps_fini(&site->steps);
	return decide_changes(apply, conflict) > 0;
}

static int plan_journal(struct ab_apply *apply, struct ab_site *site, struct ab_error *err)
{
	struct ab_look root;
	int far = is_far(site->root, site->undo);

	if (far < 0 || ab_look_at(site->root, "", &root) < 0 || pick_token(site->steps.token) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot look at the layer's folder");
	site->steps.home = apply->view.home;
	site->steps.copy = apply->view.copy;
	site->steps.far = far;
	site->steps.root = root.id;
	ab_stage_plan(apply, site);
	return 0;
}

/* 0: nothing is left to do. */
static int begin_journal(struct ab_apply *apply, struct ab_site *site,
			 enum ab_apply_conflict conflict, struct ab_error *err)
{
	if (ab_site_open(site, apply->set, apply->view.home, err) < 0 ||
	    plan_journal(apply, site, err) < 0 ||
	    ab_site_claim(site, apply->set, apply->guard, err) < 0)
		return -1;
	if (!look_again(apply, site, conflict))
		return 0;
	if (!site->steps.len && plan_journal(apply, site, err) < 0)
		return -1;
	if (ab_remove_object(site->undo, "next") < 0 || mkdirat(site->undo, "next", 0700) < 0 ||
	    mkdirat(site->undo, "next/old", 0700) < 0 || mkdirat(site->undo, "next/new", 0700) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot create a journal");
	if (ab_site_enter(site, "next") < 0 || ab_steps_save(&site->steps, site->dir) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot write the journal");
	return 1;
}

/* Everything that the steps need is on the disk before `ready` is, and that before the first step:
 * without it, recovery would take what is under a temporary name for a copy. */
static int sync_staged(struct ab_site *site)
{
	ab_autoclose int root = ab_open_same_mount(site->root, ".", O_RDONLY | O_DIRECTORY);

	if (root < 0 || syncfs(root) < 0)
		return -1;
	return site->steps.far ? syncfs(site->dir) : 0;
}

static int run_journal(struct ab_apply *apply, struct ab_site *site,
		       const struct ab_progress *progress, struct ab_error *err)
{
	if (ab_stage_write(apply, site, err) < 0)
		goto take_back;
	if (sync_staged(site) < 0 || ab_steps_save_ready(&site->steps, site->dir) < 0 ||
	    syncfs(site->dir) < 0) {
		ab_fail(err, AB_ESYSTEM, errno, "cannot write the changes to the disk");
		goto take_back;
	}
	return ab_site_finish(site, true, progress, err);

take_back:;
	struct ab_error second = { 0 };

	ab_hint(err, "Nothing was applied.");
	if (ab_site_drop_staged(site, &second) < 0)
		ab_hint(err, "Nothing was applied, but a copy is left: %s", second.text);
	return -1;
}

int ab_apply_commit(struct ab_apply *apply, enum ab_apply_conflict conflict,
		    const struct ab_progress *progress, struct ab_error *err)
{
	ab_autosite struct ab_site site = AB_SITE_NONE;

	if (decide_changes(apply, conflict) > 0) {
		int rc = begin_journal(apply, &site, conflict, err);

		if (rc < 0 || (rc > 0 && run_journal(apply, &site, progress, err) < 0))
			return -1;
		for (size_t i = 0; i < apply->changes.len; i++)
			apply->picks[i].done = apply->picks[i].take;
		apply->forgotten = site.forgotten;
	}
	return ab_apply_discard(apply, true, err);
}
