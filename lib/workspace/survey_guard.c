#include "workspace/survey_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "workspace/dir.h"
#include "workspace/walk.h"

/*
 * A rule follows the object. A protected name may be a symbolic link, reach
 * its target over more links, or be missing at any step, and each of these
 * steps can be changed by who may write there. So the name is resolved here,
 * component by component: every link on the way that lies in a writable root
 * is pinned, the object at the end is closed, and where the way ends early
 * the missing name is watched for.
 */

#define LINKS_MAX 40 /* as the kernel's own limit */
#define PATTERN_ENTRIES 10000
#define CLOSED_ENTRIES 8000 /* in all closed folders together */

bool ab_survey_inside(const struct ab_surveyor *s, const char *path)
{
	for (size_t i = 0; i < s->out->write.len; i++)
		if (ab_path_within(path, s->out->write.v[i]))
			return true;
	return false;
}

void ab_survey_unsure(struct ab_surveyor *s, int errnum)
{
	/* A folder of our own that is locked is the walk's to notice. */
	if (errnum != ENOENT && errnum != ENOTDIR && errnum != EACCES)
		s->out->complete = false;
}

struct ab_watch *ab_survey_watched(struct ab_surveyor *s, const char *dir)
{
	struct ab_survey *o = s->out;
	struct ab_watch *w;
	struct stat st;

	if (!ab_survey_inside(s, dir))
		return NULL;
	for (size_t i = o->nwatch; i-- > 0;)
		if (strcmp(o->watch[i].dir, dir) == 0)
			return &o->watch[i];
	if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode)) {
		o->complete = false;
		return NULL;
	}
	if ((o->nwatch & (o->nwatch + 1)) == 0)
		o->watch = ab_realloc(o->watch, 2 * (o->nwatch + 1) * sizeof(o->watch[0]));
	w = &o->watch[o->nwatch++];
	*w = (struct ab_watch){
		.dir = ab_strdup(dir), .dev = st.st_dev, .ino = st.st_ino, .changed = st.st_ctim
	};
	return w;
}

static void watch(struct ab_surveyor *s, const char *dir, const char *name)
{
	struct ab_watch *w = ab_survey_watched(s, dir);

	if (w && !ab_strv_has(&w->names, name))
		ab_strv_add(&w->names, name);
}

static void note_hardlink(struct ab_surveyor *s, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
		return;
	for (size_t i = 0; i < s->nlinks; i++)
		if (s->links[i].dev == st->st_dev && s->links[i].ino == st->st_ino)
			return;
	if ((s->nlinks & (s->nlinks + 1)) == 0)
		s->links = ab_realloc(s->links, 2 * (s->nlinks + 1) * sizeof(s->links[0]));
	s->links[s->nlinks++] = (struct ab_hardlink){ st->st_dev, st->st_ino, st->st_nlink, 0 };
}

static bool is_sample(const char *name)
{
	size_t n = strlen(name);

	return n > 7 && strcmp(name + n - 7, ".sample") == 0;
}

