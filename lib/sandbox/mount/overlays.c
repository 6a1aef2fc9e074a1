#include "sandbox/mount/overlays.h"

#include <sys/mount.h>
#include <sys/statvfs.h>

#include "sandbox/mount/pieces.h"
#include "sandbox/mount/tree.h"
#include "sandbox/plan/spec.h"

/* Names in the staging tmpfs: for layer 0 the folder "l0" with upper, work, and for a kept one the
 * mount of its place, and "c", what is copied; "h" with a whiteout to link and "0", the middle layer. */
#define UPPER "u"
#define WORK "w"
#define KEPT "k"
#define COPIES "c"
#define HIDDEN "h"
#define WHITEOUT "w"
enum { NAME_SIZE = AB_OVERLAY_NAME };

enum { BUSY_MS = 3000, BUSY_STEP_MS = 10 };

struct ab_overlay {
	int lower;  /* the host's folder; -1 for a bare layer */
	int errnum; /* why it, or `below`, could not be found */
	int copies; /* what the overlay has instead of it, or -1 */
	int below;  /* a layer of another box, or -1 */
	int place;  /* a clone of the folder with upper and work, for a kept layer */
	int upper;  /* in it, once it is attached */
	int tree;   /* the finished overlay */
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

/* Of the folder that has both, upper and work. */
static size_t place_len(const struct ab_layer_mount *l)
{
	size_t n = 0, len = 0;

	for (; l->upper[n] && l->upper[n] == l->work[n]; n++)
		if (l->upper[n] == '/')
			len = n;
	return len;
}

static int place_kept(struct ab_overlay *o, const struct ab_layer_mount *l, int stage,
		      const char *top, char **ret_upper, char **ret_work)
{
	ab_autofree char *place = ab_printf("%s/" KEPT, top);
	size_t n = place_len(l);
	ab_autoclose int target = -1;

	*ret_work = ab_path_join(place, l->work + n + 1);
	if (mkdirat(stage, place, 0700) < 0)
		return -1;
	/* The kernel takes an upper folder from an attached mount only. */
	target = openat(stage, place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (target < 0 || move_mount(o->place, "", target, "",
				     MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return -1;
	/* That of a piece is in another upper folder, where a box may have left a link. */
	o->upper = ab_open_real(o->place, l->upper + n + 1, O_PATH | O_DIRECTORY, 0);
	*ret_upper = ab_printf("/proc/self/fd/%d", o->upper);
	return o->upper < 0 ? -1 : 0;
}

/*
 * From the staging tmpfs, where the names of our own folders are short, and by descriptor for the
 * host's: nothing is looked up a second time, the text has no character that overlay would treat
 * specially, and the box's mountinfo shows no path of the host.
 */
static int create_overlay(const struct ab_overlay *o, bool indexed, const char *middle,
			  const char *upper, const char *work)
{
	const int lowers[] = { o->below, o->copies >= 0 ? o->copies : o->lower };
	char below[(AB_COUNT(lowers) + 1) * NAME_SIZE];
	/*
	 * With an index a second box with the same layer gets EBUSY. A temporary one is nobody
	 * else's; and on a tmpfs nothing is synchronized, so "volatile" would save nothing.
	 */
	const char *const options[] = { "lowerdir",  below,	"upperdir",
					upper,	     "workdir", work,
					"userxattr", NULL,	indexed ? "index" : NULL,
					"on",	     NULL };
	unsigned int attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	struct statvfs fs;
	size_t n;

	n = (size_t)snprintf(below, sizeof(below), "%s", middle);
	for (size_t i = 0; i < AB_COUNT(lowers); i++)
		if (lowers[i] >= 0)
			n += (size_t)snprintf(below + n, sizeof(below) - n, "%s/proc/self/fd/%d",
					      n ? ":" : "", lowers[i]);
	/* No program runs in the layer if none does below it. */
	if (fstatvfs(o->lower, &fs) == 0 && (fs.f_flag & ST_NOEXEC))
		attr |= MOUNT_ATTR_NOEXEC;
	return ab_tree_new("overlay", options, attr);
}

static int try_upper(struct ab_overlay *o, const struct ab_layer_mount *l, bool kept, int stage,
		     const char *top, const char *middle)
{
	ab_autofree char *upper = NULL, *work = NULL;
	/* The layer of the whole home keeps another box away from its pieces. */
	bool indexed = kept && !strchr(l->upper + place_len(l) + 1, '/');

	if ((kept ? place_kept(o, l, stage, top, &upper, &work)
		  : make_temporary(o, stage, top, &upper, &work)) < 0)
		return -1;
	/* The supervisor has the lock of a kept layer. If the box before was killed with its
	 * supervisor, its mounts last a little longer than that one's lock. */
	for (int waited = 0; waited < BUSY_MS; waited += BUSY_STEP_MS) {
		o->tree = create_overlay(o, indexed, middle, upper, work);
		if (o->tree >= 0 && o->copies < 0 && o->lower >= 0 &&
		    ab_tree_check_overlay(o->tree, o->lower) < 0)
			ab_closep(&o->tree);
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

static bool has_middle(const struct ab_layer_mount *l)
{
	return l->hides || l->bare;
}

/* A folder like the host's, with the folders in it that something is put in: names of layer i that are hidden,
 * before its whiteouts, or copies. */
static int make_folders(const struct ab_overlay *o, const struct ab_layer_mount *l, int stage,
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
	return ab_take_fd(&dir);
}

/* What is below `upper`, besides what was found. */
static int make_lowers(struct ab_overlay *o, const struct ab_spec *spec,
		       const struct ab_layer_mount *l, int stage, const char *top,
		       const char *middle)
{
	ab_autofree char *copies = ab_path_join(top, COPIES);
	ab_autoclose int dir = *middle ? make_folders(o, l, stage, middle) : -1;

	if (*middle && dir < 0)
		return -1;
	if (!l->pieces)
		return 0;
	o->copies = make_folders(o, l, stage, copies);
	return o->copies < 0 ? -1 : ab_pieces_copy(spec, l, o->lower, o->copies);
}

/* The layer's `errnum`. */
static int make_overlay(struct ab_overlay *o, struct ab_spec *spec, int stage, size_t i)
{
	struct ab_layer_mount *l = &spec->layers.v[i];
	char top[NAME_SIZE], middle[NAME_SIZE] = "";
	int result = 0;
	struct stat st;

	snprintf(top, sizeof(top), "l%zu", i);
	if (mkdirat(stage, top, 0700) < 0)
		return errno;
	if (has_middle(l))
		snprintf(middle, sizeof(middle), HIDDEN "/%zu", i);
	if (make_lowers(o, spec, l, stage, top, middle) < 0)
		return errno;
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
	/* There may be hundreds of layers, and only 1024 descriptors. */
	ab_close_all(&o->lower, &o->copies, &o->below, &o->place, &o->upper);
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
	ab_autofree char *place = NULL;
	ab_autoclose int fd = -1;

	if (!l->bare) {
		o->lower = ab_tree_lookup(host, l->path);
		o->errnum = o->lower < 0 ? errno : 0;
		if (o->lower < 0 && !l->optional)
			return ab_fail(err, AB_ESYSTEM, errno, "open %s", l->path);
	}
	/* The other box may put something else in its place at any moment. */
	if (l->below && !o->errnum) {
		o->below = ab_tree_lookup(host, l->below);
		o->errnum = o->below < 0 && errno != ENOENT ? errno : 0;
		if (o->errnum && !l->optional)
			return ab_fail(err, AB_ESYSTEM, errno, "open %s", l->below);
	}
	if (!l->upper)
		return 0;
	if (!l->work)
		return find_copy(l, host, o, err);
	place = ab_strndup(l->upper, place_len(l));
	fd = ab_tree_lookup(host, place);
	if (fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", place);
	o->place = ab_tree_clone(fd, place, err);
	return o->place < 0 ? -1 : 0;
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
		ret->v[i] = (struct ab_overlay){
			.lower = -1, .copies = -1, .below = -1, .place = -1, .upper = -1, .tree = -1
		};
	for (size_t i = 0; i < n; i++)
		if (find_folders(&spec->layers.v[i], host, &ret->v[i], err) < 0)
			return -1;
	return 0;
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
		if (has_middle(&spec->layers.v[i]))
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
	/* The last one first: the home's layer follows its pieces, and waits for a box before that is ending
	 * and still has all of them. */
	for (size_t i = o->len; i-- > 0;) {
		struct ab_layer_mount *l = &spec->layers.v[i];

		l->errnum = o->v[i].errnum;
		/* A full copy is there. */
		if (!l->errnum && o->v[i].tree < 0)
			l->errnum = make_overlay(&o->v[i], spec, stage, i);
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
		ab_close_all(&o->v[i].lower, &o->v[i].copies, &o->v[i].below, &o->v[i].place,
			     &o->v[i].upper, &o->v[i].tree);
	if (o->len)
		ab_closep(&o->hidden);
	free(o->v);
	*o = (struct ab_overlays){ 0 };
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
			continue; /* it was not made */
		for (size_t k = 0; k < l->hidden.len; k++)
			if (dir < 0 || put_whiteout(hidden, dir, l->hidden.v[k]) < 0)
				return -1;
	}
	return 0;
}
