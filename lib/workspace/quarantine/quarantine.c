#include "workspace/quarantine/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "workspace/quarantine/move.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/names.h"

#define LIVE_MAX 128  /* folders watched during the run; the others are swept */
#define MOVES_MAX 512 /* while the box runs: it can create names all the time */
#define TRIES 64      /* for a free name in the quarantine */
#define LIST_MAX 10000
#define SMALL_FOLDER 1000

static void add_report(struct ab_quarantine *q, struct ab_moved m)
{
	struct ab_quarantine_report *r = &q->report;

	if ((r->nmoved & (r->nmoved + 1)) == 0)
		r->moved = ab_realloc(r->moved, 2 * (r->nmoved + 1) * sizeof(r->moved[0]));
	r->moved[r->nmoved++] = m;
}

/* Report an object that cannot be moved only once. */
static bool is_reported(const struct ab_quarantine *q, const char *path, int errnum)
{
	for (size_t i = 0; i < q->report.nmoved; i++)
		if (!q->report.moved[i].name && q->report.moved[i].errnum == errnum &&
		    strcmp(q->report.moved[i].path, path) == 0)
			return true;
	return false;
}

/* No process with our uid can have created something there. */
static bool is_foreign(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid != geteuid();
}

bool ab_quarantine_is_name(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits >= 4 && name[digits] == '-';
}

void ab_quarantine_take(struct ab_quarantine *q, int fd, const char *path, const char *name)
{
	ab_autofree char *full = ab_path_join(path, name);
	char as[NAME_MAX + 1];
	struct stat st;
	int rc = EEXIST;

	/* A pattern also matches what existed at the start, which is closed. */
	if (ab_guards_cover(q->survey->closed, q->survey->nclosed, full))
		return;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT || (errno == EACCES && is_foreign(fd)))
			return;
		st.st_mode = 0;
	}
	for (int i = 0; i < TRIES && rc == EEXIST; i++) {
		snprintf(as, sizeof(as), "%04u-%.200s", q->next++, name);
		rc = ab_move(fd, name, q->dir, as, q->inside);
	}
	if (rc == ENOENT || (rc != 0 && is_reported(q, full, rc)))
		return;
	add_report(q, (struct ab_moved){
			      .path = ab_take(full),
			      .kind = ab_node_of(st.st_mode),
			      .name = rc == 0 || rc == ENOTEMPTY ? ab_strdup(as) : NULL,
			      .errnum = rc,
		      });
}

static void add_names(struct ab_held *h, const char *name)
{
	ab_strv_add_once(&h->names, name);
}

/* Takes ownership of fd. */
static struct ab_held *hold_folder(struct ab_quarantine *q, int fd, const char *path, bool given)
{
	if ((q->nheld & (q->nheld + 1)) == 0)
		q->held = ab_realloc(q->held, 2 * (q->nheld + 1) * sizeof(q->held[0]));
	q->held[q->nheld] = (struct ab_held){ .fd = fd, .path = ab_strdup(path), .given = given };
	return &q->held[q->nheld++];
}

static void sweep_name(struct ab_quarantine *q, int fd, const char *path, const char *name,
		       const char *rest, bool live);

/* Sweep everything in this folder that matches the name (or pattern). */
static void sweep_names(struct ab_quarantine *q, int fd, const char *path, const char *name,
			bool live)
{
	ab_autofree char *one = ab_strndup(name, strcspn(name, "/"));
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int dir = -1;
	const char *rest;

	if (!ab_path_is_pattern(one)) {
		if (ab_name_starts(name, one, &rest))
			sweep_name(q, fd, path, one, rest, live);
		return;
	}
	dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || ab_listing_read(&l, dir, LIST_MAX) < 0 || l.cut) {
		ab_autofree char *shown = ab_escape(path);

		ab_strv_addf(&q->report.findings, "%s could not be searched for %s", shown, name);
	}
	for (size_t i = 0; i < l.len; i++)
		if (ab_name_starts(name, l.v[i].name, &rest) &&
		    !ab_survey_existed(q->survey, path, l.v[i].name))
			sweep_name(q, fd, path, l.v[i].name, rest, live);
}

/*
 * A parent folder of a protected name (".config" of ".config/fish") is harmless
 * itself: enter it, and also watch it while the box runs.
 */
static void sweep_below(struct ab_quarantine *q, int dir, const char *path, const char *rest,
			bool live)
{
	struct ab_held *h = NULL;
	int fd;

	for (size_t i = 0; i < q->nheld && live; i++)
		if (!q->held[i].given && strcmp(q->held[i].path, path) == 0) {
			/* Created again: the old one is another folder. */
			struct stat a, b;

			if (fstat(q->held[i].fd, &a) == 0 && fstat(dir, &b) == 0 &&
			    a.st_ino == b.st_ino && a.st_dev == b.st_dev)
				h = &q->held[i];
		}
	if (!h && live && q->nheld < LIVE_MAX) {
		fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
		if (fd >= 0)
			h = hold_folder(q, fd, path, false);
	}
	if (h)
		add_names(h, rest);
	/* After the watch is set, so that nothing is missed. */
	sweep_names(q, dir, path, rest, live);
}

static void sweep_name(struct ab_quarantine *q, int fd, const char *path, const char *name,
		       const char *rest, bool live)
{
	ab_autofree char *below = NULL;
	ab_autoclose int dir = -1;
	struct stat st;

	if (live && q->report.nmoved >= MOVES_MAX)
		return;
	if (!rest[0]) {
		ab_quarantine_take(q, fd, path, name);
		return;
	}
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	/* A link in place of a folder leads to names that we do not see. */
	if (S_ISLNK(st.st_mode)) {
		ab_quarantine_take(q, fd, path, name);
		return;
	}
	dir = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 && errno == EACCES)
		ab_quarantine_take(q, fd, path, name);
	if (dir < 0)
		return;
	below = ab_path_join(path, name);
	sweep_below(q, dir, below, rest, live);
}

