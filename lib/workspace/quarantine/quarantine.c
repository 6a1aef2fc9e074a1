#include "workspace/quarantine/quarantine.h"

#include "base/system/folder.h"
#include "workspace/quarantine/move.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/quarantine/shared.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/names.h"

#define LIVE_MAX 128   /* folders watched during the run; the others are swept */
#define BELOW_MAX 512  /* the same, with folders in them */
#define MOVES_MAX 512  /* while the box runs: then the run ends */
#define AGAIN_MAX 3    /* the same name: once, one retry, and then the run ends */
#define CHANGES_MAX 12 /* one file of git: tools set several different keys */
#define TRIES 64       /* for a free name in the quarantine */
#define LIST_MAX 10000
#define SMALL_FOLDER 1000

/* Report an object that cannot be moved only once. */
static bool is_reported(const struct ab_quarantine *q, const char *path, int errnum)
{
	for (size_t i = 0; i < q->report.nmoved; i++)
		if (!q->report.moved[i].name && q->report.moved[i].errnum == errnum &&
		    strcmp(q->report.moved[i].path, path) == 0)
			return true;
	return false;
}

/* How often was it moved before, and how often for the same reason? */
static size_t count_moved(const struct ab_quarantine *q, const char *path, const char *keys,
			  size_t *ret_same)
{
	size_t n = 0;

	*ret_same = 0;
	for (size_t i = 0; i < q->report.nmoved; i++) {
		const struct ab_moved *m = &q->report.moved[i];

		if (strcmp(m->path, path) != 0)
			continue;
		n++;
		*ret_same += !keys || (m->keys && strcmp(m->keys, keys) == 0);
	}
	return n;
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

unsigned ab_quarantine_number(const char *name)
{
	unsigned long n = ab_quarantine_is_name(name) ? strtoul(name, NULL, 10) : 0;

	return n <= INT_MAX ? (unsigned)n : 0;
}

void ab_quarantine_make_name(unsigned number, const char *name, char ret[AB_QUARANTINE_NAME])
{
	snprintf(ret, AB_QUARANTINE_NAME, "%04u-%.200s", number, name);
}

bool ab_quarantine_is_writable(const struct ab_quarantine *q, const char *path)
{
	return ab_path_within_any(path, &q->survey->write);
}

bool ab_quarantine_is_new(const struct ab_quarantine *q, const struct stat *st)
{
	return !ab_time_later(q->survey->started, st->st_ctim);
}

void ab_quarantine_alert(struct ab_quarantine *q, const char *fmt, ...)
{
	ab_autofree char *text = NULL, *safe = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = ab_vprintf(fmt, ap);
	va_end(ap);
	safe = ab_escape(text);
	ab_strv_add_once(&q->report.alerts, safe);
}

/* The entry of denyWrite, as the policy spells it, that a path below a watched folder has. */
static char *find_entry(const struct ab_watch *w, const char *below, bool repo)
{
	for (size_t i = 0; i < w->names.len; i++)
		if (ab_name_measure(w->names.v[i], below))
			return repo ? ab_path_join(".git", w->names.v[i])
				    : ab_strdup(w->names.v[i]);
	return NULL;
}

/* A part of a repository that the run created: ".git/hooks". */
static char *find_git_part(const char *path)
{
	const char *git = strstr(path, "/.git/");

	return git ? ab_strndup(git + 1, 5 + strcspn(git + 6, "/")) : NULL;
}

/* The entry of denyWrite that protects this path; NULL if it is not known. */
static char *name_of(const struct ab_quarantine *q, const char *path)
{
	const struct ab_watch *best = NULL;
	const char *below;
	char *entry;
	bool repo;

	for (size_t i = 0; i < q->survey->nwatch; i++) {
		const struct ab_watch *w = &q->survey->watch[i];

		if (ab_path_within(path, w->dir) && strcmp(path, w->dir) != 0 &&
		    (!best || strlen(w->dir) > strlen(best->dir)))
			best = w;
	}
	if (!best)
		return find_git_part(path);
	below = path + strlen(best->dir) + (best->dir[1] != '\0');
	repo = ab_strv_has(&q->survey->repos, best->dir);
	entry = find_entry(best, below, repo);
	if (!entry)
		entry = find_git_part(path);
	if (entry)
		return entry;
	return repo ? ab_path_join(".git", below) : ab_strdup(below);
}

/* What the run does is not an accident any more. The first reason counts. */
static void end_run(struct ab_quarantine *q, const char *path, size_t times, const char *keys,
		    enum ab_take_reason reason)
{
	ab_autofree char *shown = ab_escape(path), *raw = name_of(q, path), *name = NULL;

	if (q->ending || !q->live)
		return;
	q->ending = true;
	if (times < AGAIN_MAX)
		ab_fail(&q->why, AB_EPROPERTY, 0,
			"the run created %zu protected files, the last one was %s; the run was ended",
			q->report.nmoved, shown);
	else if (keys)
		ab_fail(&q->why, AB_EPROPERTY, 0,
			"the run put settings that are not known to be harmless into %s %zu "
			"times (%s); "
			"the run was ended",
			shown, times, keys);
	else
		ab_fail(&q->why, AB_EPROPERTY, 0,
			"the run created %s %zu times, although it is protected and was moved to "
			"quarantine each time; the run was ended",
			shown, times);
	if (keys) {
		ab_hint(&q->why, "pass such settings to git with -c, which changes no file");
	} else if (reason == AB_TAKE_SHARED) {
		ab_hint(&q->why, "a folder of filesystem.share holds files and folders only");
	} else if (reason == AB_TAKE_PART) {
		ab_hint(&q->why, "install the hooks of a new repository outside the box");
	} else if (raw) {
		name = ab_escape(raw);
		ab_hint(&q->why, "if the command may create it: --deny-write '!%s'", name);
	}
	ab_step(&q->why, "protected names");
}

/* It cannot be moved, so its name stays where tools find it: not for long. */
static void end_after_failure(struct ab_quarantine *q, const char *path, int errnum)
{
	ab_autofree char *shown = ab_escape(path);

	if (q->ending || !q->live || ++q->nfailed < AGAIN_MAX)
		return;
	q->ending = true;
	ab_fail(&q->why, AB_EPROPERTY, errnum,
		"the run created %s, which is protected and cannot be moved to quarantine; the run "
		"was ended",
		shown);
	ab_step(&q->why, "protected names");
}

/* The box may have removed our rights in its own folder. */
static bool unlock_parent(int fd, mode_t *ret_mode)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 0700) == 0700)
		return false;
	*ret_mode = st.st_mode & 07777;
	return ab_fd_chmod(fd, *ret_mode | 0700) == 0;
}

