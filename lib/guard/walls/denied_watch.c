#include "guard/walls/denied_watch.h"

#include "workspace/tree/glob.h"

enum { FOLDERS_MAX = 256 };

struct folder {
	char *path;
	struct stat st;
};

struct ab_denied_watch {
	const struct ab_strv *patterns;
	struct folder *v;
	size_t len;
	bool looked;
};

struct ab_denied_watch *ab_denied_watch_open(const struct ab_strv *patterns)
{
	struct ab_denied_watch *w = ab_alloc(sizeof(*w));

	*w = (struct ab_denied_watch){ .patterns = patterns };
	return w;
}

/* The deepest folder that exists on the way to what the entry covers, up to its first pattern. */
static void add_folder(struct ab_denied_watch *w, const char *entry)
{
	ab_autofree char *path = ab_path_parent(entry);
	struct stat st;

	for (;;) {
		char *up;

		if (ab_find_row(w->v, w->len, path, path))
			return;
		if (!ab_path_is_pattern(path) && stat(path, &st) == 0)
			break;
		if (!path[1])
			return;
		up = ab_path_parent(path);
		free(path);
		path = up;
	}
	if (!S_ISDIR(st.st_mode) || w->len == FOLDERS_MAX)
		return;
	w->v[w->len++] = (struct folder){ .path = ab_take(path), .st = st };
}

static void list_folders(struct ab_denied_watch *w)
{
	for (size_t i = 0; i < w->len; i++)
		free(w->v[i].path);
	w->len = 0;
	w->v = ab_realloc(w->v, FOLDERS_MAX * sizeof(w->v[0]));
	for (size_t i = 0; i < w->patterns->len; i++)
		if (w->patterns->v[i][0] == '/')
			add_folder(w, w->patterns->v[i]);
}

static bool has_changed(const struct folder *f)
{
	struct stat st;

	return stat(f->path, &st) < 0 || !ab_stat_same(&st, &f->st) ||
	       !ab_time_same(st.st_ctim, f->st.st_ctim);
}

static bool any_changed(const struct ab_denied_watch *w)
{
	for (size_t i = 0; i < w->len; i++)
		if (has_changed(&w->v[i]))
			return true;
	return false;
}

bool ab_denied_watch_look(struct ab_denied_watch *w, struct ab_guard **ret, size_t *ret_n)
{
	struct ab_error err = { 0 };

	if (w->looked && !any_changed(w))
		return false;
	w->looked = true;
	/* First the folders: what is created in between is seen the next time. */
	list_folders(w);
	return ab_expand_deny_shallow(w->patterns, ret, ret_n, &err) == 0;
}
