#include "sandbox/mount/overlays.h"

#include <sys/mount.h>

#include "sandbox/mount/tree.h"
#include "sandbox/plan/spec.h"

/* Names in the staging tmpfs: for layer 0 the folder "l0" with upper, work, and for a kept one the
 * mount of its place; "h" with a whiteout to link and "0", the middle layer. */
#define UPPER "u"
#define WORK "w"
#define KEPT "k"
#define HIDDEN "h"
#define WHITEOUT "w"
enum { NAME_SIZE = AB_OVERLAY_NAME };

enum { BUSY_MS = 3000, BUSY_STEP_MS = 10 };

struct ab_overlay {
	int lower; /* the host's folder; -1 for a bare layer */
	int below; /* a layer of another box, or -1 */
	int place; /* a clone of the folder with upper and work, for a kept layer */
	int tree;  /* the finished overlay */
	dev_t dev;
};

/* The mode of the folder that the box sees. */
static mode_t get_mode(int lower)
{
	struct stat st;

	return lower >= 0 && fstat(lower, &st) == 0 ? st.st_mode & 07777 : 0700;
}

/* The upper and the work folder, as names below the staging tmpfs. */
static int make_temporary(const struct ab_overlay *o, int stage, const char *top, char **ret_upper,
			  char **ret_work)
{
	*ret_upper = ab_printf("%s/" UPPER, top);
	*ret_work = ab_printf("%s/" WORK, top);
	if (mkdirat(stage, *ret_upper, get_mode(o->lower)) < 0)
		return -1;
	return mkdirat(stage, *ret_work, 0700);
}

