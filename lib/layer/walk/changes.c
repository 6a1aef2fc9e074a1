#include "layer/walk/changes.h"

#include <sys/xattr.h>

#include "layer/walk/index.h"
#include "layer/walk/look.h"
#include "layer/walk/points.h"
#include "layer/walk/same.h"
#include "workspace/tree/guard.h"

/*
 * How it works. The walk goes down both sides at once, with one descriptor for each
 * side and level, and reads the names of the upper. A name of the upper that the host
 * has is compared, one that it does not have is new. Where the upper contains
 * everything (`full`: a copy, an opaque folder), a name that only the host has is a
 * deletion; elsewhere a whiteout says so.
 *
 * A folder that is new has nothing on the host's side: `lower` is -1 below it.
 *
 * The contents of files that have the same size on both sides are compared at the end,
 * because two threads can do that. Equal ones leave the list then.
 */
struct walk {
	const struct ab_layer_view *view;
	struct ab_changes_limits limits;
	size_t seen;	    /* names so far */
	struct ab_buf path; /* of the current entry */
	unsigned int depth;
	bool full; /* the folder that the current entry is in */
	struct ab_changes *out;
	struct ab_pair *pairs; /* to be compared */
	size_t npairs;
	int errnum;	    /* the root of a side cannot be listed, so nothing is known; or 0 */
	const char *failed; /* which one */
};

/* One folder on both sides. */
struct level {
	int upper, lower; /* lower: -1 if the host has no such folder */
	bool full;
};

const struct ab_changes_limits ab_changes_limits_default = {
	.entries = 500000,
	.depth = 100,
	.path = 4000,
};

static const char too_deep[] = "it is nested too deeply";
static const char too_long[] = "its path is too long";
static const char unreadable[] = "it cannot be read";
static const char unreadable_host[] = "the host's folder cannot be read";
static const char mounted[] = "another file system is mounted there";
static const char moved[] = "it changed while it was read";
static const char redirected[] = "it is a folder that overlayfs redirects";
static const char around[] = "it contains files of the host that the box may not read";
static const char hollow[] = "it is a file whose data is not in the layer";

static struct ab_change *add_change(struct walk *w, enum ab_change_kind kind,
				    const struct ab_look *was, const struct ab_look *is)
{
	struct ab_changes *out = w->out;
	struct ab_change *c;

	c = ab_append(out->v, out->len);
	*c = (struct ab_change){ .path = ab_strndup(w->path.data, w->path.len),
				 .kind = kind,
				 .full = w->full };
	if (was) {
		c->was = was->type;
		c->old_size = was->type == AB_TYPE_DIR ? 0 : was->id.size;
		c->old_mode = was->id.mode & 07777;
		c->host = was->id;
	}
	if (is) {
		c->is = is->type;
		c->new_size = is->type == AB_TYPE_DIR ? 0 : is->id.size;
		c->new_mode = is->id.mode & 07777;
		c->layer = is->id;
	}
	return c;
}

/* Did the host only refresh the stat data of git's index? It says what it said when the run
 * began, or what the layer's says. */
static bool is_same_index(const struct walk *w)
{
	const struct ab_layer_view *view = w->view;
	char host[AB_INDEX_DIGEST], layer[AB_INDEX_DIGEST];

	if (!ab_index_repo(w->path.data) || ab_index_digest(view->lower, w->path.data, host) < 0)
		return false;
	if (strcmp(w->path.data, AB_INDEX_PATH) == 0 && strcmp(host, view->index) == 0)
		return true;
	return ab_index_digest(view->upper, w->path.data, layer) == 0 && strcmp(host, layer) == 0;
}

static bool is_withheld(const struct walk *w)
{
	return ab_strv_has_sorted(&w->view->withheld, w->path.data);
}

static bool has_withheld(const struct walk *w)
{
	const struct ab_strv *list = &w->view->withheld;

	for (size_t i = 0; i < list->len; i++)
		if (ab_changes_below(list->v[i], w->path.data))
			return true;
	return false;
}