/*
 * Most names do not exist: listing a small folder once is cheaper than looking up each
 * of them. A name that is created after the listing changes the folder again, and
 * the next check finds it.
 */
static void sweep_held(struct ab_quarantine *q, size_t index, bool live)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int dir = openat(q->held[index].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool listed = dir >= 0 && ab_listing_read(&l, dir, SMALL_FOLDER) == 0 && !l.cut;

	/* By index, because the list may grow meanwhile. */
	for (size_t i = 0; i < q->held[index].names.len; i++) {
		const struct ab_held *h = &q->held[index];
		const char *name = h->names.v[i];
		ab_autofree char *first = ab_strndup(name, strcspn(name, "/"));

		if (listed && !ab_path_is_pattern(first) && !ab_listing_find(&l, first))
			continue;
		sweep_names(q, h->fd, h->path, name, live);
	}
}

static void hold_watch(struct ab_quarantine *q, const struct ab_watch *w)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, w->dir, O_PATH | O_DIRECTORY);
	struct ab_held *h;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != w->dev || st.st_ino != w->ino) {
		ab_autofree char *shown = ab_escape(w->dir);

		ab_strv_addf(
			&q->report.findings,
			"%s was replaced during the run; files that were created in it were not moved",
			shown);
		return;
	}
	h = hold_folder(q, ab_take_fd(&fd), w->dir, true);
	if (q->survey->started.tv_sec - w->changed.tv_sec > 1)
		h->seen = w->changed;
	for (size_t i = 0; i < w->names.len; i++)
		ab_strv_add(&h->names, w->names.v[i]);
}

/*
 * A process that has a folder open keeps it when it is renamed, and ".." from its new
 * place leads to our own folders, past the mask above them. The kernel forbids
 * that step only if it leaves the mount, that is, the writable root. No process
 * has a copy open.
 */
static bool is_inside(const struct ab_survey *survey, int dir)
{
	ab_autofree char *path = ab_real_path(dir);

	for (size_t i = 0; path && i < survey->write.len; i++)
		if (ab_path_within(path, survey->write.v[i]))
			return true;
	return !path;
}

int ab_quarantine_open(const struct ab_survey *survey, int dir, struct ab_quarantine **ret,
		       struct ab_error *err)
{
	struct ab_quarantine *q;
	struct stat st;

	if (fstat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		return ab_fail(err, AB_ESYSTEM, errno, "the quarantine is not a folder");
	q = ab_alloc(sizeof(*q));
	q->survey = survey;
	q->dir = dir;
	q->inside = is_inside(survey, dir);
	for (size_t i = 0; i < survey->nwatch && i < LIVE_MAX; i++)
		hold_watch(q, &survey->watch[i]);
	*ret = q;
	return 0;
}

/*
 * A change in the same clock tick as our check does not change the ctime, so a folder
 * that has just changed is checked once more.
 */
static bool has_changed(struct ab_held *h)
{
	struct timespec now;
	struct stat st;
	bool changed;

	if (fstat(h->fd, &st) < 0)
		return true;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	changed = st.st_ctim.tv_sec != h->seen.tv_sec || st.st_ctim.tv_nsec != h->seen.tv_nsec;
	h->seen = now.tv_sec - st.st_ctim.tv_sec > 1 ? st.st_ctim : (struct timespec){ 0 };
	return changed;
}

void ab_quarantine_look(struct ab_quarantine *q)
{
	size_t n = q->nheld;

	for (size_t i = 0; i < n; i++)
		if (has_changed(&q->held[i])) {
			q->touched = true;
			sweep_held(q, i, true);
		}
}

void ab_quarantine_sweep(struct ab_quarantine *q)
{
	size_t n = q->nheld;

	/* Once something has changed, check everything: a parent of a name may
	 * have been created, or a move may have exceeded a limit. */
	for (size_t i = 0; i < n; i++)
		if (q->held[i].given && (q->touched || has_changed(&q->held[i])))
			sweep_held(q, i, false);
	/* Open the folders that were not watched now, one at a time. */
	for (size_t i = LIVE_MAX; i < q->survey->nwatch; i++) {
		size_t before = q->nheld;

		hold_watch(q, &q->survey->watch[i]);
		if (q->nheld == before)
			continue;
		sweep_held(q, before, false);
		q->nheld--;
		close(q->held[before].fd);
		free(q->held[before].path);
		ab_strv_fini(&q->held[before].names);
	}
}

void ab_quarantine_accept(struct ab_quarantine *q, const char *path)
{
	ab_autofree char *dir = ab_path_parent(path);

	for (size_t i = 0; i < q->nheld; i++) {
		struct ab_strv *names = &q->held[i].names;

		for (size_t k = names->len; strcmp(q->held[i].path, dir) == 0 && k-- > 0;)
			if (strcmp(names->v[k], ab_path_name(path)) == 0)
				ab_strv_remove(names, k);
	}
}

const struct ab_quarantine_report *ab_quarantine_report(const struct ab_quarantine *q)
{
	return &q->report;
}

void ab_quarantine_close(struct ab_quarantine *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->nheld; i++) {
		close(q->held[i].fd);
		free(q->held[i].path);
		ab_strv_fini(&q->held[i].names);
	}
	free(q->held);
	for (size_t i = 0; i < q->report.nmoved; i++) {
		free(q->report.moved[i].path);
		free(q->report.moved[i].name);
	}
	free(q->report.moved);
	ab_strv_fini(&q->report.findings);
	ab_strv_fini(&q->report.notes);
	free(q);
}
