#include "workspace/tree/remove_tree.h"

#include "base/system/folder.h"
#include "workspace/tree/dir.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* By descriptor, so that a link cannot take its place. chmod works only for our own folders. */
static int open_up(int dir, const char *name)
{
	ab_autoclose int fd = ab_open_same_mount(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);

	return fd < 0 ? -1 : ab_fd_chmod(fd, 0700);
}

int ab_open_closed(int dir, const char *name)
{
	int fd = ab_open_same_mount(dir, name, OPEN_DIR);

	if (fd < 0 && errno == EACCES && open_up(dir, name) == 0)
		fd = ab_open_same_mount(dir, name, OPEN_DIR);
	return fd;
}

struct removal {
	int top;
	unsigned number; /* of the next folder that is moved */
	size_t budget;
};

static bool spend_step(struct removal *r)
{
	if (r->budget == 0)
		return false;
	r->budget--;
	return true;
}

/* A box may nest folders deeper than there are descriptors. So do not descend: move a folder inside
 * a folder up to the top, and scan the top until it is empty. */
static void move_up(struct removal *r, int from, const char *name)
{
	char to[32];

	/* A folder must be writable itself to be moved. */
	open_up(from, name);
	for (int i = 0; i < 64; i++) {
		snprintf(to, sizeof(to), ".up-%u", r->number++);
		if (renameat(from, name, r->top, to) == 0 || errno == ENOENT)
			return;
	}
}

/* Remove files, move folders to the top. */
static void flatten_folder(struct removal *r, const char *name)
{
	ab_autoclose int dir = ab_open_closed(r->top, name);
	ab_autodir DIR *list = NULL;
	const char *file;

	if (dir < 0)
		return;
	fchmod(dir, 0700);
	list = ab_folder_list(dir, ".");
	while ((file = ab_folder_next(list)) != NULL && spend_step(r))
		if (unlinkat(dir, file, 0) < 0 && (errno == EISDIR || errno == EPERM))
			move_up(r, dir, file);
}

/* The number of entries of the top that were removed. */
static size_t empty_top(struct removal *r)
{
	ab_autodir DIR *list = ab_folder_list(r->top, ".");
	const char *name;
	size_t n = 0;

	while ((name = ab_folder_next(list)) != NULL && spend_step(r)) {
		if (unlinkat(r->top, name, 0) == 0) {
			n++;
		} else if (ab_folder_is(r->top, name)) {
			flatten_folder(r, name);
			n += unlinkat(r->top, name, AT_REMOVEDIR) == 0;
		}
	}
	return n;
}

int ab_remove_tree_some(int dir, const char *name, size_t *budget)
{
	ab_autoclose int top = ab_open_closed(dir, name);
	struct removal r = { .top = top, .budget = *budget };

	if (top < 0)
		return errno == ENOENT ? 0 : -1;
	fchmod(top, 0700);
	while (empty_top(&r) > 0)
		;
	*budget = r.budget;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return r.budget == 0 ? 1 : -1;
}

int ab_remove_tree(int dir, const char *name)
{
	size_t budget = SIZE_MAX;

	return ab_remove_tree_some(dir, name, &budget);
}

int ab_remove_object(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? ab_remove_tree(dir, name) : -1;
}

static int remove_live(int dir, const char *name, size_t *entries, unsigned depth)
{
	ab_autolisting struct ab_listing list = { 0 };
	ab_autoclose int fd = -1;
	int errnum = 0;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return errno;
	if (depth == 0)
		return EFBIG;
	fd = ab_open_closed(dir, name);
	if (fd < 0 || ab_listing_read(&list, fd, *entries) < 0)
		return errno;
	*entries -= list.len;
	for (size_t i = 0; i < list.len && !errnum; i++) {
		errnum = remove_live(fd, list.v[i].name, entries, depth - 1);
		if (errnum == EACCES && fchmod(fd, 0700) == 0)
			errnum = remove_live(fd, list.v[i].name, entries, depth - 1);
	}
	if (errnum)
		return errnum;
	return unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? errno : 0;
}

int ab_remove_live(int dir, const char *name, size_t entries, unsigned depth)
{
	return remove_live(dir, name, &entries, depth);
}
