#include "layer/apply/stage.h"

#include "layer/apply/apply.h"
#include "layer/journal/steps.h"
#include "workspace/tree/copy_tree.h"
#include "layer/journal/workers.h"
#include "layer/walk/look.h"

/* ---- plan ---- */

/* Is everything in this folder of the layer applied? Then it leaves the layer as a whole. */
static bool is_whole(const struct ab_apply *apply, size_t i, size_t end)
{
	for (; i < end; i++)
		if (!apply->picks[i].take || apply->picks[i].part)
			return false;
	return true;
}

static bool is_mode_of_folder(const struct ab_change *c)
{
	return c->kind == AB_CHANGE_MODE && c->is == AB_TYPE_DIR;
}

static mode_t get_umask(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return mask;
}

/* Bits that the host's file has are the host's own. */
static mode_t mask_mode(const struct ab_change *c, mode_t mask)
{
	return c->new_mode & 0777 & (~mask | c->old_mode);
}

/* Modes of folders come last, the deepest first: a folder may become read-only. */
static void plan_modes(const struct ab_apply *apply, struct ab_site *site)
{
	mode_t mask = get_umask();

	for (size_t i = apply->changes.len; i-- > 0;) {
		const struct ab_change *c = &apply->changes.v[i];
		struct ab_step *step;

		if (!apply->picks[i].take || !is_mode_of_folder(c))
			continue;
		step = ab_steps_add(&site->steps, AB_STEP_MODE, c->path);
		step->old = c->host;
		step->mode = mask_mode(c, mask);
		step->conflict = c->conflict;
		step->changes = 1;
	}
}

/* Changes of one folder; their names begin at `skip` in their paths. */
struct group {
	size_t first, end, skip;
};

static void plan_moves(const struct ab_apply *apply, struct ab_site *site, struct group g,
		       bool full);

/* The changes at `g.first` and below have the first `len` bytes of their path in common. */
static void plan_entry(const struct ab_apply *apply, struct ab_site *site, struct group g,
		       size_t len, bool full)
{
	const struct ab_change *c = &apply->changes.v[g.first];
	bool own = c->path[len] == '\0', below = full;

	if (!full && is_whole(apply, g.first, g.end)) {
		ab_autofree char *path = ab_strndup(c->path, len);

		ab_steps_add(&site->steps, AB_STEP_MOVE, path);
		return;
	}
	if (own && apply->picks[g.first].take && c->is != AB_TYPE_DIR)
		ab_strv_add(&site->steps.shown, c->path);
	g.first += own;
	g.skip = len + 1;
	if (!below && g.first < g.end) {
		/* If the layer contains everything in this folder, all changes in it say so. */
		below = true;
		for (size_t i = g.first; i < g.end && below; i++)
			below = apply->changes.v[i].full;
	}
	plan_moves(apply, site, g, below);
}

/*
 * What leaves the layer: each folder of it in which everything was applied, as a whole, and
 * elsewhere single files. Where the layer contains everything (`full`), a name that is missing is a
 * deletion, so nothing leaves it.
 */
static void plan_moves(const struct ab_apply *apply, struct ab_site *site, struct group g,
		       bool full)
{
	for (size_t i = g.first, j; i < g.end; i = j) {
		const char *path = apply->changes.v[i].path;
		size_t len = g.skip + strcspn(path + g.skip, "/");

		for (j = i + 1; j < g.end; j++) {
			const char *other = apply->changes.v[j].path;

			if (strncmp(other, path, len) != 0 || (other[len] && other[len] != '/'))
				break;
		}
		plan_entry(apply, site, (struct group){ i, j, g.skip }, len, full);
	}
}