/* Has the host changed it after the layer saw it? Copies are made in a run, so a copy
 * that is younger than the latest start was made from what that run saw. */
static bool is_conflict(const struct walk *w, const struct ab_look *was, const struct ab_look *is)
{
	const struct ab_layer_view *view = w->view;
	struct timespec from = view->since;
	bool born = is && is->born.tv_sec;

	if (born && view->latest.tv_sec && !ab_time_later(view->latest, is->born))
		from = view->latest;
	if (!ab_time_later(was->id.ctime, from) &&
	    !(born && ab_time_later(was->id.ctime, is->born)))
		return false;
	return !ab_known_is(&view->known, w->path.data, &was->id) && !is_same_index(w);
}

/* ---- deleted folders ---- */

struct count {
	uint64_t entries, files;
	bool conflict;
	const char *refused;
};

static size_t push_name(struct walk *w, const char *name)
{
	size_t before = w->path.len;

	if (before)
		ab_buf_add(&w->path, "/", 1);
	ab_buf_puts(&w->path, name);
	return before;
}

static void pop_name(struct walk *w, size_t before)
{
	w->path.len = before;
	if (w->path.data)
		w->path.data[before] = '\0';
}

static bool spend_entry(struct walk *w)
{
	if (w->seen++ < w->limits.entries)
		return true;
	w->out->cut = true;
	return false;
}

static void count_folder(struct walk *w, int parent, const char *name,
			 const struct ab_look *deleted, struct count *count);

static void count_entry(struct walk *w, int dir, const char *name, const struct ab_look *deleted,
			struct count *count)
{
	struct ab_look node;

	if (!spend_entry(w))
		return;
	count->entries++;
	if (ab_look_at(dir, name, &node) < 0) {
		if (errno != ENOENT)
			count->refused = unreadable_host;
		return;
	}
	count->files += node.type != AB_TYPE_DIR;
	if (node.mount)
		count->refused = mounted;
	else if (node.type == AB_TYPE_DIR)
		count_folder(w, dir, name, deleted, count);
	else if (!count->conflict)
		count->conflict = is_conflict(w, &node, deleted);
}

/* Count what is in a folder of the host that the layer deletes, and find what the host
 * changed in it. The times of folders say nothing: an added file has its own. */
static void count_folder(struct walk *w, int parent, const char *name,
			 const struct ab_look *deleted, struct count *count)
{
	ab_autolisting struct ab_listing names = { 0 };
	ab_autoclose int dir = ab_open_same_mount(parent, name, O_RDONLY | O_DIRECTORY);

	if (dir < 0 || w->depth >= w->limits.depth || w->path.len > w->limits.path) {
		count->refused = dir >= 0 ? too_deep : errno == EXDEV ? mounted : unreadable_host;
		return;
	}
	if (ab_listing_read(&names, dir, w->limits.entries) < 0) {
		count->refused = unreadable_host;
		return;
	}
	w->depth++;
	for (size_t i = 0; i < names.len && !w->out->cut; i++) {
		size_t before = push_name(w, names.v[i].name);

		count_entry(w, dir, names.v[i].name, deleted, count);
		pop_name(w, before);
	}
	w->depth--;
	w->out->cut |= names.cut;
}

/* `was` goes away as a whole. `is`: what replaces it, a whiteout, or NULL. */
static void judge_removal(struct walk *w, struct ab_change *c, int lower, const char *name,
			  const struct ab_look *was, const struct ab_look *is)
{
	struct count count = { 0 };
	size_t at = (size_t)(c - w->out->v);

	if (was->type == AB_TYPE_DIR)
		count_folder(w, lower, name, is, &count);
	else
		count.conflict = is_conflict(w, was, is);
	c = &w->out->v[at];
	c->count = count.entries;
	c->files = count.files;
	c->conflict |= count.conflict;
	if (!c->refused)
		c->refused = was->mount ? mounted : has_withheld(w) ? around : count.refused;
}

