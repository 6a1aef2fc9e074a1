#include "workspace/survey/hardlinks.h"

#include "workspace/tree/dir.h"
#include "workspace/tree/tree_walk.h"

struct search {
	struct ab_hardlinks *links;
	struct ab_guard **v;
	size_t *len;
	bool unsure;
};

static struct ab_hardlink *find_link(const struct ab_hardlinks *links, const struct stat *st)
{
	for (size_t i = 0; i < links->n; i++)
		if (links->v[i].dev == st->st_dev && links->v[i].ino == st->st_ino)
			return &links->v[i];
	return NULL;
}

void ab_hardlinks_note(struct ab_hardlinks *links, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_nlink < 2 || find_link(links, st))
		return;
	*ab_append(links->v, links->n) =
		(struct ab_hardlink){ .dev = st->st_dev, .ino = st->st_ino, .names = st->st_nlink };
}

/* Whether it is a name that was not met before. */
static bool meet_name(struct ab_hardlink *l, ino_t dir, const char *name)
{
	ab_autofree char *key = ab_printf("%ju/%s", (uintmax_t)dir, name);

	if (l->met.len == l->names || ab_strv_has(&l->met, key))
		return false;
	ab_strv_give(&l->met, ab_take(key));
	return true;
}

void ab_hardlinks_meet(struct ab_hardlinks *links, const char *path, const struct stat *st)
{
	ab_autofree char *dir = ab_path_parent(path);
	struct ab_hardlink *l;
	struct stat above;

	ab_hardlinks_note(links, st);
	l = find_link(links, st);
	if (l && lstat(dir, &above) == 0)
		meet_name(l, above.st_ino, ab_path_name(path));
}

static int compare_links(const void *a, const void *b)
{
	ino_t x = ((const struct ab_hardlink *)a)->ino, y = ((const struct ab_hardlink *)b)->ino;

	return (x > y) - (x < y);
}

static bool has_inode(const struct ab_hardlinks *links, ino_t ino)
{
	const struct ab_hardlink key = { .ino = ino };

	return bsearch(&key, links->v, links->n, sizeof(key), compare_links) != NULL;
}

static bool match_names(void *arg, int fd, const char *path, unsigned depth,
			const struct ab_listing *l)
{
	struct search *s = arg;
	struct stat dir, st;

	(void)depth;
	if (ab_strv_has(&s->links->searched, path))
		return false;
	for (size_t i = 0; i < l->len && s->links->unfound > 0; i++) {
		ab_autofree char *full = NULL;
		struct ab_hardlink *link;

		if (!has_inode(s->links, l->v[i].ino))
			continue;
		if (fstatat(fd, l->v[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    fstat(fd, &dir) < 0) {
			s->unsure |= errno != ENOENT;
			continue;
		}
		link = find_link(s->links, &st);
		if (!link)
			continue;
		s->links->unfound -= meet_name(link, dir.st_ino, l->v[i].name);
		full = ab_path_join(path, l->v[i].name);
		ab_guards_add(s->v, s->len, full, AB_NODE_FILE);
	}
	return s->links->unfound > 0;
}

/* No name in it is met. */
static void pass_unreadable(void *arg, const char *path)
{
	(void)arg;
	(void)path;
}

bool ab_hardlinks_find(struct ab_hardlinks *links, const struct ab_strv *roots, size_t *entries,
		       struct ab_guard **v, size_t *len)
{
	struct search s = { links, v, len, false };
	struct ab_walk w = { .dirs = SIZE_MAX,
			     .entries = *entries,
			     .depth = UINT_MAX,
			     .everything = true,
			     .thorough = true,
			     .unreadable = pass_unreadable };

	if (links->n)
		qsort(links->v, links->n, sizeof(links->v[0]), compare_links);
	links->unfound = 0;
	for (size_t i = 0; i < links->n; i++)
		links->unfound += links->v[i].names - links->v[i].met.len;
	for (size_t i = 0; i < roots->len && links->unfound > 0; i++) {
		struct stat st;

		if (lstat(roots->v[i], &st) < 0)
			w.cut = true;
		else if (S_ISDIR(st.st_mode) && ab_walk(&w, roots->v[i], match_names, &s) < 0)
			w.cut = true;
	}
	*entries = w.entries;
	ab_strv_extend(&links->searched, roots);
	return !w.cut && !s.unsure;
}

bool ab_hardlinks_met(const struct ab_hardlinks *links, const struct stat *st)
{
	const struct ab_hardlink *l = find_link(links, st);

	return !l || l->met.len == l->names;
}

void ab_hardlinks_fini(struct ab_hardlinks *links)
{
	for (size_t i = 0; i < links->n; i++)
		ab_strv_fini(&links->v[i].met);
	free(links->v);
	ab_strv_fini(&links->searched);
	*links = (struct ab_hardlinks){ 0 };
}
