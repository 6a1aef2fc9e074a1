#include "workspace/survey/survey_state.h"

#include <dirent.h>

#include "base/system/linkwalk.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/tree_walk.h"

/*
 * A rule follows the object. A protected name may be a symbolic link, reach its target
 * through more links, or be missing at any step, and the box can change each step
 * that is writable. So the name is resolved here, component by component: every
 * link in a writable root is pinned, the object at the end is closed, and if a
 * component is missing, it is watched for.
 */

#define PATTERN_ENTRIES 1000000
#define CLOSED_ENTRIES 50000 /* total for all closed folders */

bool ab_survey_inside(const struct ab_surveyor *s, const char *path)
{
	return ab_path_within_any(path, &s->out->write);
}

/* Is it really closed to us, and so to the box? An error that comes once is no answer. The walk notices a
 * folder that we own but cannot list. */
static bool is_shut(const char *path, int errnum)
{
	return errnum == EACCES && access(path, R_OK) < 0 && errno == EACCES;
}

void ab_survey_unsure(struct ab_surveyor *s, const char *path, int errnum)
{
	if (errnum != ENOENT && errnum != ENOTDIR && !is_shut(path, errnum))
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
	w = ab_append(o->watch, o->nwatch);
	*w = (struct ab_watch){
		.dir = ab_strdup(dir), .dev = st.st_dev, .ino = st.st_ino, .changed = st.st_ctim
	};
	return w;
}

bool ab_survey_existed(const struct ab_survey *survey, const char *dir, const char *entry)
{
	const struct ab_watch *w = ab_find_row(survey->watch, survey->nwatch, dir, dir);

	for (size_t i = 0; w && i < w->names.len; i++)
		if (w->names.v[i][0] == '!' && strcmp(w->names.v[i] + 1, entry) == 0)
			return true;
	return false;
}

static void add_watch(struct ab_surveyor *s, const char *dir, const char *name)
{
	struct ab_watch *w = ab_survey_watched(s, dir);

	if (w && !ab_strv_has(&w->names, name))
		ab_strv_add(&w->names, name);
}