static void add_deletion(struct walk *w, const struct level *l, const char *name,
			 const struct ab_look *was, const struct ab_look *whiteout)
{
	struct ab_change *c = add_change(w, AB_CHANGE_DELETED, was, NULL);

	if (whiteout)
		c->layer = whiteout->id;
	judge_removal(w, c, l->lower, name, was, whiteout);
}

/* ---- entries of the upper ---- */

/* The length of an attribute of a layer's file; -1: it has none; -2: it cannot be read. */
static ssize_t read_mark(int fd, const char *name, char *value, size_t room)
{
	ssize_t n = fgetxattr(fd, name, value, room);

	if (n >= 0)
		return n;
	return errno == ENODATA || errno == EOPNOTSUPP ? -1 : -2;
}

static const char *refuse_file(int dir, const char *name, const struct ab_look *is)
{
	if (!(is->id.mode & 0400) && faccessat(dir, name, R_OK, AT_EACCESS) < 0)
		return unreadable;
	/* metacopy: the data is still in the file below. Such a file has no blocks. */
	if (is->blocks == 0 && is->id.size > 0) {
		ab_autoclose int fd = ab_look_open_file(dir, name);
		ssize_t mark;

		if (fd < 0)
			return unreadable;
		mark = read_mark(fd, "user.overlay.metacopy", NULL, 0);
		if (mark != -1)
			return mark < 0 ? unreadable : hollow;
	}
	return NULL;
}

/* Why can this node never be applied? */
static const char *refuse_node(int dir, const char *name, const struct ab_look *is)
{
	if (is->mount)
		return mounted;
	switch (is->id.mode & S_IFMT) {
	case S_IFREG:
		return refuse_file(dir, name, is);
	case S_IFDIR:
	case S_IFLNK:
		return NULL;
	case S_IFIFO:
		return "it is a FIFO";
	case S_IFSOCK:
		return "it is a socket";
	default:
		return "it is a device";
	}
}

/* What overlayfs says about a folder of the upper. Returns why it cannot be applied, or NULL. */
static const char *read_marks(int upper, bool *ret_opaque)
{
	char value[8];
	ssize_t n = read_mark(upper, "user.overlay.redirect", NULL, 0);

	if (n != -1)
		return n < 0 ? unreadable : redirected;
	n = read_mark(upper, "user.overlay.opaque", NULL, 0);
	if (n == 1)
		n = read_mark(upper, "user.overlay.opaque", value, sizeof(value));
	*ret_opaque = n == 1 && value[0] == 'y';
	return n == -2 ? unreadable : NULL;
}

static void walk_folder(struct walk *w, const struct level *l);