static bool look_for_links(void *arg, int fd, const char *path, unsigned depth,
			   const struct ab_listing *l)
{
	struct ab_surveyor *s = arg;
	struct stat st;

	(void)path;
	/* A checkout kept below a protected folder is no part of it. */
	if (depth > 0 && ab_listing_find(l, ".git"))
		return false;
	for (size_t i = 0; i < l->len; i++) {
		/* git's samples never run; there are fourteen of them. */
		if (is_sample(l->v[i].name))
			continue;
		if (fstatat(fd, l->v[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			note_hardlink(s, &st);
		else
			ab_survey_unsure(s, errno);
	}
	s->looked += l->len;
	return true;
}

static void look_into(struct ab_surveyor *s, const char *dir)
{
	size_t left = s->looked < CLOSED_ENTRIES ? CLOSED_ENTRIES - s->looked : 0;
	struct ab_walk w = { .dirs = left, .entries = left, .depth = UINT_MAX };

	if (ab_walk(&w, dir, look_for_links, s) < 0)
		w.cut |= errno != EACCES;
	if (w.cut)
		s->out->complete = false;
}

/* Closing it would close the whole workspace. */
static bool holds_root(const struct ab_surveyor *s, const char *path)
{
	for (size_t i = 0; i < s->roots.len; i++)
		if (ab_path_within(s->roots.v[i], path))
			return true;
	return false;
}

static void shut(struct ab_surveyor *s, const char *path, const struct stat *st)
{
	struct ab_survey *o = s->out;

	if (!ab_survey_inside(s, path))
		return;
	if (holds_root(s, path)) {
		ab_autofree char *shown = ab_escape(path);

		o->complete = false;
		ab_strv_addf(&o->findings,
			     "A protected name leads to %s, which holds a "
			     "writable folder and so stays open.",
			     shown);
		return;
	}
	ab_guards_add(&o->closed, &o->nclosed, path, ab_node_of(st->st_mode));
	note_hardlink(s, st);
	if (S_ISDIR(st->st_mode))
		look_into(s, path);
}

/* Where the way goes on behind a symbolic link; NULL when it cannot. */
static char *behind_link(const char *link, const char *rest)
{
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return rest[0] ? ab_printf("%s/%s", target, rest) : ab_strdup(target);
}

/* Something is missing at `name` in `dir`; `rest` would be below it. */
static void missing(struct ab_surveyor *s, const char *dir, const char *name, const char *rest)
{
	ab_autofree char *raw = ab_printf("/%s", rest), *all = NULL;
	ab_autofree char *below = ab_path_resolve(raw, "", NULL);

	/* A way that would climb again behind a missing folder ("x/../y", in
	 * a link only) is watched for at its first step. */
	if (strstr(rest, ".."))
		below[1] = '\0';
	all = ab_printf("%s%s", name, below[1] ? below : "");
	watch(s, dir, all);
}

/*
 * The way `name` from the real folder `dir`. The object at its end is closed
 * and the first missing name watched for; with ret_real neither happens, and
 * *ret_real is the real path at its end, or NULL.
 */
static void follow(struct ab_surveyor *s, const char *dir, const char *name, char **ret_real)
{
	bool final = !ret_real;
	ab_autofree char *cur = ab_strdup(dir), *todo = ab_strdup(name);
	const char *p = todo;
	unsigned links = 0;

	if (ret_real)
		*ret_real = NULL;
	while (p[0] && strlen(cur) + strlen(p) < PATH_MAX) {
		size_t n = strcspn(p, "/");
		ab_autofree char *one = ab_strndup(p, n), *full = NULL;
		const char *rest = p + n + strspn(p + n, "/");
		struct stat st;

		p = rest;
		if (n == 0 || strcmp(one, ".") == 0)
			continue;
		if (strcmp(one, "..") == 0) {
			full = ab_path_parent(cur);
		} else {
			full = ab_path_join(cur, one);
			if (lstat(full, &st) < 0) {
				/* Not searchable: whatever is there, the
				 * watch keeps the folder in its place. */
				bool absent = errno == ENOENT || errno == EACCES;

				if (absent && final)
					missing(s, cur, one, rest);
				else if (!absent && ab_survey_inside(s, cur))
					s->out->complete = false;
				return;
			}
			if (S_ISLNK(st.st_mode)) {
				char *more = behind_link(full, rest);

				shut(s, full, &st);
				if (!more || ++links > LINKS_MAX) {
					free(more);
					return;
				}
				free(todo);
				p = todo = more;
				if (todo[0] == '/') {
					free(cur);
					cur = ab_strdup("/");
				}
				continue;
			}
			if (rest[0] && !S_ISDIR(st.st_mode)) {
				if (final)
					missing(s, cur, one, rest);
				return;
			}
			if (!rest[0] && final) {
				shut(s, full, &st);
				return;
			}
		}
		free(cur);
		cur = ab_take(full);
	}
	if (p[0]) {
		s->out->complete = false;
		return;
	}
	/* A link to "." or "..": the folder is one that we stand in. */
	if (final) {
		struct stat st;

		if (lstat(cur, &st) == 0)
			shut(s, cur, &st);
		else
			ab_survey_unsure(s, errno);
	}
	if (ret_real)
		*ret_real = ab_take(cur);
}

static void guard_pattern(struct ab_surveyor *s, const char *dir, const char *pattern)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);
	ab_autolisting struct ab_listing l = { 0 };
	const char *rest;

	watch(s, dir, pattern);
	if (fd < 0 || ab_listing_read(&l, fd, PATTERN_ENTRIES) < 0 || l.cut) {
		if (ab_survey_inside(s, dir))
			s->out->complete = false;
		return;
	}
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *one = NULL;

		if (!ab_name_starts(pattern, l.v[i].name, &rest))
			continue;
		if (!rest[0]) {
			follow(s, dir, l.v[i].name, NULL);
			continue;
		}
		follow(s, dir, l.v[i].name, &one);
		if (one)
			ab_survey_guard(s, one, rest);
	}
}