static bool look_for_links(void *arg, int fd, const char *path, unsigned depth,
			   const struct ab_listing *l)
{
	struct ab_surveyor *s = arg;
	struct stat st;

	/* A checkout below a protected folder is not part of it. */
	if (depth > 0 && ab_listing_find(l, ".git"))
		return false;
	for (size_t i = 0; i < l->len; i++) {
		/* git never runs its samples; there are fourteen of them. */
		if (ab_name_is_sample(l->v[i].name))
			continue;
		if (fstatat(fd, l->v[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			ab_hardlinks_note(&s->links, &st);
		else
			ab_survey_unsure(s, path, errno);
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
	if (w.cut) {
		s->out->complete = false;
		ab_strv_add_safe(&s->out->findings,
				 "%s could not be searched completely for files with hard links",
				 dir);
	}
}

/* Whether it is closed now. */
static bool add_closed(struct ab_surveyor *s, const char *path, const struct stat *st)
{
	struct ab_survey *o = s->out;

	if (!ab_survey_inside(s, path))
		return false;
	/* Closing it would close the whole workspace. */
	if (ab_path_contains_any(path, &s->roots)) {
		o->complete = false;
		ab_strv_add_safe(
			&o->findings,
			"a protected name leads to %s, which contains a writable folder and so stays open",
			path);
		return false;
	}
	ab_guards_add(&o->closed, &o->nclosed, path, ab_node_of(st->st_mode));
	return true;
}

/*
 * Where a file has an entry of its own under every spelling of its name (SMB, FUSE, 9p), a mount covers one
 * of them only. Asked once for each file system.
 */
static void look_for_spellings(struct ab_surveyor *s, const char *path, const struct stat *st)
{
	ab_autofree char *other = ab_strdup(path), *one = NULL, *two = NULL;
	ab_autoclose int fd = -1, again = -1;
	struct stat found;

	if (st->st_dev == s->spelled || !S_ISREG(st->st_mode) || st->st_nlink > 1)
		return;
	s->spelled = st->st_dev;
	for (char *p = other + (ab_path_name(path) - path); *p; p++)
		if (ab_is_alnum(*p) && !ab_is_digit(*p))
			*p = (char)(*p ^ 'a' ^ 'A');
	again = open(other, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (again < 0 || fstat(again, &found) < 0 || !ab_stat_same(st, &found))
		return;
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	one = ab_fd_path(fd);
	two = ab_fd_path(again);
	if (one && two && strcmp(one, two) == 0)
		return;
	s->out->complete = false;
	ab_strv_add_safe(&s->out->findings,
			 "the file system of %s finds a file under other spellings of its name, "
			 "under which the box may write it",
			 path);
}

static void close_object(struct ab_surveyor *s, const char *path, const struct stat *st)
{
	if (!add_closed(s, path, st))
		return;
	ab_hardlinks_note(&s->links, st);
	look_for_spellings(s, path, st);
	if (S_ISDIR(st->st_mode))
		look_into(s, path);
}

void ab_survey_close_folder(struct ab_surveyor *s, const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		add_closed(s, path, &st);
	else
		ab_survey_unsure(s, path, errno);
}

/* `name` is missing in `dir`; `rest` would be below it. */
static void watch_missing(struct ab_surveyor *s, const char *dir, const char *name,
			  const char *rest)
{
	ab_autofree char *raw = ab_printf("/%s", rest), *all = NULL;
	ab_autofree char *below = ab_path_resolve(raw, "", NULL);

	/* For a path that goes up again after a missing folder ("x/../y", only
	 * in a link), watch for the first component. */
	if (strstr(rest, ".."))
		below[1] = '\0';
	all = ab_printf("%s%s", name, below[1] ? below : "");
	add_watch(s, dir, all);
}

/* The walk cannot go on at w->path. */
static void note_end(struct ab_surveyor *s, const struct ab_linkwalk *w, bool final)
{
	int errnum = errno;
	/* Not searchable: whatever is there, the watch keeps the folder in its
	 * place. */
	bool absent = errnum == ENOENT || is_shut(w->path, errnum);

	if (S_ISLNK(w->st.st_mode))
		return; /* closed, and it leads nowhere */
	if (absent && final)
		watch_missing(s, w->at, w->name, w->left);
	else if (errnum == ENAMETOOLONG || (!absent && ab_survey_inside(s, w->at)))
		s->out->complete = false;
}

char *ab_survey_follow(struct ab_surveyor *s, const char *dir, const char *name, bool final)
{
	ab_autolinkwalk struct ab_linkwalk w;
	enum ab_linkwalk_step step;
	struct stat st;

	ab_linkwalk_init(&w, dir, name);
	while ((step = ab_linkwalk_step(&w)) != AB_LINKWALK_END) {
		if (step == AB_LINKWALK_FAILED) {
			note_end(s, &w, final);
			return NULL;
		}
		if (step == AB_LINKWALK_LINK) {
			close_object(s, w.path, &w.st);
		} else if (!w.left[0]) {
			if (final)
				close_object(s, w.path, &w.st);
			return ab_take(w.path);
		} else if (!S_ISDIR(w.st.st_mode)) {
			if (final)
				watch_missing(s, w.at, w.name, w.left);
			return NULL;
		}
	}
	/* A link to "." or "..": the folder is one that we stand in. */
	if (final && lstat(w.at, &st) == 0)
		close_object(s, w.at, &st);
	else if (final)
		ab_survey_unsure(s, w.at, errno);
	return ab_take(w.at);
}

void ab_survey_guard_literal(struct ab_surveyor *s, const char *dir, const char *name)
{
	free(ab_survey_follow(s, dir, name, true));
}

/* Can something be below it now? */
static bool may_contain(int fd, const struct ab_entry *entry)
{
	struct stat st;

	if (entry->type != DT_UNKNOWN)
		return entry->type == DT_DIR || entry->type == DT_LNK;
	return fstatat(fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode) ||
	       S_ISLNK(st.st_mode);
}

static void guard_pattern(struct ab_surveyor *s, const char *dir, const char *pattern)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);
	ab_autolisting struct ab_listing l = { 0 };
	char as[NAME_MAX + 1];
	const char *rest;

	add_watch(s, dir, pattern);
	if (fd < 0 || ab_listing_read(&l, fd, PATTERN_ENTRIES) < 0 || l.cut) {
		if (ab_survey_inside(s, dir))
			s->out->complete = false;
		return;
	}
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *one = NULL, *kept = NULL;

		if (!ab_entry_starts(fd, pattern, l.v[i].name, as, &rest))
			continue;
		/* A file: if the box replaces it with a folder, that one is watched. */
		if (rest[0] && !may_contain(fd, &l.v[i]))
			continue;
		kept = ab_printf("!%s", l.v[i].name);
		add_watch(s, dir, kept);
		if (!rest[0]) {
			ab_survey_guard_literal(s, dir, l.v[i].name);
			continue;
		}
		one = ab_survey_follow(s, dir, l.v[i].name, false);
		if (one)
			ab_survey_guard(s, one, rest);
	}
}

void ab_survey_guard(struct ab_surveyor *s, const char *dir, const char *name)
{
	size_t start = strcspn(name, "*?[");
	ab_autofree char *head = NULL, *real = NULL;

	if (!name[start]) {
		ab_survey_guard_literal(s, dir, name);
		return;
	}
	while (start > 0 && name[start - 1] != '/')
		start--;
	head = ab_strndup(name, start);
	real = ab_survey_follow(s, dir, head, false);
	if (real)
		guard_pattern(s, real, name + start);
	else
		ab_survey_guard_literal(s, dir, name); /* ends where head does */
}

void ab_survey_guard_absolute(struct ab_surveyor *s)
{
	ab_autofree char *parent = NULL, *real = NULL;

	/* Most of them are in the same folder, so resolve it once. */
	for (size_t i = 0; i < s->names.absolute.len; i++) {
		const char *path = s->names.absolute.v[i];
		char *above = ab_path_parent(path);

		if (ab_path_is_pattern(above)) {
			free(above);
			ab_survey_guard(s, "/", path + 1);
			continue;
		}
		if (!parent || strcmp(parent, above) != 0) {
			ab_free_all(parent, real);
			parent = above;
			real = ab_survey_follow(s, "/", parent + 1, false);
		} else {
			free(above);
		}
		if (real)
			ab_survey_guard(s, real, ab_path_name(path));
		else
			ab_survey_guard(s, "/", path + 1);
	}
}

/* Names outside the roots do not matter: the box cannot write them. */
void ab_survey_hardlinks(struct ab_surveyor *s)
{
	struct ab_survey *o = s->out;
	size_t entries = s->limits->entries;

	if (ab_hardlinks_find(&s->links, &o->write, &entries, &o->closed, &o->nclosed) ||
	    s->links.unfound == 0)
		return;
	o->complete = false;
	ab_strv_addf(&o->findings,
		     "%zu of the hard links of protected files were not found among the first %zu "
		     "entries of the writable folders, so the box may write them",
		     s->links.unfound, s->limits->entries - entries);
}
