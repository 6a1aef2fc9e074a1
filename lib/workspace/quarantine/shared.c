#include "workspace/quarantine/shared.h"

#include <dirent.h>
#include <sys/xattr.h>

#include "workspace/quarantine/quarantine_state.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/tree_walk.h"

#define SWEEP_ENTRIES 1000000
#define MOVES_MAX 512	 /* then they are removed: a link has no content */
#define UNLOCKED_MAX 256 /* folders without rights that are opened */

struct search {
	struct ab_quarantine *q;
	struct ab_walk walk;
	struct ab_strv locked;	    /* folders that the walk could not read */
	struct ab_folder_mode root; /* of the folder that is searched, at the start */
	mode_t mask;		    /* bits that others get from nobody */
	size_t removed, narrowed;
	char *narrowed_path; /* the first one */
	bool cut;
};

static bool is_shared(const struct ab_quarantine *q, const char *path)
{
	return ab_path_within_any(path, &q->survey->shared) &&
	       !ab_path_within_any(path, &q->survey->unshared);
}

/* Is it neither a file nor a folder, and new? */
static bool is_stray(const struct ab_quarantine *q, int fd, const char *name)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode) &&
	       !S_ISDIR(st.st_mode) && ab_quarantine_is_new(q, &st);
}

static bool may_be_stray(const struct ab_entry *e)
{
	return e->type != DT_REG && e->type != DT_DIR;
}

void ab_shared_appeared(struct ab_quarantine *q, size_t held, const char *name)
{
	ab_autofree char *path = NULL;

	if (!is_shared(q, q->held[held].path) || !is_stray(q, q->held[held].fd, name))
		return;
	path = ab_strdup(q->held[held].path);
	ab_quarantine_take(q, q->held[held].fd, path, name, name, AB_TAKE_SHARED, NULL);
}

void ab_shared_list(struct ab_quarantine *q, size_t held, const struct ab_listing *l)
{
	if (!is_shared(q, q->held[held].path))
		return;
	for (size_t i = 0; i < l->len; i++)
		if (may_be_stray(&l->v[i]))
			ab_shared_appeared(q, held, l->v[i].name);
}

/* The box may have removed our rights in its own folder. */
static bool unlock_folder(const struct ab_quarantine *q, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 0500) == 0500 ||
	    !ab_quarantine_is_new(q, &st))
		return false;
	return ab_fd_chmod(fd, (st.st_mode & 07777) | 0500) == 0;
}

static void take_stray(struct search *s, int fd, const char *path, const char *name)
{
	if (s->q->report.nmoved < MOVES_MAX)
		ab_quarantine_take(s->q, fd, path, name, name, AB_TAKE_SHARED, NULL);
	else if (unlinkat(fd, name, 0) == 0)
		s->removed++;
	else
		s->cut |= errno != ENOENT;
}

/* What the folder gave to others at the start. */
static mode_t find_broad(const struct ab_survey *survey, const struct stat *st)
{
	for (size_t i = survey->shared.len; i < survey->nmodes; i++)
		if (survey->modes[i].ino == st->st_ino && survey->modes[i].dev == st->st_dev)
			return survey->modes[i].mode;
	return 0;
}

/* What the permissions of something below a shared folder may be. */
static mode_t narrow_mode(const struct search *s, const struct stat *st)
{
	mode_t mode = st->st_mode & 07777;
	mode_t closed = (S_ISUID | S_ISGID | S_ISVTX) | ((S_IWGRP | S_IWOTH) & s->mask);

	if (S_ISDIR(st->st_mode))
		closed &= ~(s->root.mode | find_broad(s->q->survey, st));
	else
		closed &= ~(s->root.mode & (S_IWGRP | S_IWOTH));
	return mode & ~closed;
}

static void count_narrowed(struct search *s, const char *path, const char *name)
{
	if (!s->narrowed++)
		s->narrowed_path = name ? ab_path_join(path, name) : ab_strdup(path);
}

/* `name`: in the folder `path`; or NULL: the folder itself, which is open. */
static void narrow_object(struct search *s, int fd, const char *path, const char *name)
{
	static const char acl[] = "system.posix_acl_default";
	struct stat st;
	mode_t mode;

	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || !ab_quarantine_is_new(s->q, &st))
		return;
	mode = narrow_mode(s, &st);
	if (mode != (st.st_mode & 07777) && ab_fd_chmod(fd, mode) == 0)
		count_narrowed(s, path, name);
	else if (mode != (st.st_mode & 07777))
		s->cut = true;
	/* Files that an agent outside creates there later would get it. */
	if (S_ISDIR(st.st_mode) && !name && !s->root.acl && fgetxattr(fd, acl, NULL, 0) > 0 &&
	    fremovexattr(fd, acl) == 0)
		count_narrowed(s, path, NULL);
}