static int place_kept(const struct ab_overlay *o, const struct ab_layer_mount *l, int stage,
		      const char *top, char **ret_upper, char **ret_work)
{
	ab_autofree char *place = ab_printf("%s/" KEPT, top);
	ab_autoclose int target = -1;

	*ret_upper = ab_path_join(place, ab_path_name(l->upper));
	*ret_work = ab_path_join(place, ab_path_name(l->work));
	if (mkdirat(stage, place, 0700) < 0)
		return -1;
	/* The kernel takes an upper folder from an attached mount only. */
	target = openat(stage, place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return target < 0 ? -1
			  : move_mount(o->place, "", target, "",
				       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/*
 * From the staging tmpfs, where the names of our own folders are short, and by descriptor for the
 * host's: nothing is looked up a second time, the text has no character that overlay would treat
 * specially, and the box's mountinfo shows no path of the host.
 */
static int create_overlay(const struct ab_overlay *o, bool kept, const char *middle,
			  const char *upper, const char *work)
{
	const int lowers[] = { o->below, o->lower };
	char below[(AB_COUNT(lowers) + 1) * NAME_SIZE];
	/*
	 * With an index a second box with the same layer gets EBUSY. A temporary one is nobody
	 * else's; and on a tmpfs nothing is synchronized, so "volatile" would save nothing.
	 */
	const char *const options[] = { "lowerdir",  below,	"upperdir",
					upper,	     "workdir", work,
					"userxattr", NULL,	kept ? "index" : NULL,
					"on",	     NULL };
	size_t n;

	n = (size_t)snprintf(below, sizeof(below), "%s", middle);
	for (size_t i = 0; i < AB_COUNT(lowers); i++)
		if (lowers[i] >= 0)
			n += (size_t)snprintf(below + n, sizeof(below) - n, "%s/proc/self/fd/%d",
					      n ? ":" : "", lowers[i]);
	return ab_tree_new("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static int try_upper(struct ab_overlay *o, const struct ab_layer_mount *l, bool kept, int stage,
		     const char *top, const char *middle)
{
	ab_autofree char *upper = NULL, *work = NULL;

	if ((kept ? place_kept(o, l, stage, top, &upper, &work)
		  : make_temporary(o, stage, top, &upper, &work)) < 0)
		return -1;
	/* The supervisor has the lock of a kept layer. If the box before was killed with its
	 * supervisor, its mounts last a little longer than that one's lock. */
	for (int waited = 0; waited < BUSY_MS; waited += BUSY_STEP_MS) {
		o->tree = create_overlay(o, kept, middle, upper, work);
		if (o->tree >= 0 || errno != EBUSY || !kept)
			break;
		poll(NULL, 0, BUSY_STEP_MS);
	}
	if (o->tree < 0 && !kept) {
		int errnum = errno;

		unlinkat(stage, upper, AT_REMOVEDIR);
		errno = errnum;
	}
	return o->tree < 0 ? -1 : 0;
}

/* Where the names of layer i are hidden, before its whiteouts. */
static int make_middle(const struct ab_overlay *o, const struct ab_layer_mount *l, int stage,
		       const char *name)
{
	ab_autoclose int dir = -1;

	if (mkdirat(stage, name, get_mode(o->lower) | 0700) < 0)
		return -1;
	dir = openat(stage, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t k = 0; dir >= 0 && k < l->parents.len; k++) {
		struct stat st;

		/* Like the real folder, so that nothing about it changes; but we must be able to
		 * write there. One that is gone is hidden with what is in it. */
		if (fstatat(o->lower, l->parents.v[k], &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		if (mkdirat(dir, l->parents.v[k], (st.st_mode & 07777) | 0700) < 0 &&
		    errno != ENOENT)
			return -1;
	}
	return dir < 0 ? -1 : 0;
}

/* The layer's `errnum`. */
static int make_overlay(struct ab_overlay *o, struct ab_layer_mount *l, int stage, size_t i)
{
	char top[NAME_SIZE], middle[NAME_SIZE] = "";
	int result = 0;
	struct stat st;

	snprintf(top, sizeof(top), "l%zu", i);
	if (mkdirat(stage, top, 0700) < 0)
		return errno;
	if (l->hides || l->bare) {
		snprintf(middle, sizeof(middle), HIDDEN "/%zu", i);
		if (make_middle(o, l, stage, middle) < 0)
			return errno;
	}
	if (try_upper(o, l, l->upper, stage, top, middle) < 0) {
		/* A layer that is in use must not be forgotten because of that. */
		if (!l->upper || !l->optional || errno == EBUSY)
			return errno;
		if (try_upper(o, l, false, stage, top, middle) < 0)
			return errno;
		result = AB_LAYER_TEMPORARY;
	}
	if (fstat(o->tree, &st) < 0)
		return errno;
	o->dev = st.st_dev;
	return result;
}

/* A full copy instead of an overlay: it is mounted as it is. Its device is one of the host's, and
 * init creates nothing there. */
static int find_copy(const struct ab_layer_mount *l, int host, struct ab_overlay *o,
		     struct ab_error *err)
{
	ab_autoclose int fd = ab_tree_lookup(host, l->upper);

	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", l->upper);
	o->tree = ab_tree_clone_with(fd, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, true, l->upper, err);
	return o->tree < 0 ? -1 : 0;
}

static int find_folders(const struct ab_layer_mount *l, int host, struct ab_overlay *o,
			struct ab_error *err)
{
	ab_autofree char *place = l->upper ? ab_path_parent(l->upper) : NULL;
	ab_autoclose int fd = -1;

	if (!l->bare) {
		o->lower = ab_tree_lookup(host, l->path);
		if (o->lower < 0 && !l->optional)
			return ab_fail(err, AB_ESYSTEM, errno, "open %s", l->path);
	}
	if (l->below) {
		o->below = ab_tree_lookup(host, l->below);
		if (o->below < 0 && errno != ENOENT)
			return ab_fail(err, AB_ESYSTEM, errno, "open %s", l->below);
	}
	if (!place)
		return 0;
	if (!l->work)
		return find_copy(l, host, o, err);
	fd = ab_tree_lookup(host, place);
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", place);
	o->place = ab_tree_clone(fd, place, err);
	return o->place < 0 ? -1 : 0;
}

/* The layer around a spare one: one that was made, else the innermost; the number of layers if there is
 * none. */
static size_t find_outer(const struct ab_spec *spec, const struct ab_layer_mount *l)
{
	const struct ab_layer_mount *v = spec->layers.v;
	size_t n = spec->layers.len, found = n;

	for (size_t i = 0; i < n && l->spare; i++) {
		if (v[i].spare || strcmp(l->path, v[i].path) == 0 ||
		    !ab_path_within(l->path, v[i].path))
			continue;
		if (ab_layer_is_made(&v[i]))
			return i;
		if (found == n || strlen(v[i].path) > strlen(v[found].path))
			found = i;
	}
	return found;
}

/* Can its folder be looked up from the one of the layer around it, when the staging tmpfs is attached to a
 * private folder? */
static bool may_wait(const struct ab_spec *spec, const struct ab_layer_mount *l)
{
	size_t outer = find_outer(spec, l);

	for (size_t i = 0; outer < spec->layers.len && i < spec->plan.len; i++)
		if (spec->plan.v[i].op == AB_MOUNT_PRIVATE &&
		    ab_path_within(spec->plan.v[i].path, spec->layers.v[outer].path))
			return false;
	return outer < spec->layers.len;
}

int ab_overlays_collect(const struct ab_spec *spec, int host, struct ab_overlays *ret,
			struct ab_error *err)
{
	size_t n = spec->layers.len;

	*ret = (struct ab_overlays){ .hidden = -1 };
	if (n == 0)
		return 0;
	ret->v = ab_alloc(n * sizeof(ret->v[0]));
	ret->len = n;
	for (size_t i = 0; i < n; i++)
		ret->v[i] =
			(struct ab_overlay){ .lower = -1, .below = -1, .place = -1, .tree = -1 };
	for (size_t i = 0; i < n; i++)
		if (!may_wait(spec, &spec->layers.v[i]) &&
		    find_folders(&spec->layers.v[i], host, &ret->v[i], err) < 0)
			return -1;
	return 0;
}

/* Only if the layer around it was not made, which is rare: usually its folder was not even looked up. */
static int make_spare(struct ab_overlays *o, struct ab_spec *spec, int stage, size_t i)
{
	struct ab_layer_mount *l = &spec->layers.v[i];
	size_t outer = find_outer(spec, l);

	if (outer < o->len && ab_layer_is_made(&spec->layers.v[outer]))
		return AB_LAYER_UNNEEDED;
	if (o->v[i].lower < 0 && outer < o->len && o->v[outer].lower >= 0)
		o->v[i].lower = ab_tree_lookup(o->v[outer].lower,
					       l->path + strlen(spec->layers.v[outer].path));
	return o->v[i].lower < 0 ? ENOENT : make_overlay(&o->v[i], l, stage, i);
}

static int explain_failure(const struct ab_layer_mount *l, struct ab_error *err)
{
	ab_fail(err, AB_ESYSTEM, l->errnum, "create a layer above %s", l->path);
	switch (l->errnum) {
	case EBUSY:
		return ab_hint(err, "another box uses this layer");
	case EINVAL:
		return ab_hint(err, "something is mounted below %s, or a layer cannot be %s",
			       l->path, l->upper ? "above it or in the state folder" : "above it");
	case ELOOP:
		return ab_hint(err, "set AGENTBOX_STATE to a folder outside %s", l->path);
	}
	return -1;
}

static int make_hidden(struct ab_overlays *o, int stage, struct ab_error *err)
{
	if (mkdirat(stage, HIDDEN, 0700) < 0 ||
	    mknodat(stage, HIDDEN "/" WHITEOUT, S_IFCHR, 0) < 0 ||
	    (o->hidden = open_tree(stage, HIDDEN, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a folder for hidden names");
	return 0;
}

/*
 * Attach it where it was cloned from, below what covers the staging tmpfs, so that no path leads there.
 * The kernel removes an attached mount with all others, and a detached one at a cost of its own.
 */
static int attach_hidden(const struct ab_overlays *o, int stage, struct ab_error *err)
{
	ab_autoclose int target = openat(stage, HIDDEN, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (target < 0 || move_mount(o->hidden, "", target, "",
				     MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "attach the folder for hidden names");
	return 0;
}

static bool needs_middle(const struct ab_spec *spec)
{
	for (size_t i = 0; i < spec->layers.len; i++)
		if (spec->layers.v[i].hides || spec->layers.v[i].bare)
			return true;
	return false;
}

int ab_overlays_make(struct ab_overlays *o, struct ab_spec *spec, int stage, struct ab_error *err)
{
	if (o->len == 0)
		return 0;
	if (fchdir(stage) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "enter the staging folder");
	if (needs_middle(spec) && make_hidden(o, stage, err) < 0)
		return -1;
	/* The spare ones last: whether they are needed is known then. */
	for (int spare = 0; spare < 2; spare++)
		for (size_t i = 0; i < o->len; i++) {
			struct ab_layer_mount *l = &spec->layers.v[i];

			if (l->spare != spare)
				continue;
			if (spare)
				l->errnum = make_spare(o, spec, stage, i);
			else if (!l->bare && o->v[i].lower < 0)
				l->errnum = ENOENT;
			else if (o->v[i].tree >= 0)
				l->errnum = 0; /* a copy */
			else
				l->errnum = make_overlay(&o->v[i], l, stage, i);
			if (l->errnum > 0 && (!l->optional || (l->upper && l->errnum == EBUSY)))
				return explain_failure(l, err);
		}
	return needs_middle(spec) ? attach_hidden(o, stage, err) : 0;
}

static struct ab_overlay *find_overlay(const struct ab_overlays *o, const struct ab_spec *spec,
				       const char *path)
{
	const struct ab_layer_mount *l = ab_layer_mounts_find(&spec->layers, path);

	return l ? &o->v[l - spec->layers.v] : NULL;
}

int ab_overlays_take(struct ab_overlays *o, const struct ab_spec *spec, const char *path)
{
	struct ab_overlay *found = find_overlay(o, spec, path);

	return found ? ab_take_fd(&found->tree) : -1;
}

int ab_overlays_lower(const struct ab_overlays *o, const struct ab_spec *spec, const char *path)
{
	const struct ab_overlay *found = find_overlay(o, spec, path);

	return found ? found->lower : -1;
}

bool ab_overlays_have(const struct ab_overlays *o, dev_t dev)
{
	for (size_t i = 0; i < o->len; i++)
		if (o->v[i].dev == dev)
			return true;
	return false;
}

void ab_overlays_upper(size_t i, char ret[AB_OVERLAY_NAME])
{
	snprintf(ret, AB_OVERLAY_NAME, "l%zu/" UPPER, i);
}

void ab_overlays_fini(struct ab_overlays *o)
{
	for (size_t i = 0; i < o->len; i++)
		ab_close_all(&o->v[i].lower, &o->v[i].below, &o->v[i].place, &o->v[i].tree);
	if (o->len)
		ab_closep(&o->hidden);
	free(o->v);
	*o = (struct ab_overlays){ 0 };
}

int ab_overlays_take_hidden(struct ab_overlays *o)
{
	return ab_take_fd(&o->hidden);
}

bool ab_overlays_hide_names(const struct ab_spec *spec)
{
	for (size_t i = 0; i < spec->layers.len; i++)
		if (spec->layers.v[i].hides)
			return true;
	return false;
}

/* Hide `name`, or the first folder on the way to it that the middle layer does not have: the host does
 * not have it either. */
static int put_whiteout(int hidden, int dir, const char *name)
{
	ab_autofree char *path = ab_strdup(name);
	int r = linkat(hidden, WHITEOUT, dir, name, 0);

	for (char *p = strchr(path, '/'); r < 0 && errno == ENOENT && p; p = strchr(p + 1, '/')) {
		*p = '\0';
		r = linkat(hidden, WHITEOUT, dir, path, 0);
		/* That folder is there: the next one. */
		if (r < 0 && errno == EEXIST)
			errno = ENOENT;
		*p = '/';
	}
	/* ENOTDIR: a folder of it is hidden already. */
	return r < 0 && errno != EEXIST && errno != ENOTDIR && errno != ENOENT ? -1 : 0;
}

int ab_overlays_hide(const struct ab_spec *spec, int hidden)
{
	for (size_t i = 0; i < spec->layers.len; i++) {
		const struct ab_layer_mount *l = &spec->layers.v[i];
		ab_autoclose int dir = -1;
		char name[NAME_SIZE];

		if (!l->hides)
			continue;
		snprintf(name, sizeof(name), "%zu", i);
		dir = openat(hidden, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 && errno == ENOENT)
			continue; /* a layer that was not needed */
		for (size_t k = 0; k < l->hidden.len; k++)
			if (dir < 0 || put_whiteout(hidden, dir, l->hidden.v[k]) < 0)
				return -1;
	}
	return 0;
}