unsigned ab_quarantine_last_number(int dir)
{
	ab_autodir DIR *list = ab_folder_list(dir, ".");
	unsigned last = 0;
	const char *name;

	while ((name = ab_folder_next(list)) != NULL)
		if (ab_quarantine_number(name) > last)
			last = ab_quarantine_number(name);
	return last;
}

/* `name`: the one that the quarantine shows; `from`: the one that it has. */
static int move_numbered(struct ab_quarantine *q, int fd, const char *name, const char *from,
			 char as[AB_QUARANTINE_NAME], bool quick)
{
	mode_t mode;
	int rc = EEXIST;

	if (!q->numbered)
		q->next = ab_quarantine_last_number(q->dir);
	q->numbered = true;
	for (int i = 0; i < TRIES && rc == EEXIST; i++) {
		ab_quarantine_make_name(++q->next, name, as);
		rc = ab_move(fd, from, q->dir, as, q->inside, quick);
	}
	if ((rc == EACCES || rc == EPERM) && unlock_parent(fd, &mode)) {
		rc = ab_move(fd, from, q->dir, as, q->inside, quick);
		(void)ab_fd_chmod(fd, mode);
	}
	return rc;
}

/* What is in the quarantine now, for those who look at it later. */
static void describe_moved(const struct ab_quarantine *q, const char *as, struct ab_moved *m)
{
	m->name = ab_strdup(as);
	m->number = ab_quarantine_number(as);
	clock_gettime(CLOCK_REALTIME, &m->at);
	if (fstatat(q->dir, as, &m->st, AT_SYMLINK_NOFOLLOW) < 0)
		m->st = (struct stat){ 0 };
}