static void narrow_file(struct search *s, int folder, const char *path, const char *name)
{
	struct stat st;
	ab_autoclose int fd = -1;

	/* Most need no descriptor. */
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    !ab_quarantine_is_new(s->q, &st) || narrow_mode(s, &st) == (st.st_mode & 07777))
		return;
	fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		narrow_object(s, fd, path, name);
}

static bool search_folder(void *arg, int fd, const char *path, unsigned depth,
			  const struct ab_listing *l)
{
	struct search *s = arg;

	(void)depth;
	if (ab_path_within_any(path, &s->q->survey->unshared))
		return false;
	/* It can be listed, but not entered. */
	(void)unlock_folder(s->q, fd);
	narrow_object(s, fd, path, NULL);
	for (size_t i = 0; i < l->len; i++)
		if (!may_be_stray(&l->v[i]))
			narrow_file(s, fd, path, l->v[i].name);
		else if (is_stray(s->q, fd, l->v[i].name))
			take_stray(s, fd, path, l->v[i].name);
	return true;
}

static void note_locked(void *arg, const char *path)
{
	struct search *s = arg;

	if (s->locked.len < UNLOCKED_MAX)
		ab_strv_add(&s->locked, path);
	else
		s->cut = true;
}

/* The shared folder itself gets what it had; what somebody else closed meanwhile stays closed. */
static void put_back_root(struct search *s, const char *path)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	mode_t before = s->root.mode, mode;
	struct stat st;

	/* Without a mode it was not there at the start. */
	if (!before || fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    !ab_quarantine_is_new(s->q, &st))
		return;
	mode = (before & 0700) | (st.st_mode & before & 07077);
	if (mode == (st.st_mode & 07777))
		return;
	if (ab_fd_chmod(fd, mode) == 0)
		count_narrowed(s, path, NULL);
	else
		s->cut = true;
}

static void search_root(struct search *s, const char *root)
{
	if (ab_walk(&s->walk, root, search_folder, s) < 0)
		s->cut |= errno != ENOENT && errno != ENOTDIR;
}

/* In a record of an older version it is not known what the folder had. */
static void enter_shared(struct search *s, size_t i)
{
	const struct ab_survey *survey = s->q->survey;

	s->root = survey->nmodes ? survey->modes[i] : (struct ab_folder_mode){ .mode = 0 };
	s->mask = survey->nmodes ? survey->mask : S_IWGRP | S_IWOTH;
}

static void search_locked(struct search *s, const char *path)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	const struct ab_strv *shared = &s->q->survey->shared;

	for (size_t i = 0; i < shared->len; i++)
		if (ab_path_within(path, shared->v[i]))
			enter_shared(s, i);
	/* Otherwise it is the host's own, or so deep that its paths are too long. */
	if (fd >= 0 && unlock_folder(s->q, fd))
		search_root(s, path);
	else
		s->cut |= fd >= 0 || (errno != ENOENT && errno != ENOTDIR);
}

static void tell_narrowed(struct search *s)
{
	ab_autofree char *shown = s->narrowed ? ab_escape(s->narrowed_path) : NULL;

	if (s->narrowed)
		ab_strv_addf(&s->q->report.findings,
			     "the run changed the permissions of %zu file%s or folder%s in shared "
			     "folders (%s%s); put back as far as other users gained from it",
			     s->narrowed, s->narrowed == 1 ? "" : "s", s->narrowed == 1 ? "" : "s",
			     shown, s->narrowed == 1 ? "" : ", ...");
	free(s->narrowed_path);
}

void ab_shared_sweep(struct ab_quarantine *q)
{
	const struct ab_strv *shared = &q->survey->shared;
	struct search s = { .q = q,
			    .walk = { .dirs = SIZE_MAX,
				      .entries = SWEEP_ENTRIES,
				      .depth = UINT_MAX,
				      .everything = true,
				      .thorough = true,
				      .unreadable = note_locked } };

	for (size_t i = 0; i < shared->len; i++) {
		enter_shared(&s, i);
		if (q->survey->nmodes)
			put_back_root(&s, shared->v[i]);
		search_root(&s, shared->v[i]);
	}
	/* Grows meanwhile: one below another. */
	for (size_t i = 0; i < s.locked.len; i++) {
		ab_autofree char *path = ab_strdup(s.locked.v[i]);

		search_locked(&s, path);
	}
	tell_narrowed(&s);
	if (s.removed)
		ab_strv_addf(&q->report.findings,
			     "the run created %zu more links and the like in shared folders; "
			     "removed",
			     s.removed);
	if (s.cut || s.walk.cut)
		ab_strv_add(&q->report.findings,
			    "the shared folders could not be searched completely for links that "
			    "the run created, and for permissions that it changed");
	ab_strv_fini(&s.locked);
}
