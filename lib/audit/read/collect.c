#include "audit/read/collect.h"

#include "audit/read/reader.h"
#include "audit/write/log.h"
#include "base/system/folder.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct level {
	int dir;
	struct ab_strv names;
	size_t next;
	size_t path_len; /* of the path of this folder */
};

struct ab_collect {
	struct level levels[AB_COLLECT_DEPTH];
	size_t depth;
	struct ab_buf path;
	struct ab_left_out left_out;
};

static void list_names(struct ab_collect *c, struct level *l)
{
	static const char *const state[] = { "live", "runs" };
	ab_autodir DIR *list = NULL;
	const char *name;

	if (ab_folder_is(l->dir, "live") && ab_folder_is(l->dir, "runs")) {
		for (size_t i = 0; i < AB_COUNT(state); i++)
			ab_strv_add(&l->names, state[i]);
		return;
	}
	list = ab_folder_list(l->dir, ".");
	c->left_out.closed += !list;
	while ((name = ab_folder_next(list)) != NULL && l->names.len < AB_COLLECT_NAMES)
		ab_strv_add(&l->names, name);
	c->left_out.full += name != NULL;
	ab_strv_sort(&l->names);
}

static void enter_folder(struct ab_collect *c, int dir)
{
	struct level *l = &c->levels[c->depth++];

	*l = (struct level){ .dir = dir, .path_len = c->path.len };
	list_names(c, l);
}

static void leave_folder(struct ab_collect *c)
{
	struct level *l = &c->levels[--c->depth];

	ab_closep(&l->dir);
	ab_strv_fini(&l->names);
}

int ab_collect_open(const char *folder, struct ab_collect **ret, struct ab_error *err)
{
	/* The user named it, so a link here is followed. */
	int dir = open(folder, OPEN_DIR & ~O_NOFOLLOW);
	struct ab_collect *c;

	if (dir < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", folder);
	c = ab_alloc(sizeof(*c));
	*ret = c;
	enter_folder(c, dir);
	/* It may be the folder of a run itself. */
	if (faccessat(dir, AB_LOG_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		ab_strv_fini(&c->levels[0].names);
		ab_strv_add(&c->levels[0].names, ".");
	}
	return 0;
}

void ab_collect_close(struct ab_collect *collect)
{
	if (!collect)
		return;
	while (collect->depth)
		leave_folder(collect);
	ab_buf_fini(&collect->path);
	free(collect);
}

const struct ab_left_out *ab_collect_left_out(const struct ab_collect *collect)
{
	return &collect->left_out;
}

static void set_path(struct ab_collect *c, const struct level *l, const char *name)
{
	c->path.len = l->path_len;
	if (l->path_len)
		ab_buf_puts(&c->path, "/");
	ab_buf_puts(&c->path, name);
}

/* True: it is the folder of a run. Else it is entered, if it may be. */
static bool open_folder(struct ab_collect *c, int dir, struct ab_collected *ret)
{
	struct stat st;

	if (fstatat(dir, AB_LOG_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISREG(st.st_mode)) {
			*ret = (struct ab_collected){ c->path.data, true, dir };
			return true;
		}
		c->left_out.others++;
		close(dir);
	} else if (c->depth == AB_COLLECT_DEPTH) {
		c->left_out.deep++;
		close(dir);
	} else {
		enter_folder(c, dir);
	}
	return false;
}

static bool open_file(struct ab_collect *c, int dir, const char *name, struct ab_collected *ret)
{
	*ret = (struct ab_collected){ c->path.data, false, ab_reader_open_name(dir, name) };
	c->left_out.closed += ret->fd < 0;
	return ret->fd >= 0;
}

static bool open_name(struct ab_collect *c, struct level *l, const char *name,
		      struct ab_collected *ret)
{
	struct stat st;
	int dir;

	/* Look before opening: opening a device can have effects. */
	if (fstatat(l->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		c->left_out.closed += errno != ENOENT;
		return false;
	}
	set_path(c, l, name);
	if (S_ISDIR(st.st_mode)) {
		dir = openat(l->dir, name, OPEN_DIR);
		c->left_out.closed += dir < 0;
		return dir >= 0 && open_folder(c, dir, ret);
	}
	if (S_ISLNK(st.st_mode)) {
		c->left_out.links++;
		return false;
	}
	if (!ab_ends_with(name, ".jsonl") || strcmp(name, ".jsonl") == 0)
		return false;
	if (S_ISREG(st.st_mode))
		return open_file(c, l->dir, name, ret);
	c->left_out.others++;
	return false;
}

bool ab_collect_next(struct ab_collect *collect, struct ab_collected *ret)
{
	while (collect->depth) {
		struct level *l = &collect->levels[collect->depth - 1];

		if (l->next == l->names.len)
			leave_folder(collect);
		else if (open_name(collect, l, l->names.v[l->next++], ret))
			return true;
	}
	return false;
}