/* Give it a name that no tool knows. NULL with errno. */
static char *park_object(struct ab_quarantine *q, int fd, const char *name, size_t moved)
{
	char as[64];
	int rc = EEXIST;

	for (int i = 0; i < TRIES && rc == EEXIST; i++) {
		snprintf(as, sizeof(as), ".agentbox-quarantine-%d-%u", (int)getpid(), q->next++);
		rc = ab_move_aside(fd, name, as);
	}
	errno = rc;
	if (rc != 0)
		return NULL;
	*ab_append(q->parked, q->nparked) = (struct ab_parked){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3),
								.moved = moved,
								.name = ab_strdup(as) };
	return ab_strdup(as);
}

bool ab_quarantine_take(struct ab_quarantine *q, int fd, const char *path, const char *name,
			const char *from, enum ab_take_reason reason, const char *keys)
{
	ab_autofree char *full = ab_path_join(path, name), *parked = NULL;
	char as[AB_QUARANTINE_NAME], *entry;
	struct ab_moved m;
	struct stat st;
	size_t times, same;
	bool moved;
	int rc;

	if (fstatat(fd, from, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT || (errno == EACCES && is_foreign(fd)))
			return errno == ENOENT;
		st.st_mode = 0;
	}
	rc = move_numbered(q, fd, name, from, as, q->live);
	if (rc == ENOENT)
		return true;
	/* Not moved, or copied and not removed completely. */
	if (rc != 0) {
		parked = park_object(q, fd, from, q->report.nmoved);
		if (parked && rc == ENOTEMPTY)
			q->parked[q->nparked - 1].moved = SIZE_MAX;
	}
	if (rc != 0 && !parked) {
		q->report.nstayed += !q->live;
		end_after_failure(q, full, rc);
		if (q->live || is_reported(q, full, rc))
			return false;
	}
	moved = rc == 0 || rc == ENOTEMPTY;
	if (parked)
		rc = 0;
	times = count_moved(q, full, keys, &same) + 1;
	if (same + 1 >= AGAIN_MAX || times >= CHANGES_MAX || q->report.nmoved + 1 >= MOVES_MAX)
		end_run(q, full, times, keys, reason);
	entry = reason == AB_TAKE_SHARED ? NULL : name_of(q, full);
	m = (struct ab_moved){ .kind = ab_node_of(st.st_mode),
			       .mode = st.st_mode & 07777,
			       .entry = entry,
			       .path = ab_take(full),
			       .parked = moved ? NULL : ab_take(parked),
			       .keys = ab_strdup(keys),
			       .part = reason == AB_TAKE_PART,
			       .shared = reason == AB_TAKE_SHARED,
			       .alert = reason == AB_TAKE_PART && q->live,
			       .errnum = rc };
	if (moved)
		describe_moved(q, as, &m);
	*ab_append(q->report.moved, q->report.nmoved) = m;
	return rc == 0;
}

/* The box is gone: there is time to copy now. What is still too large stays where it
 * is, under its neutral name. */
static void move_parked(struct ab_quarantine *q)
{
	for (size_t i = 0; i < q->nparked; i++) {
		struct ab_parked *p = &q->parked[i];
		struct ab_moved *m =
			p->moved < q->report.nmoved ? &q->report.moved[p->moved] : NULL;
		char as[AB_QUARANTINE_NAME];
		int rc = move_numbered(q, p->fd, p->name, p->name, as, false);

		if (rc == 0 && m) {
			describe_moved(q, as, m);
			m->late = true;
			free(ab_take(m->parked));
		} else if (rc != 0 && rc != ENOENT) {
			ab_move_lock(p->fd, p->name);
		}
		close(p->fd);
		free(p->name);
	}
	q->nparked = 0;
}