void ab_stage_plan(const struct ab_apply *apply, struct ab_site *site)
{
	const struct ab_changes *changes = &apply->changes;
	size_t next;

	for (size_t i = 0; i < changes->len; i = next) {
		const struct ab_change *c = &changes->v[i];
		struct ab_step *step;

		next = i + 1;
		if (!apply->picks[i].take || is_mode_of_folder(c))
			continue;
		if (c->is == AB_TYPE_DIR)
			next = ab_changes_end(changes, i);
		step = ab_steps_add(&site->steps,
				    c->kind == AB_CHANGE_DELETED ? AB_STEP_REMOVE : AB_STEP_PUT,
				    c->path);
		step->old = c->host;
		for (size_t j = i; j < next; j++) {
			step->conflict |= changes->v[j].conflict;
			step->changes += apply->picks[j].take;
		}
	}
	plan_modes(apply, site);
	plan_moves(apply, site, (struct group){ 0, changes->len, 0 }, apply->view.copy);
}

/* ---- staging ---- */

struct stage {
	const struct ab_apply *apply;
	struct ab_site *site; /* of the thread */
	mode_t mask;
};

static int set_times(int fd, struct timespec mtime)
{
	return futimens(fd, (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, mtime });
}

/* Is the layer's file the one that was looked at? */
static bool is_seen(int fd, const struct ab_identity *id, struct stat *ret)
{
	return fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) && ret->st_ino == id->ino &&
	       ret->st_dev == id->dev && (uint64_t)ret->st_size == id->size &&
	       ab_time_same(ret->st_mtim, id->mtime) && ab_time_same(ret->st_ctim, id->ctime);
}

static int copy_new_content(struct stage *s, const struct ab_change *c, int out)
{
	ab_autoclose int in = -1;
	struct stat st;
	const char *name;
	int dir = ab_parent_open(&s->site->layer, s->site->upper, c->path, &name);

	if (dir < 0)
		return -1;
	in = ab_look_open_file(dir, name);
	if (in < 0)
		return -1;
	if (is_seen(in, &c->layer, &st)) {
		if (ab_copy_content(in, out, &st) < 0)
			return -1;
		if (is_seen(in, &c->layer, &st))
			return 0;
	}
	return ab_errno(ESTALE);
}

/* *ret: what was written, as it is now. */
static int stage_file(struct stage *s, size_t i, int dir, const char *name, struct ab_identity *ret)
{
	const struct ab_change *c = &s->apply->changes.v[i];
	const struct ab_pick *pick = &s->apply->picks[i];
	/* A part of a change leaves the mode alone. */
	mode_t mode = pick->part ? c->old_mode & 0777 : mask_mode(c, s->mask);
	ab_autoclose int out =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	struct stat st;
	int rc;

	if (out < 0)
		return -1;
	rc = pick->part ? ab_write_all(out, pick->content, pick->len) : copy_new_content(s, c, out);
	if (rc < 0 || ((mode & s->mask) && fchmod(out, mode) < 0) ||
	    (!pick->part && set_times(out, c->layer.mtime) < 0) || fstat(out, &st) < 0)
		return -1;
	*ret = ab_identity_of(&st);
	return 0;
}

static int stage_link(struct stage *s, const struct ab_change *c, int dir, const char *name)
{
	ab_autofree char *target = NULL;
	const char *last;
	int from = ab_parent_open(&s->site->layer, s->site->upper, c->path, &last);

	if (from < 0)
		return -1;
	target = ab_read_link(from, last);
	if (!target || symlinkat(target, dir, name) < 0)
		return -1;
	return utimensat(dir, name,
			 (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, c->layer.mtime },
			 AT_SYMLINK_NOFOLLOW);
}

static int stage_entry(struct stage *s, size_t i, int dir, const char *name,
		       struct ab_identity *ret);

