/* The size of a set. A box chose what is in it, so the walk goes by descriptors and has limits. */
#include <dirent.h>

#include "base/system/folder.h"
#include "layer/store/store.h"
#include "workspace/tree/dir.h"

enum {
	DEPTH_MAX = 200, /* open folders: well below the usual limit of 1024 descriptors */
	BLOCK = 512,	 /* of st_blocks */
};

struct walk {
	struct {
		DIR *list;
		bool closed; /* `mode` must be restored */
		mode_t mode;
	} open[DEPTH_MAX];
	size_t depth;
	bool may_open_closed;
	uint64_t most;
	struct ab_layer_size *size;
};

/* Open a folder that is closed to its owner, until the walk leaves it: its names cannot even be
 * looked up otherwise. By descriptor, so that a link cannot take its place. */
static int open_closed(int dir, const char *name, mode_t *ret_mode)
{
	ab_autoclose int path = ab_open_same_mount(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	struct stat st;

	if (path < 0 || fstat(path, &st) < 0 || ab_fd_chmod(path, (st.st_mode & 07777) | 0700) < 0)
		return -1;
	*ret_mode = st.st_mode & 07777;
	return ab_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

static bool is_closed(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & 0500) != 0500;
}

static void enter_folder(struct walk *w, int dir, const char *name)
{
	ab_autoclose int fd = -1;
	mode_t mode = 0;
	bool closed;
	DIR *list;

	if (w->depth == DEPTH_MAX) {
		w->size->cut = true;
		return;
	}
	fd = ab_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	closed = w->may_open_closed && ((fd < 0 && errno == EACCES) || (fd >= 0 && is_closed(fd)));
	if (closed) {
		ab_closep(&fd);
		fd = open_closed(dir, name, &mode);
	}
	list = fd < 0 ? NULL : fdopendir(fd);
	if (!list) {
		/* Another mount is not ours to count. */
		w->size->cut |= errno != EXDEV && errno != ENOENT;
		return;
	}
	ab_take_fd(&fd); /* now owned by the list */
	w->open[w->depth].list = list;
	w->open[w->depth].closed = closed;
	w->open[w->depth++].mode = mode;
}

static void leave_folder(struct walk *w)
{
	DIR *list = w->open[--w->depth].list;

	if (w->open[w->depth].closed)
		fchmod(dirfd(list), w->open[w->depth].mode);
	closedir(list);
}

/* KIND/work belongs to the kernel, which closes a folder in it. Without the lock there may be a
 * mount that uses it. */
static bool is_kernel_work(const struct walk *w, const char *name)
{
	return !w->may_open_closed && w->depth == 2 && strcmp(name, "work") == 0;
}

static void count_entry(struct walk *w, int dir, const char *name)
{
	struct stat st;

	if (w->size->entries == w->most) {
		w->size->cut = true;
		return;
	}
	w->size->entries++;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	/* All hard links of a file are in the set: a box has no other file system in common. */
	w->size->bytes += (uint64_t)st.st_blocks * BLOCK / (S_ISREG(st.st_mode) ? st.st_nlink : 1);
	if (S_ISDIR(st.st_mode) && !is_kernel_work(w, name))
		enter_folder(w, dir, name);
}

void ab_layer_size_of(int dir, bool may_open_closed, uint64_t most_entries,
		      struct ab_layer_size *ret)
{
	struct walk w = { .may_open_closed = may_open_closed, .most = most_entries, .size = ret };

	*ret = (struct ab_layer_size){ 0 };
	enter_folder(&w, dir, ".");
	while (w.depth > 0) {
		DIR *list = w.open[w.depth - 1].list;
		const char *name = ret->entries < most_entries ? ab_folder_next(list) : NULL;

		if (name) {
			count_entry(&w, dirfd(list), name);
		} else {
			ret->cut |= ret->entries >= most_entries;
			leave_folder(&w);
		}
	}
}

void ab_layer_set_size(const struct ab_layer_set *set, uint64_t most_entries,
		       struct ab_layer_size *ret)
{
	ab_layer_size_of(set->dir, set->lock >= 0, most_entries, ret);
}
