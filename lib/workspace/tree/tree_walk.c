#include "workspace/tree/tree_walk.h"

#include <dirent.h>
#include <linux/magic.h>

#include "base/system/folder.h"
#include "workspace/tree/dir.h"

/* Large, created by tools, and not where people keep repositories. */
static const char *const generated[] = { "node_modules", ".venv", "target", ".cache" };

/* The kernel's own file systems hold no files of anybody. */
static const unsigned long kernels_own[] = {
	PROC_SUPER_MAGIC, SYSFS_MAGIC,	      CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
	DEBUGFS_MAGIC,	  TRACEFS_MAGIC,      SECURITYFS_MAGIC,	  BPF_FS_MAGIC,
	EFIVARFS_MAGIC,	  DEVPTS_SUPER_MAGIC, SELINUX_MAGIC,	  AUTOFS_SUPER_MAGIC,
};

/* They count the folders in a folder by its links: two, and one more for each. */
static const unsigned long counting[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, TMPFS_MAGIC };

/* Long enough for a path that is shown, and for a name that is looked up in it. */
enum { PATH_LONGEST = PATH_MAX - 2 * (NAME_MAX + 1) };

struct queue {
	/* Folders to enter now, and those of the other kind: generated ones come last. */
	struct ab_strv paths, others;
	struct ab_listing listing;
	size_t done;
	size_t level_end; /* where the next depth starts */
	unsigned depth;
	bool in_late;	/* `paths` are generated */
	bool generated; /* so is the folder that is visited, or it is in one */
};

struct place {
	int root;
	size_t skip; /* length of the root's path, with its slash */
	dev_t dev;
	bool counts; /* links of folders on this device */
	ab_walk_fn *fn;
	void *arg;
};

bool ab_walk_is_generated(const char *name)
{
	return ab_has_word(generated, AB_COUNT(generated), name);
}

static bool is_folder(int fd, const struct ab_entry *e)
{
	return e->type == DT_UNKNOWN ? ab_folder_is(fd, e->name) : e->type == DT_DIR;
}

/* Is one of the names in the path generated? */
static bool has_generated(const char *below)
{
	for (size_t n; *below; below += n + (below[n] == '/')) {
		n = strcspn(below, "/");
		for (size_t i = 0; i < AB_COUNT(generated); i++)
			if (strncmp(below, generated[i], n) == 0 && !generated[i][n])
				return true;
	}
	return false;
}

/* The list that the folder belongs to; NULL: leave it out. */
static struct ab_strv *choose_list(const struct ab_walk *w, struct queue *q, const char *name,
				   bool older)
{
	bool made = q->generated || ab_walk_is_generated(name);

	if (w->everything)
		return &q->paths;
	if (strcmp(name, ".git") == 0 || (made && !w->thorough))
		return NULL;
	return (made && older) == q->in_late ? &q->paths : &q->others;
}

static void miss_folder(const struct ab_walk *w, const struct queue *q, const struct place *at,
			const char *path)
{
	if (w->missed)
		w->missed(at->arg, path, q->in_late);
}

