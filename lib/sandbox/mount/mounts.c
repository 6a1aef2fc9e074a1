/*
 * Theory of operation.
 *
 * The box keeps the host's tree in place and makes it read-only with one call,
 * however many mounts it has. Trees that must stay writable, or visible below a
 * covering mount, are cloned first:
 *
 *	0. create a detached tmpfs with /dev and the masks, a /proc and a devpts,
 *	   and clone the device nodes: this needs no plan;
 *	1. clone the writable trees and the places of kept layers, unchanged;
 *	2. make all of / read-only, nosuid, nodev, private;
 *	3. clone the shown and the closed trees: clones are read-only now;
 *	4. attach the tmpfs to a folder that will be covered, create and clone the
 *	   private folders in it, make the overlays of the layers, then make it
 *	   read-only, so that later clones (masks) are read-only, too;
 *	5. mount /dev, /proc, /sys, then the plan, parents first, then the box's
 *	   own files.
 *
 * With a hidden root, an empty folder of the tmpfs becomes / between 4 and 5, and
 * the host's tree is detached at the end.
 *
 * Should: look up a target just before mounting on it.
 * Mustn't: create anything outside the tmpfs and the layers (make_target() checks the
 * device), follow a symbolic link, or unmount (costs an RCU grace period).
 *
 * A kept layer was filled by another box, which may have left a link on the way to
 * something that is mounted in it now. The host's file is not visible there then, so a
 * mask is left out; a writable folder of the host is refused.
 */
#include "sandbox/mount/mounts.h"

#include <sys/mount.h>
#include <sys/syscall.h>

#include "sandbox/mount/overlays.h"
#include "sandbox/mount/staged.h"
#include "sandbox/mount/tree.h"
#include "sandbox/plan/spec.h"

enum {
	TRIES_MAX = 64, /* for a name that is replaced again and again */
};

struct build {
	struct ab_spec *spec;
	int host;  /* the host's root */
	int root;  /* the box's root; the same unless hidden */
	int stage; /* the tmpfs */
	dev_t stage_dev;
	int *taken; /* per plan entry: its tree, or -1 */
	struct ab_overlays overlays;
	struct ab_furniture *furniture;
	struct ab_fds walls;
};

static void close_build(struct build *b)
{
	ab_furniture_fini(b->furniture);
	ab_overlays_fini(&b->overlays);
	for (size_t i = 0; b->taken && i < b->spec->plan.len; i++)
		ab_closep(&b->taken[i]);
	ab_freep(&b->taken);
	if (b->root != b->host)
		ab_closep(&b->root);
	ab_closep(&b->host);
}

static int clone_entry(struct build *b, size_t i, struct ab_error *err)
{
	struct ab_mount *m = &b->spec->plan.v[i];
	ab_autoclose int fd = ab_tree_lookup(b->host, m->path);

	/* There is nothing to show any more. */
	if (fd < 0 && errno == ENOENT && m->op == AB_MOUNT_SHOW) {
		m->may_vanish = true;
		return 0;
	}
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", m->path);
	b->taken[i] = ab_tree_clone(fd, m->path, err);
	if (b->taken[i] < 0)
		return -1;
	/* It was cloned before the root got these attributes: a setuid file or
	 * a device in the workspace must not work either. */
	if (m->op == AB_MOUNT_WRITE)
		return ab_tree_setattr(b->taken[i], MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, true,
				       m->path, err);
	return 0;
}

static int clone_entries(struct build *b, bool writable, struct ab_error *err)
{
	for (size_t i = 0; i < b->spec->plan.len; i++) {
		enum ab_mount_op op = b->spec->plan.v[i].op;
		bool wanted = writable ? op == AB_MOUNT_WRITE
				       : op == AB_MOUNT_SHOW || op == AB_MOUNT_CLOSE;

		if (wanted && clone_entry(b, i, err) < 0)
			return -1;
	}
	return 0;
}

static mode_t get_private_mode(const char *path)
{
	if (strcmp(ab_path_name(path), "tmp") == 0)
		return 01777;
	/* "/" and "/run"; a home or XDG_RUNTIME_DIR must be private to the user */
	return strchr(path + 1, '/') || strcmp(path, "/root") == 0 ? 0700 : 0755;
}

/* Attach the tmpfs to the first private folder that is not the root: the clone
 * for that folder will cover it. */
