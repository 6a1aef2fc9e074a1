#include "layer/journal/host_guard.h"
#include "layer/journal/steps.h"
#include "layer/journal/view.h"
#include "layer/store/store.h"
#include "layer/walk/index.h"

const char *ab_layer_part(const struct ab_layer_set *set, bool home)
{
	if (home)
		return "home/upper";
	return set->meta.form == AB_LAYER_FORM_COPY ? "project/copy" : "project/upper";
}

const char *ab_layer_known_name(bool home)
{
	return home ? "known-home" : "known-project";
}

/* Not ENOENT: the layer itself is there. */
static int fail_gone(const struct ab_layer_set *set, const char *path, bool home,
		     struct ab_error *err)
{
	ab_fail(err, AB_EREFUSED, 0, "the folder %s, which the changes of %s are for, is gone",
		path, set->key);
	return ab_hint(err,
		       "create it again to see and apply them, or remove them: agentbox discard "
		       "--yes%s %s",
		       home ? " --home" : "", set->key);
}

int ab_layer_root_open(const struct ab_layer_set *set, bool home, struct ab_error *err)
{
	const char *path = home ? set->meta.home : set->meta.workspace;
	int fd;

	if (!path || path[0] != '/')
		return ab_fail(err, AB_EUSAGE, 0, "%s has no layer above %s", set->key,
			       home ? "the home folder" : "a workspace");
	fd = ab_open_beneath(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return fail_gone(set, path, home, err);
	if (fd < 0)
		ab_fail(err, AB_ESYSTEM, errno, "cannot open %s, the folder this layer belongs to",
			path);
	return fd;
}

bool ab_layer_root_gone(const struct ab_layer_set *set, bool home)
{
	const char *path = home ? set->meta.home : set->meta.workspace;

	return path && path[0] == '/' && access(path, F_OK) < 0 && errno == ENOENT;
}

int ab_site_open(struct ab_site *site, const struct ab_layer_set *set, bool home,
		 struct ab_error *err)
{
	site->root = ab_layer_root_open(set, home, err);
	if (site->root < 0)
		return -1;
	site->upper = ab_layer_set_open(set, ab_layer_part(set, home), O_RDONLY | O_DIRECTORY);
	if (site->upper < 0 && (errno != ENOENT || home || set->meta.form != AB_LAYER_FORM_COPY))
		return ab_fail(err, AB_ESYSTEM, errno, "cannot open the layer of %s", set->key);
	if (mkdirat(set->dir, "undo", 0700) < 0 && errno != EEXIST)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot create the undo folder of %s",
			       set->key);
	site->undo = ab_layer_set_open(set, "undo", O_RDONLY | O_DIRECTORY);
	if (site->undo < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot open the undo folder of %s",
			       set->key);
	return 0;
}

