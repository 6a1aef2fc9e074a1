#include "layer/apply/apply.h"

#include <linux/fs.h>

#include "workspace/tree/copy_tree.h"
#include "workspace/tree/remove_tree.h"
#include "layer/store/store.h"
#include "layer/walk/look.h"

/* ---- changes ---- */

struct drop {
	struct ab_apply *apply;
	bool ours;		      /* what is dropped, not what is taken */
	int undo;		      /* the set's undo folder */
	struct ab_parent layer, host; /* of the last change */
};

/* It leaves the layer in one step: a folder is renamed before it is emptied. */
static int remove_from_layer(const struct drop *d, int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if ((errno != EISDIR && errno != EPERM) || ab_remove_object(d->undo, "gone") < 0)
		return -1;
	if (renameat(dir, name, d->undo, "gone") < 0 && errno != ENOENT) {
		/* A folder that is closed to us cannot change its parent. */
		if (errno != EACCES)
			return -1;
		return ab_remove_object(dir, name);
	}
	return ab_remove_object(d->undo, "gone");
}

/* Where the file system cannot exchange two names, the layer has neither for a moment. */
static int replace_slowly(const struct drop *d, int dir, const char *name)
{
	if (remove_from_layer(d, dir, name) < 0)
		return -1;
	return ab_rename_new(d->undo, "copy", dir, name);
}

/* The layer contains everything here, so it gets the host's version, in one step: a name that is
 * missing would be a deletion. */
static int copy_from_host(struct drop *d, const struct ab_change *c, int dir, const char *name)
{
	const char *own;
	int from = ab_parent_open(&d->host, d->apply->view.lower, c->path, &own);

	if (from < 0 || ab_remove_object(d->undo, "copy") < 0 ||
	    ab_copy_object(from, own, d->undo, "copy") < 0)
		return -1;
	if (c->is == AB_TYPE_NONE)
		return ab_rename_new(d->undo, "copy", dir, name);
	if (renameat2(d->undo, "copy", dir, name, RENAME_EXCHANGE) == 0)
		return ab_remove_object(d->undo, "copy");
	return errno == EINVAL || errno == ENOSYS || errno == EACCES ? replace_slowly(d, dir, name)
								     : -1;
}

static int reset_mode(int dir, const char *name, mode_t mode)
{
	ab_autoclose int fd = ab_open_same_mount(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);

	return fd < 0 ? -1 : ab_fd_chmod(fd, mode);
}

static int drop_change(struct drop *d, const struct ab_change *c)
{
	const char *name;
	int dir = ab_parent_open(&d->layer, d->apply->view.upper, c->path, &name);

	if (dir < 0)
		return errno == ENOENT ? 0 : -1; /* it went with its folder */
	/* Of a folder that cannot be listed, not even the mode is known. */
	if (c->kind == AB_CHANGE_MODE && c->is == AB_TYPE_DIR && !c->refused)
		return reset_mode(dir, name, c->old_mode);
	if (c->full && c->was != AB_TYPE_NONE)
		return copy_from_host(d, c, dir, name);
	return remove_from_layer(d, dir, name);
}

static bool is_chosen(const struct drop *d, size_t i)
{
	return d->ours ? d->apply->picks[i].dropped : d->apply->picks[i].take;
}

/* What is in a folder of the box goes with it. The others from the end: what is in a folder before
 * its mode. */
static int drop_chosen(struct drop *d, struct ab_error *err)
{
	const struct ab_changes *changes = &d->apply->changes;
	ab_autofree bool *inside = ab_alloc(changes->len + 1);

	for (size_t i = 0, end; i < changes->len; i = end) {
		end = i + 1;
		if (!is_chosen(d, i) || changes->v[i].is != AB_TYPE_DIR ||
		    changes->v[i].kind == AB_CHANGE_MODE)
			continue;
		end = ab_changes_end(changes, i);
		memset(inside + i + 1, true, end - i - 1);
	}
	for (size_t i = changes->len; i-- > 0;) {
		if (!is_chosen(d, i))
			continue;
		if (!inside[i] && drop_change(d, &changes->v[i]) < 0) {
			int errnum = errno;
			ab_autofree char *path = ab_escape(changes->v[i].path);

			return ab_fail(err, AB_ESYSTEM, errnum, "cannot discard %s", path);
		}
		d->apply->picks[i].done = true;
	}
	return 0;
}

static int drop_changes(struct ab_apply *apply, bool ours, struct ab_error *err)
{
	struct drop d = {
		.apply = apply, .ours = ours, .layer = AB_PARENT_NONE, .host = AB_PARENT_NONE
	};
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < apply->changes.len; i++)
		n += is_chosen(&d, i);
	if (!n)
		return 0;
	if (mkdirat(apply->set->dir, "undo", 0700) < 0 && errno != EEXIST)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot create the undo folder");
	d.undo = ab_layer_set_open(apply->set, "undo", O_RDONLY | O_DIRECTORY);
	if (d.undo < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot open the undo folder");
	rc = drop_chosen(&d, err);
	close(d.undo);
	ab_parent_fini(&d.layer);
	ab_parent_fini(&d.host);
	return rc;
}

int ab_apply_discard(struct ab_apply *apply, bool ours, struct ab_error *err)
{
	if (drop_changes(apply, ours, err) < 0)
		return -1;
	if (apply->view.home)
		return 0;
	/* For `ps` and the next command without a name. */
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