static void free_held(struct ab_held_folder *h)
{
	close(h->fd);
	free(h->path);
	ab_strv_fini(&h->names);
}

struct ab_held_folder *ab_quarantine_hold(struct ab_quarantine *q, int fd, const char *path,
					  bool given)
{
	struct ab_held_folder *h = ab_append(q->held, q->nheld);
	struct stat st = { 0 };

	(void)fstat(fd, &st);
	*h = (struct ab_held_folder){ .fd = fd,
				      .wd = -1,
				      .dev = st.st_dev,
				      .ino = st.st_ino,
				      .path = ab_strdup(path),
				      .given = given };
	return h;
}

static void sweep_name(struct ab_quarantine *q, int fd, const char *path, const char *name,
		       const char *rest);

/* Sweep everything in this folder that matches the name (or pattern). */
static void sweep_names(struct ab_quarantine *q, int fd, const char *path, const char *name)
{
	ab_autofree char *one = ab_strndup(name, strcspn(name, "/"));
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int dir = -1;
	char as[NAME_MAX + 1];
	const char *rest;

	if (!ab_path_is_pattern(one)) {
		if (ab_name_starts(name, one, &rest))
			sweep_name(q, fd, path, one, rest);
		return;
	}
	dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || ab_listing_read(&l, dir, LIST_MAX) < 0 || l.cut)
		ab_strv_add_safe(&q->report.findings, "%s could not be searched for %s", path,
				 name);
	for (size_t i = 0; i < l.len; i++)
		if (ab_entry_starts(fd, name, l.v[i].name, as, &rest) &&
		    !ab_survey_existed(q->survey, path, l.v[i].name))
			sweep_name(q, fd, path, as, rest);
}

/*
 * A parent folder of a protected name (".config" of ".config/fish") is harmless
 * itself: enter it, and also watch it while the box runs.
 */
static void sweep_below(struct ab_quarantine *q, int dir, const char *path, const char *rest)
{
	struct ab_held_folder *h = NULL;
	int fd;

	for (size_t i = 0; i < q->nheld && q->live; i++)
		if (!q->held[i].given && strcmp(q->held[i].path, path) == 0) {
			/* Created again: the old one is another folder. */
			struct stat st;

			if (fstat(dir, &st) == 0 && q->held[i].ino == st.st_ino &&
			    q->held[i].dev == st.st_dev)
				h = &q->held[i];
		}
	if (!h && q->live && q->nheld < BELOW_MAX) {
		fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
		if (fd >= 0) {
			h = ab_quarantine_hold(q, fd, path, false);
			ab_quarantine_watch_held(q, h);
		}
	}
	if (h)
		ab_strv_add_once(&h->names, rest);
	/* After the watch is set, so that nothing is missed. */
	sweep_names(q, dir, path, rest);
}

static void sweep_name(struct ab_quarantine *q, int fd, const char *path, const char *name,
		       const char *rest)
{
	ab_autofree char *below = NULL;
	ab_autoclose int dir = -1;
	struct stat st;

	if (!rest[0]) {
		ab_quarantine_take(q, fd, path, name, name, AB_TAKE_NAME, NULL);
		return;
	}
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	/* A link in place of a folder leads to names that we do not see. */
	if (S_ISLNK(st.st_mode)) {
		ab_quarantine_take(q, fd, path, name, name, AB_TAKE_NAME, NULL);
		return;
	}
	dir = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 && errno == EACCES)
		ab_quarantine_take(q, fd, path, name, name, AB_TAKE_NAME, NULL);
	if (dir < 0)
		return;
	below = ab_path_join(path, name);
	sweep_below(q, dir, below, rest);
}

/*
 * Most names do not exist: listing a small folder once is cheaper than looking up each
 * of them. A name that is created after the listing changes the folder again, and
 * the next check finds it.
 */