/* Go into a folder of the upper. Returns why it cannot be applied, or NULL. */
static const char *enter_folder(struct walk *w, const struct level *l, const char *name,
				const struct ab_look *is, bool on_host, bool *ret_opaque)
{
	ab_autoclose int upper = -1, lower = -1;
	struct level below = { .full = l->full };
	const char *why;
	struct stat st;

	*ret_opaque = false;
	if (w->depth >= w->limits.depth)
		return too_deep;
	if (w->path.len > w->limits.path)
		return too_long;
	upper = ab_open_same_mount(l->upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (upper < 0)
		return errno == EXDEV ? mounted : unreadable;
	if (fstat(upper, &st) < 0)
		return unreadable;
	if (st.st_ino != is->id.ino || st.st_dev != is->id.dev)
		return moved;
	why = w->view->copy ? NULL : read_marks(upper, ret_opaque);
	if (why)
		return why;
	if (on_host) {
		lower = ab_open_same_mount(l->lower, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
		if (lower < 0)
			return errno == EXDEV ? mounted : unreadable_host;
	}
	below.upper = upper;
	below.lower = lower;
	below.full |= *ret_opaque;
	w->depth++;
	walk_folder(w, &below);
	w->depth--;
	return NULL;
}

/* The folder of change `at`. That it cannot be listed was noted there already. */
static void enter_or_refuse(struct walk *w, const struct level *l, const char *name,
			    const struct ab_look *is, size_t at, bool *ret_opaque)
{
	const char *why = enter_folder(w, l, name, is, false, ret_opaque);

	if (why)
		w->out->v[at].refused = why;
}

static void add_new_entry(struct walk *w, const struct level *l, const char *name,
			  const struct ab_look *is)
{
	size_t at = w->out->len;
	bool opaque;

	add_change(w, AB_CHANGE_ADDED, NULL, is);
	w->out->v[at].refused = refuse_node(l->upper, name, is);
	if (is->type == AB_TYPE_DIR && !w->out->v[at].refused)
		enter_or_refuse(w, l, name, is, at, &opaque);
}

static void compare_folders(struct walk *w, const struct level *l, const char *name,
			    const struct ab_look *was, const struct ab_look *is)
{
	size_t at = w->out->len;
	bool opaque, mode = ((was->id.mode ^ is->id.mode) & 07777) &&
			    !ab_points_has(&w->view->points, w->path.data, is->id.mode);
	struct ab_change *c;
	const char *why;

	if (mode) {
		c = add_change(w, AB_CHANGE_MODE, was, is);
		c->conflict = is_conflict(w, was, is);
	}
	why = was->mount ? mounted : enter_folder(w, l, name, is, true, &opaque);
	if (!why)
		return;
	w->full = l->full;
	if (!mode)
		add_change(w, AB_CHANGE_MODE, was, is);
	w->out->v[at].refused = why;
}

static void replace_type(struct walk *w, const struct level *l, const char *name,
			 const struct ab_look *was, const struct ab_look *is)
{
	size_t at = w->out->len;
	struct ab_change *c = add_change(w, AB_CHANGE_REPLACED, was, is);
	bool opaque = true;

	c->refused = refuse_node(l->upper, name, is);
	judge_removal(w, c, l->lower, name, was, is);
	if (is->type != AB_TYPE_DIR || w->out->v[at].refused)
		return;
	enter_or_refuse(w, l, name, is, at, &opaque);
	/* A folder that the box puts in place of something else is opaque. This one was
	 * made where the host had a folder, or nothing. */
	if (!opaque && !w->view->copy)
		w->out->v[at].conflict = true;
}

static void compare_entries(struct walk *w, const struct level *l, const char *name,
			    const struct ab_look *was, const struct ab_look *is)
{
	const char *refused = refuse_node(l->upper, name, is);
	struct ab_change *c;

	if (!refused && was->mount)
		refused = mounted;
	if (!refused && is->type == AB_TYPE_LINK) {
		int same = ab_same_links(l->upper, l->lower, name);

		if (same > 0)
			return;
		refused = same < 0 ? unreadable : NULL;
	}
	c = add_change(w, AB_CHANGE_MODIFIED, was, is);
	c->refused = refused;
	c->conflict = is_conflict(w, was, is);
	/* Their contents are compared later. */
	if (!refused && is->type == AB_TYPE_FILE && is->id.size == was->id.size)
		*ab_append(w->pairs, w->npairs) = (struct ab_pair){ .change = w->out->len - 1 };
}

/* False: the two files are equal. */
static bool settle_pair(struct ab_change *c, const struct ab_pair *pair)
{
	if (pair->same < 0)
		c->refused = pair->errnum == ESTALE ? moved : unreadable;
	else if (pair->same && c->old_mode != c->new_mode)
		c->kind = AB_CHANGE_MODE;
	else if (pair->same)
		return false;
	return true;
}

static void compare_pairs(struct walk *w)
{
	struct ab_changes *out = w->out;
	size_t kept = 0, next = 0;

	ab_same_files(w->view, out->v, w->pairs, w->npairs);
	for (size_t i = 0; i < out->len; i++) {
		bool paired = next < w->npairs && w->pairs[next].change == i;

		if (paired && !settle_pair(&out->v[i], &w->pairs[next]))
			free(out->v[i].path);
		else
			out->v[kept++] = out->v[i];
		next += paired;
	}
	out->len = kept;
	free(w->pairs);
}

/* ENOENT: the host has no such name. */
static int look_below(const struct level *l, const char *name, struct ab_look *ret)
{
	if (l->lower < 0)
		return ab_errno(ENOENT);
	return ab_look_at(l->lower, name, ret);
}

static void walk_entry(struct walk *w, const struct level *l, const char *name)
{
	struct ab_look was, is;
	bool on_host = look_below(l, name, &was) == 0;
	bool hidden = !on_host && errno != ENOENT;

	if (is_withheld(w))
		return;
	if (ab_look_at(l->upper, name, &is) < 0) {
		const char *why = errno == ENOENT ? moved : unreadable;

		is = (struct ab_look){ .type = AB_TYPE_OTHER };
		add_change(w, AB_CHANGE_ADDED, NULL, &is)->refused = why;
		return;
	}
	if (is.type == AB_TYPE_DIR &&
	    ab_points_untouched(&w->view->points, w->path.data, l->upper, name, is.id.mode))
		return;
	if (hidden) {
		add_change(w, AB_CHANGE_ADDED, NULL, &is)->refused = unreadable_host;
		return;
	}
	if (S_ISCHR(is.id.mode) && is.device == 0 && !w->view->copy) {
		if (on_host)
			add_deletion(w, l, name, &was, &is);
		return;
	}
	if (!on_host)
		add_new_entry(w, l, name, &is);
	else if (was.type != is.type)
		replace_type(w, l, name, &was, &is);
	else if (is.type == AB_TYPE_DIR)
		compare_folders(w, l, name, &was, &is);
	else
		compare_entries(w, l, name, &was, &is);
}

static void walk_missing(struct walk *w, const struct level *l, const char *name)
{
	struct ab_look was;

	if (is_withheld(w))
		return;
	if (look_below(l, name, &was) < 0) {
		if (errno == ENOENT)
			return;
		was = (struct ab_look){ .type = AB_TYPE_OTHER };
		add_change(w, AB_CHANGE_DELETED, &was, NULL)->refused = unreadable_host;
		return;
	}
	/* A copy never had sockets, devices and FIFOs. */
	if (!(w->view->copy && was.type == AB_TYPE_OTHER))
		add_deletion(w, l, name, &was, NULL);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ab_entry *)a)->name, ((const struct ab_entry *)b)->name);
}

