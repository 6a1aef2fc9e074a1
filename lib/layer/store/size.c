/* The size of a set. A box chose what is in it, so the walk goes by descriptors and has limits. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system/fd.h"
#include "base/system/folder.h"
#include "layer/store/store.h"
#include "workspace/tree/dir.h"

enum {
	DEPTH_MAX = 200, /* open folders: well below the usual limit of 1024 descriptors */
	BLOCK = 512,	 /* of st_blocks */
};

struct walk {
	DIR *open[DEPTH_MAX];
	size_t depth;
	bool may_open_closed;
	uint64_t most;
	struct ab_layer_size *size;
};

/* A folder that is closed to its owner: open it, and restore its mode. By descriptor, so that a
 * link cannot take its place. */
static int open_closed(int dir, const char *name)
{
	ab_autoclose int path = ab_open_same_mount(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
	char link[32];
	struct stat st;
	int fd;

	if (path < 0 || fstat(path, &st) < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path);
	if (chmod(link, (st.st_mode & 07777) | 0700) < 0)
		return -1;
	fd = ab_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	chmod(link, st.st_mode & 07777);
	return fd;
}

static void enter_folder(struct walk *w, int dir, const char *name)
{
	ab_autoclose int fd = -1;
	DIR *list;

	if (w->depth == DEPTH_MAX) {
		w->size->cut = true;
		return;
	}
	fd = ab_open_same_mount(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0 && errno == EACCES && w->may_open_closed)
		fd = open_closed(dir, name);
	list = fd < 0 ? NULL : fdopendir(fd);
	if (!list) {
		/* Another mount is not ours to count. */
		w->size->cut |= errno != EXDEV && errno != ENOENT;
		return;
	}
	ab_take_fd(&fd); /* now owned by the list */
	w->open[w->depth++] = list;
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

void ab_layer_set_size(const struct ab_layer_set *set, uint64_t most_entries,
		       struct ab_layer_size *ret)
{
	struct walk w = { .may_open_closed = set->lock >= 0, .most = most_entries, .size = ret };

	*ret = (struct ab_layer_size){ 0 };
	enter_folder(&w, set->dir, ".");
	while (w.depth > 0) {
		DIR *list = w.open[w.depth - 1];
		const char *name = ret->entries < most_entries ? ab_folder_next(list) : NULL;

		if (name) {
			count_entry(&w, dirfd(list), name);
		} else {
			ret->cut |= ret->entries >= most_entries;
			closedir(list);
			w.depth--;
		}
	}
}
