#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "layer/apply/apply.h"
#include "layer/apply/drop.h"
#include "layer/journal/steps.h"
#include "layer/journal/tree.h"
#include "layer/store/store.h"
#include "layer/walk/look.h"

/* ---- one change ---- */

/* It leaves the layer in one step, then it is removed. */
static int remove_from_layer(int dir, const char *name, int undo)
{
	if (ab_tree_remove(undo, "gone") < 0)
		return -1;
	if (renameat(dir, name, undo, "gone") < 0 && errno != ENOENT) {
		/* A folder that is closed to us cannot change its parent. */
		if (errno != EACCES)
			return -1;
		return ab_tree_remove(dir, name);
	}
	return ab_tree_remove(undo, "gone");
}

/* The layer contains everything here, so it gets the host's version. */
static int copy_from_host(const struct ab_apply *apply, const struct ab_change *c, int dir,
			  const char *name, int undo)
{
	struct ab_parent parent = { .fd = -1 };
	const char *own;
	int from = ab_parent_open(&parent, apply->opened.view.lower, c->path, &own);
	int rc = -1;

	if (from >= 0 && ab_tree_remove(undo, "copy") == 0 &&
	    ab_tree_copy(from, own, undo, "copy") == 0 && remove_from_layer(dir, name, undo) == 0)
		rc = renameat(undo, "copy", dir, name);
	ab_closep(&parent.fd);
	free(parent.path);
	return rc;
}

static int reset_mode(int dir, const char *name, mode_t mode)
{
	ab_autoclose int fd = ab_look_open(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);

	return fd < 0 ? -1 : ab_fd_chmod(fd, mode);
}

static int drop_change(struct ab_apply *apply, const struct ab_change *c, int undo)
{
	struct ab_parent parent = { .fd = -1 };
	const char *name;
	int dir = ab_parent_open(&parent, apply->opened.view.upper, c->path, &name);
	int rc = -1;

	if (dir < 0)
		rc = errno == ENOENT ? 0 : -1; /* it went with its folder */
	else if (c->kind == AB_CHANGE_MODE && c->is == AB_TYPE_DIR)
		rc = reset_mode(dir, name, c->old_mode);
	else if (c->full && c->was != AB_TYPE_NONE)
		rc = copy_from_host(apply, c, dir, name, undo);
	else
		rc = remove_from_layer(dir, name, undo);
	ab_closep(&parent.fd);
	free(parent.path);
	return rc;
}

int ab_drop_change(struct ab_apply *apply, size_t i, struct ab_error *err)
{
	const struct ab_change *c = &apply->changes.v[i];
	ab_autoclose int undo = -1;

	if (mkdirat(apply->set->dir, "undo", 0700) < 0 && errno != EEXIST)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot create the undo folder");
	undo = ab_layer_set_open(apply->set, "undo", O_RDONLY | O_DIRECTORY);
	if (undo < 0 || drop_change(apply, c, undo) < 0) {
		int errnum = errno;
		ab_autofree char *path = ab_escape(c->path);

		return ab_fail(err, AB_ESYSTEM, errnum, "cannot discard %s", path);
	}
	return 0;
}

int ab_apply_discard(struct ab_apply *apply, struct ab_error *err)
{
	for (size_t i = apply->changes.len; i-- > 0;) {
		if (!apply->picks[i].take)
			continue;
		if (ab_drop_change(apply, i, err) < 0)
			return -1;
		apply->picks[i].done = true;
	}
	if (apply->home)
		return 0;
	apply->set->meta.waiting = (int64_t)ab_apply_rest(apply);
	return ab_layer_set_save(apply->set, err);
}

/* ---- the whole layer ---- */

static bool has_part(const struct ab_layer_set *set, const char *part)
{
	ab_autoclose int fd = ab_layer_set_open(set, part, O_PATH);

	return fd >= 0;
}

/* An empty layer, for the files that undo brings back. */
static int make_again(struct ab_layer_set *set, const char *kind, bool home, struct ab_error *err)
{
	ab_autofree char *upper = NULL, *work = NULL;
	ab_autoclose int real = ab_layer_root_open(set, home, err);

	if (real < 0)
		return -1;
	return ab_layer_set_make(set, kind, real, &upper, &work, err);
}

int ab_layer_discard(const struct ab_layer_store *store, struct ab_layer_set *set, bool home,
		     struct ab_error *err)
{
	const char *kind = home ? "home" : "project", *other = home ? "project" : "home";
	bool undo = ab_apply_can_undo(set), copy = !home && set->meta.form == AB_LAYER_FORM_COPY;

	if (!undo && !has_part(set, other))
		return ab_layers_remove(store, set, err);
	if (has_part(set, kind) && ab_layer_set_drop(set, kind, err) < 0)
		return -1;
	/* Without the folder there is nothing that undo could bring back. */
	if (undo && !copy && !ab_layer_root_gone(set, home) && make_again(set, kind, home, err) < 0)
		return -1;
	if (home)
		return 0;
	set->meta.waiting = 0;
	return ab_layer_set_save(set, err);
}