static int list_sorted(struct walk *w, int dir, struct ab_listing *ret)
{
	if (ab_listing_read(ret, dir, w->limits.entries) < 0)
		return -1;
	w->out->cut |= ret->cut;
	if (ret->len)
		qsort(ret->v, ret->len, sizeof(ret->v[0]), by_name);
	return 0;
}

/* A folder that cannot be listed after all: refuse it under its own name. */
static void refuse_folder(struct walk *w, const char *why)
{
	static const struct ab_look folder = { .type = AB_TYPE_DIR };
	struct ab_change *last = w->out->len ? &w->out->v[w->out->len - 1] : NULL;

	if (!w->path.len) {
		w->errnum = errno;
		w->failed = why == unreadable ? "the layer" : "the folder below the layer";
		return;
	}
	if (!last || strcmp(last->path, w->path.data) != 0)
		last = add_change(w, AB_CHANGE_MODE, &folder, &folder);
	last->refused = why;
}

static int list_lower(struct walk *w, const struct level *l, struct ab_listing *ret)
{
	ab_autoclose int dir = -1;

	if (l->lower < 0 || !l->full)
		return 0;
	dir = ab_open_same_mount(l->lower, ".", O_RDONLY | O_DIRECTORY);
	return dir < 0 ? -1 : list_sorted(w, dir, ret);
}

/* Both lists are sorted: the names of the upper, and where it contains everything those
 * of the host. */