static void sweep_all(struct ab_quarantine *q, size_t index)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int dir = openat(q->held[index].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool listed = dir >= 0 && ab_listing_read(&l, dir, SMALL_FOLDER) == 0 && !l.cut;

	/* By index, because the list may grow meanwhile. */
	for (size_t i = 0; i < q->held[index].names.len; i++) {
		const struct ab_held_folder *h = &q->held[index];
		ab_autofree char *name = ab_strdup(h->names.v[i]), *path = ab_strdup(h->path);
		ab_autofree char *first = ab_strndup(name, strcspn(name, "/"));

		if (listed && !ab_path_is_pattern(first) && !ab_listing_may_have(&l, first))
			continue;
		sweep_names(q, h->fd, path, name);
	}
}

void ab_quarantine_sweep_held(struct ab_quarantine *q, size_t index, const char *entry)
{
	char as[NAME_MAX + 1];
	const char *rest;

	if (!entry) {
		sweep_all(q, index);
		return;
	}
	for (size_t i = 0; i < q->held[index].names.len; i++) {
		ab_autofree char *path = NULL, *below = NULL;

		if (!ab_entry_starts(q->held[index].fd, q->held[index].names.v[i], entry, as,
				     &rest))
			continue;
		/* The lists may grow meanwhile. */
		path = ab_strdup(q->held[index].path);
		below = ab_strdup(rest);
		sweep_name(q, q->held[index].fd, path, as, below);
	}
}

static void hold_watch(struct ab_quarantine *q, const struct ab_watch *w)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, w->dir, O_PATH | O_DIRECTORY);
	struct ab_held_folder *h;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != w->dev || st.st_ino != w->ino) {
		ab_strv_add_safe(
			&q->report.findings,
			"%s was replaced during the run; files that were created in it were not moved",
			w->dir);
		return;
	}
	h = ab_quarantine_hold(q, ab_take_fd(&fd), w->dir, true);
	if (ab_quarantine_ticks_apart(&w->changed, &q->survey->started))
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

	return !path || ab_path_within_any(path, &survey->write);
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
	q->inotify = -1;
	q->arm_at = ab_now_ms() + AB_QUARANTINE_ARM_MS;
	q->next_look = ab_now_ms() + AB_QUARANTINE_POLL_MS;
	for (size_t i = 0; i < survey->nwatch && i < LIVE_MAX; i++)
		hold_watch(q, &survey->watch[i]);
	*ret = q;
	return 0;
}

void ab_quarantine_sweep(struct ab_quarantine *q)
{
	size_t n = q->nheld;

	q->live = false;
	/* Once something has changed, check everything: a parent of a name may
	 * have been created, or a move may have exceeded a limit. */
	for (size_t i = 0; i < n; i++)
		if (q->held[i].given && (q->touched || ab_quarantine_has_changed(&q->held[i])))
			sweep_all(q, i);
	/* Open the folders that were not watched now, one at a time. */
	for (size_t i = LIVE_MAX; i < q->survey->nwatch; i++) {
		size_t before = q->nheld;

		hold_watch(q, &q->survey->watch[i]);
		if (q->nheld == before)
			continue;
		sweep_all(q, before);
		free_held(&q->held[--q->nheld]);
	}
	for (size_t i = 0; i < q->nrepos; i++)
		ab_repos_look(q, i);
	ab_shared_sweep(q);
	move_parked(q);
}

bool ab_quarantine_must_end(const struct ab_quarantine *q, struct ab_error *ret)
{
	if (q->ending)
		*ret = q->why;
	return q->ending;
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
	for (size_t i = 0; i < q->nheld; i++)
		free_held(&q->held[i]);
	free(q->held);
	ab_repos_free(q);
	for (size_t i = 0; i < q->nparked; i++) {
		close(q->parked[i].fd);
		free(q->parked[i].name);
	}
	free(q->parked);
	ab_quarantine_unwatch(q);
	for (size_t i = 0; i < q->report.nmoved; i++)
		ab_free_all(q->report.moved[i].path, q->report.moved[i].name,
			    q->report.moved[i].entry, q->report.moved[i].parked,
			    q->report.moved[i].keys);
	free(q->report.moved);
	ab_strv_fini_all(&q->report.alerts, &q->report.findings, &q->report.missed);
	free(q);
}