static int stage_folder(struct stage *s, size_t i, int parent, const char *name)
{
	const struct ab_changes *changes = &s->apply->changes;
	const struct ab_change *c = &changes->v[i];
	ab_autoclose int dir = -1;
	size_t end = ab_changes_end(changes, i), next;

	if (mkdirat(parent, name, 0700) < 0)
		return -1;
	dir = ab_open_same_mount(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (dir < 0)
		return -1;
	for (size_t j = i + 1; j < end; j = next) {
		struct ab_identity staged;

		next = changes->v[j].is == AB_TYPE_DIR ? ab_changes_end(changes, j) : j + 1;
		if (s->apply->picks[j].take &&
		    stage_entry(s, j, dir, strrchr(changes->v[j].path, '/') + 1, &staged) < 0)
			return -1;
	}
	if (fchmod(dir, mask_mode(c, s->mask)) < 0)
		return -1;
	return set_times(dir, c->layer.mtime);
}

static int look_staged(int dir, const char *name, struct ab_identity *ret)
{
	struct ab_look look;

	if (ab_look_at(dir, name, &look) < 0)
		return -1;
	*ret = look.id;
	return 0;
}

static int stage_entry(struct stage *s, size_t i, int dir, const char *name,
		       struct ab_identity *ret)
{
	const struct ab_change *c = &s->apply->changes.v[i];
	int rc = -1;

	switch (c->is) {
	case AB_TYPE_FILE:
		rc = stage_file(s, i, dir, name, ret);
		break;
	case AB_TYPE_DIR:
		rc = stage_folder(s, i, dir, name) < 0 ? -1 : look_staged(dir, name, ret);
		break;
	case AB_TYPE_LINK:
		rc = stage_link(s, c, dir, name) < 0 ? -1 : look_staged(dir, name, ret);
		break;
	case AB_TYPE_NONE:
	case AB_TYPE_OTHER:
		errno = EINVAL; /* is refused, and so never picked */
		break;
	}
	if (rc < 0 && !s->site->failed)
		s->site->failed = c->path;
	return rc;
}

/* Would the step fail for want of rights? A staged file proves that its folder is writable. A folder
 * that changes its parent must be writable itself. */
static int check_rights(const struct ab_site *site, const struct ab_step *step, int dir,
			const char *name)
{
	if (step->kind == AB_STEP_REMOVE && faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return -1;
	if (S_ISDIR(step->old.mode) && !site->steps.far)
		return faccessat(dir, name, W_OK, AT_EACCESS);
	return 0;
}

static int stage_step(struct ab_site *site, const void *arg, size_t i)
{
	const struct stage *shared = arg;
	struct stage s = { .apply = shared->apply, .site = site, .mask = shared->mask };
	struct ab_step *step = &site->steps.v[i];
	const struct ab_change *c = ab_changes_find(&s.apply->changes, step->path);
	char temp[AB_STEP_NAME];
	const char *name;
	int dir = ab_parent_open(&site->host, site->root, step->path, &name);

	if (dir < 0)
		return -1;
	/* If the undo folder is far, the original is copied now, where running out of space does no
	 * harm. */
	if (step->old.ino && (check_rights(site, step, dir, name) < 0 ||
			      (site->steps.far && ab_step_copy_original(site, i) < 0)))
		return -1;
	if (step->kind == AB_STEP_REMOVE)
		return 0;
	ab_step_name(&site->steps, i, temp);
	return stage_entry(&s, (size_t)(c - s.apply->changes.v), dir, temp, &step->staged);
}

int ab_stage_write(const struct ab_apply *apply, struct ab_site *site, struct ab_error *err)
{
	const struct stage s = { .apply = apply, .mask = get_umask() };
	ab_autofree char *path = NULL;
	size_t at;
	int errnum;

	site->failed = NULL;
	if (ab_steps_each(site, stage_step, &s, NULL, &at) == 0)
		return 0;
	errnum = errno;
	path = ab_escape(site->failed ? site->failed : site->steps.v[at].path);
	if (errnum == ESTALE)
		return ab_fail(err, AB_EREFUSED, 0, "the layer changed while it was applied: %s",
			       path);
	return ab_fail(err, AB_ESYSTEM, errnum, "cannot apply %s", path);
}