void ab_survey_guard_literal(struct ab_surveyor *s, const char *dir, const char *name)
{
	follow(s, dir, name, NULL);
}

char *ab_survey_pin(struct ab_surveyor *s, const char *dir, const char *name)
{
	char *real;

	follow(s, dir, name, &real);
	return real;
}

void ab_survey_guard(struct ab_surveyor *s, const char *dir, const char *name)
{
	size_t start = strcspn(name, "*?[");
	ab_autofree char *head = NULL, *real = NULL;

	if (!name[start]) {
		follow(s, dir, name, NULL);
		return;
	}
	while (start > 0 && name[start - 1] != '/')
		start--;
	head = ab_strndup(name, start);
	follow(s, dir, head, &real);
	if (real)
		guard_pattern(s, real, name + start);
	else
		follow(s, dir, name, NULL); /* ends where head does */
}

void ab_survey_guard_absolute(struct ab_surveyor *s)
{
	ab_autofree char *parent = NULL, *real = NULL;

	/* Most of them are in the same folder: it is resolved once. */
	for (size_t i = 0; i < s->names.absolute.len; i++) {
		const char *path = s->names.absolute.v[i];
		char *above = ab_path_parent(path);

		if (ab_path_is_pattern(above)) {
			free(above);
			ab_survey_guard(s, "/", path + 1);
			continue;
		}
		if (!parent || strcmp(parent, above) != 0) {
			free(parent);
			free(real);
			parent = above;
			follow(s, "/", parent + 1, &real);
		} else {
			free(above);
		}
		if (real)
			ab_survey_guard(s, real, ab_path_name(path));
		else
			ab_survey_guard(s, "/", path + 1);
	}
}

static bool all_found(const struct ab_surveyor *s)
{
	for (size_t i = 0; i < s->nlinks; i++)
		if (s->links[i].found < s->links[i].names)
			return false;
	return true;
}

static bool match_links(void *arg, int fd, const char *path, unsigned depth,
			const struct ab_listing *l)
{
	struct ab_surveyor *s = arg;

	(void)depth;
	for (size_t i = 0; i < l->len; i++) {
		for (size_t k = 0; k < s->nlinks; k++) {
			ab_autofree char *full = NULL;
			struct stat st;

			if (s->links[k].ino != l->v[i].ino)
				continue;
			if (fstatat(fd, l->v[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
				ab_survey_unsure(s, errno);
				continue;
			}
			if (st.st_ino != s->links[k].ino || st.st_dev != s->links[k].dev)
				continue;
			full = ab_path_join(path, l->v[i].name);
			s->links[k].found++;
			ab_guards_add(&s->out->closed, &s->out->nclosed, full, AB_NODE_FILE);
		}
	}
	return !all_found(s);
}

/* Names outside the roots do not matter: nobody in the box can write them. */
void ab_survey_hardlinks(struct ab_surveyor *s)
{
	struct ab_walk w = { .dirs = 4000, .entries = 40000, .depth = UINT_MAX, .everything = true };
	const struct ab_strv *roots = &s->out->write;

	for (size_t i = 0; i < roots->len && !all_found(s); i++) {
		struct stat st;

		if (lstat(roots->v[i], &st) < 0)
			w.cut = true;
		else if (S_ISDIR(st.st_mode) && ab_walk(&w, roots->v[i], match_links, s) < 0)
			w.cut = true;
	}
	if (all_found(s) || !w.cut)
		return;
	s->out->complete = false;
	ab_strv_add(&s->out->findings, "A protected file has more than one name (hard links), and "
				       "the writable folders are too large to find them all.");
}