static void walk_folder(struct walk *w, const struct level *l)
{
	ab_autolisting struct ab_listing upper = { 0 }, lower = { 0 };
	size_t u = 0, h = 0;

	if (list_sorted(w, l->upper, &upper) < 0) {
		refuse_folder(w, unreadable);
		return;
	}
	if (list_lower(w, l, &lower) < 0) {
		refuse_folder(w, unreadable_host);
		return;
	}
	while ((u < upper.len || h < lower.len) && !w->out->cut) {
		int order = u == upper.len   ? 1
			    : h == lower.len ? -1
					     : strcmp(upper.v[u].name, lower.v[h].name);
		const char *name = order <= 0 ? upper.v[u].name : lower.v[h].name;
		size_t before = push_name(w, name);

		w->full = l->full;
		if (!spend_entry(w))
			;
		else if (order <= 0)
			walk_entry(w, l, name);
		else
			walk_missing(w, l, name);
		pop_name(w, before);
		u += order <= 0;
		h += order >= 0;
	}
}

/* Half a commit is worse than none. */
static void hold_change(struct ab_change *c)
{
	if (!c->conflict)
		c->conflict = c->held = true;
}

/* The changes of a repository are beside that of its index. */
static void hold_repo(struct ab_changes *out, size_t index, const char *repo)
{
	for (size_t i = index; i-- > 0 && ab_changes_below(out->v[i].path, repo);)
		hold_change(&out->v[i]);
	for (size_t i = index; i < out->len && ab_changes_below(out->v[i].path, repo); i++)
		hold_change(&out->v[i]);
}

static void hold_repos(struct ab_changes *out)
{
	for (size_t i = 0; i < out->len; i++) {
		size_t len = out->v[i].conflict ? ab_index_repo(out->v[i].path) : 0;
		ab_autofree char *repo = len ? ab_strndup(out->v[i].path, len) : NULL;

		if (repo)
			hold_repo(out, i, repo);
	}
}

int ab_changes_collect(const struct ab_layer_view *view, const struct ab_changes_limits *limits,
		       struct ab_changes *ret, struct ab_error *err)
{
	struct ab_changes out = { 0 };
	struct walk w = { .view = view,
			  .limits = limits ? *limits : ab_changes_limits_default,
			  .out = &out };
	/* Listings have a position, and the caller's descriptors may be in use. */
	ab_autoclose int upper = ab_open_same_mount(view->upper, ".", O_RDONLY | O_DIRECTORY);
	ab_autoclose int lower = ab_open_same_mount(view->lower, ".", O_RDONLY | O_DIRECTORY);

	if (upper < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot read the layer");
	if (lower < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot read the folder below the layer");
	walk_folder(&w, &(struct level){ upper, lower, view->copy });
	ab_buf_fini(&w.path);
	compare_pairs(&w);
	if (w.errnum) {
		ab_changes_fini(&out);
		return ab_fail(err, AB_ESYSTEM, w.errnum, "cannot list %s", w.failed);
	}
	hold_repos(&out);
	*ret = out;
	return 0;
}

/* ---- the list ---- */

void ab_changes_fini(struct ab_changes *changes)
{
	ab_free_rows(changes->v, changes->len, path);
	*changes = (struct ab_changes){ 0 };
}

bool ab_changes_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	return strncmp(path, top, len) == 0 && path[len] == '/';
}

size_t ab_changes_from(const struct ab_changes *changes, const char *path)
{
	size_t from = 0, to = changes->len;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (ab_path_order(changes->v[middle].path, path) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

size_t ab_changes_end(const struct ab_changes *changes, size_t i)
{
	const char *top = changes->v[i].path;

	do
		i++;
	while (i < changes->len && ab_changes_below(changes->v[i].path, top));
	return i;
}

struct ab_change *ab_changes_find(const struct ab_changes *changes, const char *path)
{
	size_t i = ab_changes_from(changes, path);

	return i < changes->len && strcmp(changes->v[i].path, path) == 0 ? &changes->v[i] : NULL;
}
