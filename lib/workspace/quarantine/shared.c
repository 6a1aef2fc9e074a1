#include "workspace/quarantine/shared.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
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
	struct ab_strv locked; /* folders that the walk could not read */
	size_t removed;
	bool cut;
};

static bool is_within_any(const struct ab_strv *roots, const char *path)
{
	for (size_t i = 0; i < roots->len; i++)
		if (ab_path_within(path, roots->v[i]))
			return true;
	return false;
}

static bool is_shared(const struct ab_quarantine *q, const char *path)
{
	return is_within_any(&q->survey->shared, path) &&
	       !is_within_any(&q->survey->unshared, path);
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
	ab_quarantine_take_shared(q, q->held[held].fd, path, name);
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
	char self[32];
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 0500) == 0500 ||
	    !ab_quarantine_is_new(q, &st))
		return false;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return chmod(self, (st.st_mode & 07777) | 0500) == 0;
}

static void take_stray(struct search *s, int fd, const char *path, const char *name)
{
	if (s->q->report.nmoved < MOVES_MAX)
		ab_quarantine_take_shared(s->q, fd, path, name);
	else if (unlinkat(fd, name, 0) == 0)
		s->removed++;
	else
		s->cut |= errno != ENOENT;
}

static bool search_folder(void *arg, int fd, const char *path, unsigned depth,
			  const struct ab_listing *l)
{
	struct search *s = arg;

	(void)depth;
	if (is_within_any(&s->q->survey->unshared, path))
		return false;
	/* It can be listed, but not entered. */
	(void)unlock_folder(s->q, fd);
	for (size_t i = 0; i < l->len; i++)
		if (may_be_stray(&l->v[i]) && is_stray(s->q, fd, l->v[i].name))
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

static void search_root(struct search *s, const char *root)
{
	if (ab_walk(&s->walk, root, search_folder, s) < 0)
		s->cut |= errno != ENOENT && errno != ENOTDIR;
}

static void search_locked(struct search *s, const char *path)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, path, O_PATH | O_DIRECTORY);

	/* Otherwise it is the host's own, or so deep that its paths are too long. */
	if (fd >= 0 && unlock_folder(s->q, fd))
		search_root(s, path);
	else
		s->cut |= fd >= 0 || (errno != ENOENT && errno != ENOTDIR);
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

	for (size_t i = 0; i < shared->len; i++)
		search_root(&s, shared->v[i]);
	/* Grows meanwhile: one below another. */
	for (size_t i = 0; i < s.locked.len; i++) {
		ab_autofree char *path = ab_strdup(s.locked.v[i]);

		search_locked(&s, path);
	}
	if (s.removed)
		ab_strv_addf(&q->report.findings,
			     "the run created %zu more links and the like in shared folders; "
			     "removed",
			     s.removed);
	if (s.cut || s.walk.cut)
		ab_strv_add(&q->report.findings,
			    "the shared folders could not be searched completely for links that "
			    "the run created");
	ab_strv_fini(&s.locked);
}