static int attach_stage(struct build *b, struct ab_error *err)
{
	const struct ab_plan *plan = &b->spec->plan;
	const char *where = NULL;
	ab_autoclose int target = -1;
	struct stat st;

	for (size_t i = 0; i < plan->len && !where; i++)
		if (plan->v[i].op == AB_MOUNT_PRIVATE && plan->v[i].path[1])
			where = plan->v[i].path;
	if (!where)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "no private folder to attach the staging tmpfs to");
	target = ab_tree_lookup(b->host, where);
	if (target < 0 || fstat(b->stage, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", where);
	b->stage_dev = st.st_dev;
	return ab_tree_place(b->stage, target, where, err);
}

static int prepare_stage(struct build *b, struct ab_error *err)
{
	const struct ab_plan *plan = &b->spec->plan;

	if (attach_stage(b, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->len; i++) {
		char name[24];

		if (plan->v[i].op != AB_MOUNT_PRIVATE)
			continue;
		snprintf(name, sizeof(name), "p%zu", i);
		if (mkdirat(b->stage, name, get_private_mode(plan->v[i].path)) < 0 ||
		    (b->taken[i] = open_tree(b->stage, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)) <
			    0)
			return ab_fail(err, AB_ESYSTEM, errno, "create a private %s",
				       plan->v[i].path);
	}
	if (ab_staged_make(b->spec, b->stage, err) < 0 ||
	    ab_furniture_finish(b->furniture, b->stage, b->spec->run_id, err) < 0 ||
	    ab_overlays_make(&b->overlays, b->spec, b->stage, err) < 0)
		return -1;
	return ab_tree_setattr(b->stage, MOUNT_ATTR_RDONLY, false, "the staging folder", err);
}

/* Hidden root: make the empty folder /, with the host's tree below it. */
static int enter_empty_root(struct build *b, struct ab_error *err)
{
	ab_autoclose int dir = -1;

	if (ab_tree_place(b->taken[0], b->stage, "/", err) < 0)
		return -1;
	b->root = -1;
	dir = openat(b->taken[0], ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fchdir(dir) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "enter the empty root");
	b->root = ab_take_fd(&dir);
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = { "dev", "proc", "sys" };

		if (mkdirat(b->root, names[i], 0755) < 0)
			return ab_fail(err, AB_ESYSTEM, errno, "create /%s", names[i]);
	}
	return 0;
}

static int leave_host_root(struct build *b, struct ab_error *err)
{
	if (fchdir(b->host) < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "detach the host's root");
	/* All of its folders exist now. */
	return ab_tree_setattr(b->root, MOUNT_ATTR_RDONLY, false, "/", err);
}

/* Create `path` and its missing parents, in the tmpfs only, and folders in a layer. */
static int make_target(struct build *b, const char *path, enum ab_as as)
{
	ab_autofree char *parent = ab_path_parent(path);
	ab_autoclose int dir = ab_tree_lookup(b->root, parent);
	struct stat st;

	if (dir < 0 && errno == ENOENT && strcmp(parent, "/") != 0)
		dir = make_target(b, parent, AB_AS_DIR);
	if (dir < 0 || fstat(dir, &st) < 0)
		return -1;
	if (st.st_dev != b->stage_dev &&
	    (as != AB_AS_DIR || !ab_overlays_have(&b->overlays, st.st_dev)))
		return ab_errno(ENOENT);
	if (as == AB_AS_DIR ? mkdirat(dir, ab_path_name(path), 0755) < 0
			    : mknodat(dir, ab_path_name(path), S_IFREG | 0444, 0) < 0)
		return -1;
	return ab_tree_lookup(b->root, path);
}

/* A link that the plan shows in an empty root is created again, not mounted. */
static int copy_link(struct build *b, const struct ab_mount *m, int tree, struct ab_error *err)
{
	ab_autofree char *parent = ab_path_parent(m->path);
	ab_autoclose int dir = ab_tree_lookup(b->root, parent);
	char to[4096];
	ssize_t n = readlinkat(tree, "", to, sizeof(to) - 1);

	if (dir < 0)
		dir = make_target(b, parent, AB_AS_DIR);
	if (n < 0 || dir < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "link %s", m->path);
	to[n] = '\0';
	if (symlinkat(to, dir, ab_path_name(m->path)) < 0 && errno != EEXIST)
		return ab_fail(err, AB_ESYSTEM, errno, "link %s", m->path);
	return 0;
}

/* A file that has disappeared cannot be read. */
static bool can_vanish(const struct ab_mount *m)
{
	return m->op == AB_MOUNT_MASK || (m->op == AB_MOUNT_PIN && m->may_vanish);
}

/*
 * A parent folder is inaccessible: root makes the plan with capabilities that no
 * process has in the box. The box cannot enter that folder either, but its owner
 * could change its mode. So mask that folder instead.
 */
static int mask_parent(struct build *b, const char *path, struct ab_error *err)
{
	ab_autofree char *dir = ab_path_parent(path);
	ab_autoclose int target = ab_tree_lookup(b->root, dir);
	struct stat st;

	if (target < 0 && errno == EACCES)
		return mask_parent(b, dir, err);
	if (target < 0 || fstat(target, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", dir);
	if (st.st_dev == b->stage_dev)
		return 0; /* already masked for another entry */
	return ab_tree_place_named(b->stage, "d", target, "mask", dir, err);
}

/* The mask for what is there now, which may be of another kind than it was. */
static void choose_mask(const struct build *b, size_t i, const struct stat *st,
			char ret[AB_STAGED_NAME])
{
	bool was_dir = b->spec->plan.v[i].as == AB_AS_DIR, is_dir = S_ISDIR(st->st_mode);

	if (was_dir == is_dir)
		ab_staged_mask(b->spec, i, ret);
	else
		snprintf(ret, AB_STAGED_NAME, is_dir ? "d" : "f");
}

/* Is this below a layer, where a link can be the work of another box? */
static bool is_in_layer(const struct build *b, const char *path)
{
	for (size_t i = 0; i < b->spec->layers.len; i++)
		if (ab_layer_is_made(&b->spec->layers.v[i]) &&
		    ab_path_within(path, b->spec->layers.v[i].path))
			return true;
	return false;
}

/*
 * A layer; or, if it could not be made, the host's folder, which is read-only by now. It is visible
 * already unless a private folder covers it.
 */
static int mount_layer(struct build *b, const struct ab_mount *m, struct ab_error *err)
{
	ab_autoclose int tree = ab_overlays_take(&b->overlays, b->spec, m->path);
	ab_autoclose int target = -1;
	struct stat st;
	int lower;

	target = ab_tree_lookup(b->root, m->path);
	if (target < 0 && errno != ENOENT)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", m->path);
	if (tree < 0) {
		lower = ab_overlays_lower(&b->overlays, b->spec, m->path);
		/* In a layer of pieces there is only an empty folder. */
		if ((target >= 0 && !is_in_layer(b, m->path)) || lower < 0)
			return 0;
		tree = ab_tree_clone(lower, m->path, err);
		if (tree < 0)
			return -1;
	}
	if (target < 0)
		target = make_target(b, m->path, AB_AS_DIR);
	if (target < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", m->path);
	if (ab_tree_place(tree, target, m->path, err) == 0)
		return 0;
	if (err->errnum != EINVAL || fstat(target, &st) < 0)
		return -1;
	/* The host has something else there by now. */
	*err = (struct ab_error){ 0 };
	return ab_tree_place_named(b->stage, S_ISDIR(st.st_mode) ? "d" : "f", target, "mask",
				   m->path, err);
}

static int hint_layer(struct ab_error *err)
{
	return ab_hint(err,
		       "a box has left something else there in the kept layer; remove the layer "
		       "with agentbox layers rm, or use another name");
}

/* A link or a file in a layer is on the way to it, or in its place: nothing of the host is visible
 * there. */
static int leave_out(struct build *b, const struct ab_mount *m, int errnum, struct ab_error *err)
{
	if (m->op == AB_MOUNT_MASK || m->op == AB_MOUNT_SHOW) {
		ab_strv_add(&b->spec->blocked, m->path);
		return 0;
	}
	ab_fail(err, AB_ESYSTEM, errnum, "mount on %s", m->path);
	return hint_layer(err);
}

static int try_mount_entry(struct build *b, size_t i, struct ab_error *err)
{
	const struct ab_mount *m = &b->spec->plan.v[i];
	ab_autoclose int target = ab_tree_lookup(b->root, m->path);
	ab_autoclose int tree = -1;
	char name[AB_STAGED_NAME];
	struct stat st;

	if (m->op == AB_MOUNT_SHOW && m->may_vanish)
		return 0;
	if (target < 0 && errno == EACCES && m->op == AB_MOUNT_MASK)
		return mask_parent(b, m->path, err);
	if (target < 0 && (errno == ELOOP || errno == ENOTDIR) && is_in_layer(b, m->path))
		return leave_out(b, m, errno, err);
	if (target < 0 && errno == ENOENT) {
		if (can_vanish(m))
			return 0;
		if (m->op == AB_MOUNT_SHOW && m->as == AB_AS_LINK)
			return copy_link(b, m, b->taken[i], err);
		target = make_target(b, m->path, m->as);
	}
	/* A box has removed it, and a file cannot be created in a layer. */
	if (target < 0 && errno == ENOENT && m->op == AB_MOUNT_SHOW && is_in_layer(b, m->path))
		return leave_out(b, m, errno, err);
	if (target < 0 || fstat(target, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find %s", m->path);
	/* It became a link after the plan was made, or a box has made a folder of it. */
	if (((S_ISLNK(st.st_mode) && m->as != AB_AS_LINK) ||
	     (S_ISDIR(st.st_mode) && m->as == AB_AS_FILE && m->op == AB_MOUNT_SHOW)) &&
	    is_in_layer(b, m->path))
		return leave_out(b, m, ELOOP, err);
	if (S_ISLNK(st.st_mode) && m->as != AB_AS_LINK)
		return ab_fail(err, AB_ESYSTEM, ELOOP, "mount on %s", m->path);
	switch (m->op) {
	case AB_MOUNT_WRITE:
	case AB_MOUNT_SHOW:
	case AB_MOUNT_CLOSE:
	case AB_MOUNT_PRIVATE:
		tree = ab_take_fd(&b->taken[i]);
		break;
	case AB_MOUNT_LAYER:
		return -1; /* mount_layer() */
	case AB_MOUNT_PIN:
		tree = ab_tree_clone(target, m->path, err);
		break;
	case AB_MOUNT_MASK:
		choose_mask(b, i, &st, name);
		return ab_tree_place_named(b->stage, name, target, "mask", m->path, err);
	}
	if (tree < 0)
		return -1;
	if (ab_tree_place(tree, target, m->path, err) < 0) {
		/* It was removed after it was cloned. */
		if (m->op == AB_MOUNT_SHOW && err->errnum == ENOENT) {
			*err = (struct ab_error){ 0 };
			return 0;
		}
		if (err->errnum != EINVAL || !is_in_layer(b, m->path))
			return -1;
		/* A folder on a file, or a file on a folder. */
		*err = (struct ab_error){ 0 };
		return leave_out(b, m, EINVAL, err);
	}
	if (ab_plan_stage(&b->spec->plan, i) != AB_STAGE_NONE && b->walls.len < AB_FDS_MAX - 1)
		b->walls.v[b->walls.len++] = ab_take_fd(&target);
	return 0;
}

/*
 * Something that was to be masked may disappear at any moment. Between the lookup and the mount the
 * kernel reports that as ENOENT. Something else may have the name by then, and it must be masked,
 * too: look again until the mount succeeds or there is nothing.
 */
static int mount_entry(struct build *b, size_t i, struct ab_error *err)
{
	int r;

	if (b->spec->plan.v[i].op == AB_MOUNT_LAYER)
		return mount_layer(b, &b->spec->plan.v[i], err);
	r = try_mount_entry(b, i, err);
	for (int tries = 1;
	     r < 0 && tries < TRIES_MAX && err->errnum == ENOENT && can_vanish(&b->spec->plan.v[i]);
	     tries++)
		r = try_mount_entry(b, i, err);
	return r;
}

/*
 * Can the box start without this file? If there is no file to cover, or no path to
 * it, the command cannot see the host's file either. But the owner of an
 * inaccessible folder could open it, and something that is no longer a plain file
 * could lead elsewhere.
 */
static bool is_optional(struct build *b, const struct ab_file *f, bool there, int errnum)
{
	const struct ab_mount *m = ab_plan_find(&b->spec->plan, f->path);

	return !f->over_mask || (m && m->op == AB_MOUNT_MASK) || (!there && errnum == ENOENT);
}

static int mount_file(struct build *b, size_t i, struct ab_error *err)
{
	const struct ab_file *f = &b->spec->files[i];
	ab_autoclose int target = ab_tree_lookup(b->root, f->path);
	char name[AB_STAGED_NAME];
	struct stat st;

	if (target < 0 && errno == ENOENT) {
		target = make_target(b, f->path, AB_AS_FILE);
		if (target < 0)
			errno = ENOENT; /* it does not exist, so it cannot be seen */
	}
	if (target < 0 && errno == ELOOP && is_in_layer(b, f->path)) {
		ab_strv_add(&b->spec->blocked, f->path);
		return 0;
	}
	if (target < 0 || fstat(target, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (is_optional(b, f, target >= 0, errno))
			return 0;
		return ab_fail(err, AB_ESYSTEM, target < 0 ? errno : 0, "cover %s", f->path);
	}
	ab_staged_name(b->spec, i, name);
	return ab_tree_place_named(b->stage, name, target, "show", f->path, err);
}

static int build_tree(struct build *b, struct ab_error *err)
{
	const struct ab_spec *spec = b->spec;
	size_t first = 0;

	if (clone_entries(b, true, err) < 0 ||
	    ab_overlays_collect(spec, b->host, &b->overlays, err) < 0 ||
	    ab_tree_setattr(b->host, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, true,
			    "/", err) < 0 ||
	    ab_furniture_collect_readonly(b->furniture, b->host, err) < 0 ||
	    clone_entries(b, false, err) < 0 || prepare_stage(b, err) < 0)
		return -1;
	if (spec->hidden_root) {
		if (enter_empty_root(b, err) < 0)
			return -1;
		first = 1; /* the root itself */
	}
	if (ab_furniture_place(b->furniture, b->root, b->stage, err) < 0)
		return -1;
	for (size_t i = first; i < spec->plan.len; i++)
		if (mount_entry(b, i, err) < 0)
			return -1;
	for (size_t i = 0; i < spec->nfiles; i++)
		if (!ab_staged_in_place(spec, i) && mount_file(b, i, err) < 0)
			return -1;
	return spec->hidden_root ? leave_host_root(b, err) : 0;
}

int ab_mounts_prepare(uint64_t tmp_size, struct ab_ground *ret, struct ab_error *err)
{
	struct ab_ground g = { .stage = -1 };
	char size[24], files[24];
	const char *const options[] = { "mode", "0755", "size", size, "nr_inodes", files, NULL };
	mode_t mask = umask(0);
	int r = -1;

	snprintf(size, sizeof(size), "%llu", (unsigned long long)tmp_size);
	snprintf(files, sizeof(files), "%llu", (unsigned long long)ab_plan_tmp_files(tmp_size));
	g.host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	g.stage = ab_tree_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (g.host < 0 || g.stage < 0)
		ab_fail(err, AB_ESYSTEM, errno, "create a tmpfs");
	else if (mkdirat(g.stage, "d", 0) < 0 || mknodat(g.stage, "f", S_IFREG, 0) < 0)
		ab_fail(err, AB_ESYSTEM, errno, "create the masks");
	else
		r = ab_furniture_ready(&g.furniture, g.host, g.stage, err);
	umask(mask);
	if (r == 0)
		*ret = g;
	return r;
}

int ab_mounts_prepare_proc(struct ab_ground *ground, bool new_proc, struct ab_error *err)
{
	mode_t mask;
	int r;

	if (new_proc)
		return ab_furniture_new_proc(&ground->furniture, err);
	mask = umask(0);
	r = ab_furniture_share_proc(&ground->furniture, ground->host, ground->stage, err);
	umask(mask);
	return r;
}

int ab_mounts_apply(struct ab_spec *spec, struct ab_ground *ground, struct ab_fds *ret_walls,
		    struct ab_error *err)
{
	struct build b = { .spec = spec,
			   .host = ground->host,
			   .root = ground->host,
			   .stage = ground->stage,
			   .furniture = &ground->furniture,
			   .walls = { .v = { ground->stage }, .len = 1 } };
	mode_t mask = umask(0);
	struct rlimit files = ab_fd_limit_raise();
	int r;

	b.taken = ab_alloc(spec->plan.len * sizeof(b.taken[0]));
	memset(b.taken, -1, spec->plan.len * sizeof(b.taken[0]));
	r = build_tree(&b, err);
	if (r == 0 && ab_overlays_hide_names(spec))
		b.walls.v[b.walls.len++] = ab_take_fd(&b.overlays.hidden);
	close_build(&b);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	umask(mask);
	if (r < 0)
		ab_fds_close(&b.walls);
	else
		*ret_walls = b.walls;
	return r;
}
