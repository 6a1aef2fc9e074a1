#include "workspace/tree/tree_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "base/system/folder.h"
#include "base/system/path.h"
#include "workspace/tree/dir.h"

/* Large, created by tools, and not where people keep repositories. */
static const char *const generated[] = { "node_modules", ".venv", "target", ".cache", ".git" };

static bool is_wanted(const struct ab_walk *w, const char *name)
{
	for (size_t i = 0; i < AB_COUNT(generated) && !w->everything; i++)
		if (strcmp(generated[i], name) == 0)
			return false;
	return true;
}

static bool is_folder(int fd, const struct ab_entry *e)
{
	return e->type == DT_UNKNOWN ? ab_folder_is(fd, e->name) : e->type == DT_DIR;
}

struct queue {
	struct ab_strv paths;
	size_t done;
	size_t level_end; /* where the next depth starts */
	unsigned depth;
};

static void enqueue_folders(struct ab_walk *w, struct queue *q, int fd, const char *path,
			    const struct ab_listing *l)
{
	for (size_t i = 0; i < l->len && q->depth < w->depth; i++) {
		if (!is_folder(fd, &l->v[i]) || !is_wanted(w, l->v[i].name))
			continue;
		if (q->paths.len - q->done > w->dirs) {
			w->cut = true;
			return;
		}
		ab_strv_give(&q->paths, ab_path_join(path, l->v[i].name));
	}
}

static int visit_folder(struct ab_walk *w, struct queue *q, int root, dev_t *dev, const char *path,
			size_t skip, ab_walk_fn *fn, void *arg)
{
	ab_autolisting struct ab_listing l = { 0 };
	const char *below = path[skip] ? path + skip : ".";
	ab_autoclose int fd = ab_open_beneath(root, below, O_RDONLY | O_DIRECTORY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (q->depth == 0)
		*dev = st.st_dev;
	if (st.st_dev != *dev) {
		w->foreign = true;
		return 0;
	}
	if (ab_listing_read(&l, fd, w->entries) < 0)
		return -1;
	w->entries -= l.len;
	w->cut |= l.cut;
	if (fn(arg, fd, path, q->depth, &l))
		enqueue_folders(w, q, fd, path, &l);
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

int ab_walk(struct ab_walk *w, const char *root, ab_walk_fn *fn, void *arg)
{
	ab_autoclose int top = ab_open_beneath(AT_FDCWD, root, O_PATH | O_DIRECTORY);
	size_t skip = strcmp(root, "/") == 0 ? 1 : strlen(root) + 1;
	struct queue q = { .level_end = 1 };
	int rc = 0, saved = 0;
	dev_t dev = 0;

	if (top < 0)
		return -1;
	ab_strv_add(&q.paths, root);
	for (; q.done < q.paths.len && rc == 0; q.done++) {
		const char *path = q.paths.v[q.done];

		if (q.done == q.level_end) {
			q.depth++;
			q.level_end = q.paths.len;
		}
		if (w->dirs == 0 || w->entries == 0) {
			w->cut = true;
			break;
		}
		w->dirs--;
		if (visit_folder(w, &q, top, &dev, path, q.depth ? skip : strlen(path), fn, arg) ==
		    0)
			continue;
		if (q.depth == 0) {
			saved = errno;
			rc = -1;
			break;
		}
		w->cut |= is_relevant(top, path + skip, errno);
	}
	ab_strv_fini(&q.paths);
	errno = saved;
	return rc;
}