int ab_site_enter(struct ab_site *site, const char *name)
{
	site->dir = ab_open_same_mount(site->undo, name, O_RDONLY | O_DIRECTORY);
	if (site->dir < 0)
		return -1;
	site->done = faccessat(site->dir, "done", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	site->later = faccessat(site->dir, "later", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	ab_known_read(&site->excused, site->dir, "excused");
	site->old = ab_open_same_mount(site->dir, "old", O_RDONLY | O_DIRECTORY);
	site->made = ab_open_same_mount(site->dir, "new", O_RDONLY | O_DIRECTORY);
	return site->old < 0 || site->made < 0 ? -1 : 0;
}

int ab_site_claim(struct ab_site *site, const struct ab_layer_set *set, struct ab_host_guard *guard,
		  struct ab_error *err)
{
	bool home = site->steps.home;
	ab_autostrv struct ab_strv paths = { 0 };

	/* The folders of other runs are in the home folder. */
	for (size_t i = 0; home && i < site->steps.len; i++)
		if (site->steps.v[i].kind != AB_STEP_MOVE)
			ab_strv_add(&paths, site->steps.v[i].path);
	if (guard->enter(guard, home ? set->meta.home : set->meta.workspace, home ? &paths : NULL,
			 err) < 0)
		return -1;
	site->guard = guard;
	return 0;
}

void ab_site_fini(struct ab_site *site)
{
	if (site->guard)
		site->guard->leave(site->guard);
	ab_close_all(&site->root, &site->upper, &site->undo, &site->dir, &site->old, &site->made);
	ab_parent_fini(&site->host);
	ab_parent_fini(&site->layer);
	ab_known_fini(&site->excused);
	ab_strv_fini(&site->kept);
	ab_steps_fini(&site->steps);
	*site = (struct ab_site)AB_SITE_NONE;
}

/* ---- is it as apply left it? ---- */

/* Everything in a folder was staged before `ready`: what is younger was changed since. */
bool ab_site_tree_older(const struct ab_site *site, int parent, const char *path,
			struct timespec than, unsigned int depth)
{
	const char *name = ab_path_name(path);
	ab_autolisting struct ab_listing names = { 0 };
	ab_autoclose int dir =
		ab_open_same_mount(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

	if (dir < 0 || depth == 0 || ab_listing_read(&names, dir, SIZE_MAX) < 0)
		return false;
	for (size_t i = 0; i < names.len; i++) {
		ab_autofree char *below = ab_printf("%s/%s", path, names.v[i].name);
		struct ab_look look;

		if (ab_look_at(dir, names.v[i].name, &look) < 0 ||
		    (ab_time_later(look.id.ctime, than) &&
		     !ab_known_is(&site->excused, below, &look.id)))
			return false;
		if (look.type == AB_TYPE_DIR &&
		    !ab_site_tree_older(site, dir, below, than, depth - 1))
			return false;
	}
	return true;
}

static bool is_as_staged(const struct ab_site *site, int dir, const struct ab_look *now,
			 const struct ab_step *step, struct timespec ready)
{
	bool excused = ab_known_is(&site->excused, step->path, &now->id);
	bool same = ab_identity_same(&now->id, &step->staged);

	if (now->type != AB_TYPE_DIR)
		return excused || (same && ab_time_same(now->id.mtime, step->staged.mtime));
	if (!same || (!excused && !ab_time_same(now->id.mtime, step->staged.mtime)))
		return false;
	return ab_site_tree_older(site, dir, step->path, ready, 512);
}

/* What was applied to this path: it left the layer with a step, or it is still there. */
static int digest_applied(struct ab_site *site, const char *path, char ret[AB_INDEX_DIGEST])
{
	for (size_t k = 0; k < site->steps.len; k++) {
		const struct ab_step *step = &site->steps.v[k];
		ab_autofree char *kept = NULL;

		if (step->kind != AB_STEP_MOVE ||
		    (strcmp(path, step->path) != 0 && !ab_changes_below(path, step->path)))
			continue;
		kept = ab_printf("%zu%s", k, path + strlen(step->path));
		return ab_index_digest(site->made, kept, ret);
	}
	return ab_index_digest(site->upper, path, ret);
}

/* Did the host only refresh the stat data of git's index? */
static bool is_same_index(struct ab_site *site, const char *path)
{
	char host[AB_INDEX_DIGEST], applied[AB_INDEX_DIGEST];

	return ab_index_repo(path) && ab_index_digest(site->root, path, host) == 0 &&
	       digest_applied(site, path, applied) == 0 && strcmp(host, applied) == 0;
}

static bool is_host_same(struct ab_site *site, size_t i, struct timespec ready,
			 struct ab_step_now *ret)
{
	const struct ab_step *step = &site->steps.v[i];
	struct ab_look now = { 0 };
	const char *name;
	int dir;

	if (step->kind == AB_STEP_MOVE)
		return true;
	dir = ab_parent_open(&site->host, site->root, step->path, &name);
	if (dir < 0)
		return false;
	if (ab_look_at(dir, name, &now) < 0 && errno != ENOENT)
		return false;
	ret->host = now.id;
	switch (step->kind) {
	case AB_STEP_PUT:
		return now.id.ino && (is_as_staged(site, dir, &now, step, ready) ||
				      is_same_index(site, step->path));
	case AB_STEP_REMOVE:
		return !now.id.ino;
	case AB_STEP_MODE:
		return now.id.ino == step->old.ino && now.id.dev == step->old.dev &&
		       (now.id.mode & 07777) == step->mode;
	case AB_STEP_MOVE:
		break;
	}
	return false;
}

/* Is the place in the layer free that the applied files come back to? Its folder may be gone with a
 * discard. */
static bool is_layer_same(struct ab_site *site, size_t i)
{
	const char *name;
	int dir;

	if (site->steps.v[i].kind != AB_STEP_MOVE)
		return true;
	dir = ab_parent_open(&site->layer, site->upper, site->steps.v[i].path, &name);
	if (dir < 0 || faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	return site->later;
}

enum ab_step_change ab_step_check(struct ab_site *site, size_t i, struct timespec ready,
				  struct ab_step_now *ret)
{
	*ret = (struct ab_step_now){ 0 };
	if (!is_host_same(site, i, ready, ret))
		return AB_STEP_HOST_CHANGED;
	return is_layer_same(site, i) ? AB_STEP_SAME : AB_STEP_LAYER_CHANGED;
}

/* ---- files that agentbox left on the host ---- */

static void know_path(struct ab_site *site, const char *path, struct ab_known *known,
		      unsigned int depth)
{
	ab_autolisting struct ab_listing names = { 0 };
	ab_autoclose int dir = -1;
	struct ab_look look;
	const char *name;
	int parent = ab_parent_open(&site->host, site->root, path, &name);

	if (parent < 0 || known->len >= AB_KNOWN_MAX || ab_look_at(parent, name, &look) < 0)
		return;
	if (look.type != AB_TYPE_DIR) {
		ab_known_add(known, path, look.id.ino, look.id.ctime);
		return;
	}
	/* The files in a folder that was only renamed are as they were. */
	if (!site->steps.far || depth == 0)
		return;
	dir = ab_open_same_mount(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (dir < 0 || ab_listing_read(&names, dir, AB_KNOWN_MAX) < 0)
		return;
	for (size_t i = 0; i < names.len; i++) {
		ab_autofree char *below = ab_printf("%s/%s", path, names.v[i].name);

		know_path(site, below, known, depth - 1);
	}
}

/* A folder's ctime changes with every name in it; its mode may be compared later. */
static void know_folder(struct ab_site *site, const char *path, size_t len, struct ab_known *known)
{
	ab_autofree char *folder = ab_strndup(path, len);
	struct ab_look look;
	ab_autoclose int dir =
		len ? ab_open_same_mount(site->root, folder, O_PATH | O_NOFOLLOW) : -1;

	if (dir >= 0 && known->len < AB_KNOWN_MAX && ab_look_at(dir, "", &look) == 0)
		ab_known_add(known, folder, look.id.ino, look.id.ctime);
}

static void know_parents(struct ab_site *site, bool undone, struct ab_known *known)
{
	const char *last = "";
	size_t last_len = 0;

	for (size_t i = 0; i < site->steps.len; i++) {
		const struct ab_step *step = &site->steps.v[i];
		const char *slash = strrchr(step->path, '/');
		size_t len = slash ? (size_t)(slash - step->path) : 0;

		if (step->kind == AB_STEP_MOVE)
			continue;
		if (step->kind == AB_STEP_MODE && !(undone && step->conflict))
			know_folder(site, step->path, strlen(step->path), known);
		if (len == last_len && strncmp(step->path, last, len) == 0)
			continue;
		know_folder(site, step->path, len, known);
		last = step->path;
		last_len = len;
	}
}

void ab_site_known(struct ab_site *site, bool undone, const struct ab_step_now *now)
{
	const char *name = ab_layer_known_name(site->steps.home);
	struct ab_known known = { 0 };

	ab_known_read(&known, site->undo, name);
	for (size_t i = 0; i < site->steps.len; i++) {
		const struct ab_step *step = &site->steps.v[i];

		/* A conflict that was applied is one again. */
		if (undone && !now[i].skip && step->old.ino && !step->conflict)
			know_path(site, step->path, &known, 128);
	}
	for (size_t k = 0; k < site->steps.shown.len && !undone; k++)
		know_path(site, site->steps.shown.v[k], &known, 0);
	know_parents(site, undone, &known);
	ab_known_sort(&known);
	/* Without it, some changes are shown as conflicts. */
	(void)ab_known_write(&known, site->undo, name);
	ab_known_fini(&known);
}