static void enqueue_folders(struct ab_walk *w, struct queue *q, const struct place *at, int fd,
			    const char *path)
{
	const struct ab_listing *l = &q->listing;
	size_t len = strlen(path);

	for (size_t i = 0; i < l->len && q->depth < w->depth; i++) {
		struct ab_strv *list;
		bool older = !w->since || w->since->tv_sec;
		struct stat st;

		if ((w->skip && strcmp(l->v[i].name, w->skip) == 0) || !is_folder(fd, &l->v[i]))
			continue;
		if (w->since && older && fstatat(fd, l->v[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
			older = ab_time_later(*w->since, st.st_ctim);
			if (older && !w->leaves && at->counts && st.st_dev == at->dev &&
			    st.st_nlink == 2)
				continue;
		}
		list = choose_list(w, q, l->v[i].name, older);
		if (!list)
			continue;
		if (q->paths.len - q->done > w->dirs) {
			w->cut = true;
			miss_folder(w, q, at, path);
			return;
		}
		if (w->unreadable && len > PATH_LONGEST) {
			w->unreadable(at->arg, path);
			return;
		}
		ab_strv_give(list, ab_path_join(path, l->v[i].name));
	}
}

/* Open a folder for reading. *ret_foreign: it is on a file system that is skipped. */
static int open_folder(const struct ab_walk *w, const struct queue *q, struct place *at,
		       const char *below, bool *ret_foreign)
{
	int fd;
	struct stat st;

	*ret_foreign = false;
	if (w->thorough) {
		fd = ab_open_same_mount(at->root, below, O_RDONLY | O_DIRECTORY);
		if (fd >= 0 || errno != EXDEV)
			return fd;
		fd = ab_open_beneath(at->root, below, O_RDONLY | O_DIRECTORY);
		*ret_foreign = fd >= 0 && ab_is_on(fd, kernels_own, AB_COUNT(kernels_own));
		return fd;
	}
	fd = ab_open_beneath(at->root, below, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd;
	if (q->depth == 0)
		at->dev = st.st_dev;
	*ret_foreign = st.st_dev != at->dev;
	return fd;
}

static int visit_folder(struct ab_walk *w, struct queue *q, struct place *at, const char *path)
{
	const char *below = path[at->skip - 1] && path[at->skip] ? path + at->skip : ".";
	bool foreign;
	ab_autoclose int fd = open_folder(w, q, at, below, &foreign);

	if (fd < 0)
		return -1;
	if (foreign) {
		/* Nothing is missed in a file system without files. */
		w->foreign |= !w->thorough;
		return 0;
	}
	if (ab_listing_read(&q->listing, fd, w->entries) < 0)
		return -1;
	w->entries -= q->listing.len;
	w->cut |= q->listing.cut;
	if (q->listing.cut)
		miss_folder(w, q, at, path);
	w->skip = NULL;
	q->generated = w->thorough && !w->everything && has_generated(below);
	if (at->fn(at->arg, fd, path, q->depth, &q->listing))
		enqueue_folders(w, q, at, fd, path);
	return 0;
}

/* A folder could not be read. Does that matter? Not if it no longer exists, or if it
 * belongs to another user, because then the box cannot read it either. But the
 * box could change the mode of our own folder. */
static bool is_relevant(int root, const char *below, int errnum)
{
	struct stat st;

	if (errnum == ENOENT || errnum == ENOTDIR)
		return false;
	return errnum != EACCES || fstatat(root, below, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	       st.st_uid == geteuid();
}

static void pass_unread(struct ab_walk *w, const struct queue *q, const struct place *at,
			const char *path, int errnum)
{
	if (!is_relevant(at->root, path + at->skip, errnum))
		return;
	if (w->unreadable && errnum == EACCES) {
		w->unreadable(at->arg, path);
		return;
	}
	w->cut = true;
	miss_folder(w, q, at, path);
}

/* -1 with errno if the first folder cannot be read. */
static int walk_queue(struct ab_walk *w, struct queue *q, struct place *at)
{
	for (; q->done < q->paths.len; q->done++) {
		ab_autofree char *path = NULL;

		if (q->done == q->level_end) {
			q->depth++;
			q->level_end = q->paths.len;
		}
		if (w->dirs == 0 || w->entries == 0) {
			w->cut = true;
			return 0;
		}
		w->dirs--;
		path = q->paths.v[q->done];
		q->paths.v[q->done] = NULL;
		if (visit_folder(w, q, at, path) == 0)
			continue;
		if (q->depth == 0)
			return -1;
		pass_unread(w, q, at, path, errno);
	}
	return 0;
}

/* How many folders of the queue were not entered. */
static size_t count_left(const struct ab_walk *w, const struct queue *q, const struct place *at)
{
	for (size_t i = q->done; i < q->paths.len; i++)
		miss_folder(w, q, at, q->paths.v[i]);
	return q->paths.len - q->done;
}

/* The folders of generated files, with their own budget. */
static void walk_late(struct ab_walk *w, struct queue *q, struct place *at)
{
	size_t entries = w->entries, dirs = w->dirs;
	bool cut = w->cut;

	w->entries = w->late;
	w->cut = false;
	walk_queue(w, q, at);
	w->late_left += count_left(w, q, at) + (w->cut && q->done == q->paths.len);
	w->late = w->entries;
	w->entries = entries;
	w->dirs = dirs;
	w->cut = cut;
}

/* The folders of the other kind are next. False: there are none. */
static bool change_kind(struct queue *q)
{
	ab_strv_fini(&q->paths);
	q->paths = q->others;
	q->others = (struct ab_strv){ 0 };
	q->done = 0;
	q->level_end = q->paths.len;
	q->depth = 1;
	q->in_late = !q->in_late;
	return q->paths.len > 0;
}

int ab_walk(struct ab_walk *w, const char *root, ab_walk_fn *fn, void *arg)
{
	ab_autoclose int top = ab_open_beneath(AT_FDCWD, root, O_PATH | O_DIRECTORY);
	struct queue q = { .level_end = 1 };
	struct place at = { .root = top, .fn = fn, .arg = arg };
	struct stat st;
	int rc, saved;

	if (top < 0)
		return -1;
	if (w->since && fstat(top, &st) == 0) {
		at.dev = st.st_dev;
		at.counts = ab_is_on(top, counting, AB_COUNT(counting));
	}
	at.skip = strcmp(root, "/") == 0 ? 1 : strlen(root) + 1;
	ab_strv_add(&q.paths, root);
	rc = walk_queue(w, &q, &at);
	saved = errno;
	if (rc == 0)
		w->left += count_left(w, &q, &at);
	while (rc == 0 && change_kind(&q)) {
		if (q.in_late) {
			walk_late(w, &q, &at);
		} else {
			walk_queue(w, &q, &at);
			w->left += count_left(w, &q, &at);
		}
	}
	ab_strv_fini_all(&q.paths, &q.others);
	ab_listing_fini(&q.listing);
	errno = saved;
	return rc;
}
