/*
 * Theory of operation.
 *
 * A git directory counts as the run's work if the survey did not know it. In it,
 * every configuration file and hook that changed since the start is examined: the
 * kernel sets the ctime, and the box cannot set it back. An older repository
 * that the survey did not reach is so left alone until the run changes it.
 *
 * New ones are found where they can appear: in the checkouts of the survey and in
 * folders that the run creates there (bounded), in "modules" and "worktrees" of a
 * git directory, and wherever the index of a repository names a submodule, at any
 * depth. The rest is found by the review at the end.
 *
 * Submodules are looked for below every checkout of a git directory: git takes the
 * folder whose ".git" led it there, or the one of core.worktree, whatever the git
 * directory is called. Several checkouts may lead to one git directory.
 *
 * A file that is moved is replaced by one with the harmless settings only. The
 * box can change that again; then it is moved again, and the third time the run
 * ends.
 */
#include <dirent.h>

#include "base/system/folder.h"
#include "workspace/git/gitlink.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/quarantine/shared.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/names.h"
#include "workspace/tree/tree_walk.h"

#define GROW_DEPTH 6
#define GROWN_MAX 256
#define REPOS_MAX 64
#define TOPS_MAX 128
#define PENDING_MAX AB_REPO_LINKS_MAX
#define LIST_MAX 1000
#define UNREAD_MS 3000

/* ------------------------------------------------------- one git directory */

/* A git directory that is older than the run may have hooks that are. */
static bool is_older(const struct ab_quarantine *q, int gitdir)
{
	const struct timespec *since = &q->survey->started;
	struct statx x;

	return statx(gitdir, "", AT_EMPTY_PATH, STATX_BTIME, &x) == 0 &&
	       (x.stx_mask & STATX_BTIME) && x.stx_btime.tv_sec < since->tv_sec;
}

static void take_hooks(struct ab_quarantine *q, int gitdir, const char *path)
{
	ab_autofree char *hooks = ab_path_join(path, "hooks");
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd =
		openat(gitdir, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool older = is_older(q, gitdir);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return;
	/* A link, or something that cannot be listed: take all of it. */
	if (fd < 0 || ab_listing_read(&l, fd, LIST_MAX) < 0 || l.cut) {
		if (fstatat(gitdir, "hooks", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    ab_quarantine_is_new(q, &st))
			ab_quarantine_take(q, gitdir, path, "hooks", "hooks", AB_TAKE_PART, NULL);
		return;
	}
	for (size_t i = 0; i < l.len; i++) {
		if (ab_name_is_sample(l.v[i].name) ||
		    fstatat(fd, l.v[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    (older && !ab_quarantine_is_new(q, &st)))
			continue;
		ab_quarantine_take(q, fd, hooks, l.v[i].name, l.v[i].name, AB_TAKE_PART, NULL);
	}
}

/* COMMON/worktrees/NAME with "../..": git itself creates no other one. */
static bool commondir_is_usual(int gitdir, const char *path)
{
	ab_autofree char *list = ab_path_parent(path), *data = NULL, *line = NULL;
	size_t len;

	if (strcmp(ab_path_name(list), "worktrees") != 0 ||
	    ab_read_small(gitdir, "commondir", AB_GITLINK_MAX, &data, &len) < 0)
		return false;
	/* About to be written; git does not accept it yet. */
	if (len == 0)
		return true;
	line = ab_gitlink_line(data, len);
	return line && strcmp(line, "../..") == 0;
}

static void take_commondir(struct ab_quarantine *q, int gitdir, const char *path)
{
	struct stat st;

	if (fstatat(gitdir, "commondir", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    ab_quarantine_is_new(q, &st) && !commondir_is_usual(gitdir, path))
		ab_quarantine_take(q, gitdir, path, "commondir", "commondir", AB_TAKE_PART,
				   "configuration of another folder");
}

void ab_repos_clean(struct ab_quarantine *q, int gitdir, const char *path)
{
	ab_repo_config_clean(q, gitdir, path, "config");
	ab_repo_config_clean(q, gitdir, path, "config.worktree");
	take_commondir(q, gitdir, path);
	take_hooks(q, gitdir, path);
}

bool ab_repos_is_bare(int fd, const struct ab_listing *l)
{
	return ab_listing_may_have(l, "HEAD") &&
	       (ab_listing_may_have(l, "commondir") ||
		(ab_listing_may_have(l, "objects") && ab_listing_may_have(l, "refs"))) &&
	       faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --------------------------------------------------------------- the index */

static bool look_at_checkout(struct ab_quarantine *q, int fd, const char *path);

/* True: there is nothing more to see. Submodules that existed at the start are closed. */
static bool look_at_link(struct ab_quarantine *q, const char *checkout, const char *link)
{
	ab_autoclose int top = ab_open_beneath(AT_FDCWD, checkout, O_PATH | O_DIRECTORY);
	ab_autoclose int fd = top < 0 ? -1 : ab_open_beneath(top, link, O_RDONLY | O_DIRECTORY);
	ab_autofree char *path = ab_path_join(checkout, link);

	if (fd < 0)
		return false;
	return !ab_quarantine_is_writable(q, path) || look_at_checkout(q, fd, path);
}

static size_t count_pending(const struct ab_repo *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->ntops; i++)
		n += r->tops[i].pending.len;
	return n;
}

/* By index: looking at a submodule may add repositories and checkouts. */
static void take_link(struct ab_quarantine *q, size_t repo, size_t top, const char *link)
{
	struct ab_repo *r = &q->repos[repo];

	if (look_at_link(q, r->tops[top].path, link))
		return;
	r = &q->repos[repo];
	if (count_pending(r) < PENDING_MAX)
		ab_strv_add_once(&r->tops[top].pending, link);
	else
		q->cut = true;
}

/* Several folders may lead to the same git directory; each has submodules of its own. */
static void add_top(struct ab_quarantine *q, size_t repo, const char *path)
{
	struct ab_repo *r = &q->repos[repo];
	size_t top = r->ntops;

	if (ab_find_row(r->tops, r->ntops, path, path))
		return;
	if (q->ntops >= TOPS_MAX) {
		q->cut = true;
		return;
	}
	q->ntops++;
	r->tops = ab_realloc(r->tops, ++r->ntops * sizeof(r->tops[0]));
	r->tops[top] = (struct ab_repo_top){ .path = ab_strdup(path) };
	for (size_t i = 0; i < q->repos[repo].links.len; i++)
		take_link(q, repo, top, q->repos[repo].links.v[i]);
}

/* Was its checkout created since the start? */
static bool link_is_new(const struct ab_quarantine *q, const struct ab_repo *r, const char *link)
{
	ab_autofree char *git = ab_printf("%s/%s/.git", r->tops[0].path, link);
	struct stat st;

	return lstat(git, &st) == 0 && ab_quarantine_is_new(q, &st);
}

/* `fresh`: the run added what is not known yet; otherwise it did so if it created the
 * submodule too. */
static void take_links(struct ab_quarantine *q, size_t repo, const struct ab_strv *found,
		       bool fresh)
{
	for (size_t i = 0; i < found->len; i++) {
		struct ab_repo *r = &q->repos[repo];

		if (ab_strv_has(&r->links, found->v[i]))
			continue;
		if (r->known && (fresh || link_is_new(q, r, found->v[i])))
			ab_quarantine_alert(
				q,
				"the run added the submodule %s to the index of %s: git "
				"commands there read its settings",
				found->v[i], r->tops[0].path);
		ab_strv_add(&r->links, found->v[i]);
		for (size_t k = 0; k < q->repos[repo].ntops; k++)
			take_link(q, repo, k, found->v[i]);
	}
}

static void look_at_pending(struct ab_quarantine *q, size_t repo)
{
	for (size_t k = 0; k < q->repos[repo].ntops; k++) {
		const char *path = q->repos[repo].tops[k].path;

		for (size_t i = q->repos[repo].tops[k].pending.len; i-- > 0;) {
			ab_autofree char *link = ab_strdup(q->repos[repo].tops[k].pending.v[i]);

			if (look_at_link(q, path, link))
				ab_strv_remove(&q->repos[repo].tops[k].pending, i);
		}
	}
}

static void look_again_at(struct ab_quarantine *q, struct ab_repo *r, int64_t when)
{
	r->dirty = true;
	if (!q->repos_at || when < q->repos_at)
		q->repos_at = when;
}

static void alert_unread(struct ab_quarantine *q, const char *gitdir)
{
	ab_quarantine_alert(
		q,
		"%s/index cannot be read: look for submodules that the run added before "
		"you use git there",
		gitdir);
}

void ab_repos_submodules(struct ab_quarantine *q, int gitdir, const char *path, struct ab_strv *ret)
{
	struct ab_repo_index index;
	struct stat st;

	if (fstatat(gitdir, "index", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    ab_repo_index_read(&index, gitdir, ret) < 0 && ab_quarantine_is_new(q, &st))
		alert_unread(q, path);
}

/* git renames a complete index into place, but other programs copy one: only an index that stays
 * unreadable is told. */
static void tell_unread(struct ab_quarantine *q, struct ab_repo *r, int64_t now)
{
	if (r->unread)
		return;
	if (!r->unread_at)
		r->unread_at = now + UNREAD_MS;
	if (q->live && now < r->unread_at) {
		r->index.own.ino = 0; /* read it again */
		look_again_at(q, r, r->unread_at);
		return;
	}
	r->unread = true;
	alert_unread(q, r->path);
}

static void look_at_index(struct ab_quarantine *q, size_t repo)
{
	struct ab_repo *r = &q->repos[repo];
	ab_autostrv struct ab_strv found = { 0 };
	int64_t now = ab_now_ms();
	struct stat st;
	bool fresh;

	if (!r->ntops || fstatat(r->fd, "index", &st, AT_SYMLINK_NOFOLLOW) < 0) {
		r->unread_at = 0;
		return;
	}
	if (ab_repo_index_is_read(&r->index, r->fd))
		return;
	/* At most half of the time is spent on an index that changes all the time. */
	if (q->live && now < r->index_at) {
		look_again_at(q, r, r->index_at);
		return;
	}
	if (ab_repo_index_read(&r->index, r->fd, &found) == 0)
		r->unread_at = 0;
	else if (ab_quarantine_is_new(q, &st))
		tell_unread(q, r, now);
	fresh = r->based;
	r->based |= !r->unread_at || r->unread;
	r->index_at = ab_now_ms() + (ab_now_ms() - now);
	take_links(q, repo, &found, fresh);
}

/* ------------------------------------------------------------ finding them */

/* git follows links here. A folder that does not exist yet is looked for again. */
static void add_configured(int gitdir, const char *file, struct ab_strv *ret)
{
	ab_autofree char *to = ab_gitlink_worktree(gitdir, file);
	ab_autoclose int fd = to ? openat(gitdir, to, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	ab_autofree char *real = fd < 0 ? NULL : ab_real_path(fd);

	if (real)
		ab_strv_add_once(ret, real);
}

void ab_repos_tops(int gitdir, const char *path, struct ab_strv *ret)
{
	ab_autofree char *data = NULL, *line = NULL, *full = NULL;
	size_t len;

	if (strcmp(ab_path_name(path), ".git") == 0)
		ab_strv_give(ret, ab_path_parent(path));
	if (ab_read_small(gitdir, "gitdir", AB_GITLINK_MAX, &data, &len) == 0) {
		line = ab_gitlink_line(data, len);
		full = line ? ab_path_resolve(line, path, NULL) : NULL;
		if (full)
			ab_strv_give(ret, ab_path_parent(full));
	}
	add_configured(gitdir, "config", ret);
	add_configured(gitdir, "config.worktree", ret);
}

static void find_tops(struct ab_quarantine *q, size_t repo)
{
	ab_autostrv struct ab_strv tops = { 0 };

	ab_repos_tops(q->repos[repo].fd, q->repos[repo].path, &tops);
	for (size_t i = 0; i < tops.len; i++)
		add_top(q, repo, tops.v[i]);
}

static ssize_t find_repo(const struct ab_quarantine *q, const struct stat *st)
{
	for (size_t i = 0; i < q->nrepos; i++)
		if (q->repos[i].dev == st->st_dev && q->repos[i].ino == st->st_ino)
			return (ssize_t)i;
	return -1;
}

bool ab_repos_has_top(const struct ab_quarantine *q, int gitdir, const char *top)
{
	struct stat st;
	ssize_t repo;

	if (q->cut || fstat(gitdir, &st) < 0)
		return false;
	repo = find_repo(q, &st);
	return repo >= 0 && ab_find_row(q->repos[repo].tops, q->repos[repo].ntops, path, top);
}

/* `top`: the checkout that leads to it, or NULL. */
static void add_repo(struct ab_quarantine *q, int gitdir, const char *path, const char *top)
{
	bool known = ab_strv_has(&q->survey->repos, path);
	struct ab_repo *r;
	struct stat st;
	ssize_t found;

	if (fstat(gitdir, &st) < 0)
		return;
	found = find_repo(q, &st);
	if (found >= 0) {
		bool first = !q->repos[found].ntops;

		if (top)
			add_top(q, (size_t)found, top);
		if (top && first)
			ab_repos_look(q, (size_t)found);
		return;
	}
	if (q->nrepos >= REPOS_MAX) {
		q->cut = true;
		if (!known)
			ab_repos_clean(q, gitdir, path);
		return;
	}
	r = ab_append(q->repos, q->nrepos);
	*r = (struct ab_repo){ .fd = openat(gitdir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			       .hooks = -1,
			       .wd = -1,
			       .hooks_wd = -1,
			       .dev = st.st_dev,
			       .ino = st.st_ino,
			       .path = ab_strdup(path),
			       .known = known };
	if (r->fd < 0)
		r->fd = fcntl(gitdir, F_DUPFD_CLOEXEC, 3);
	/* The first index that is read tells what was there before. */
	r->based = fstatat(gitdir, "index", &st, AT_SYMLINK_NOFOLLOW) < 0;
	found = (ssize_t)q->nrepos - 1;
	find_tops(q, (size_t)found);
	if (top)
		add_top(q, (size_t)found, top);
	ab_repos_look(q, (size_t)found);
}

static void watch_lists(struct ab_quarantine *q, size_t repo)
{
	static const char *const lists[] = { "modules", "worktrees" };
	ab_autofree char *path = ab_strdup(q->repos[repo].path);

	for (size_t i = 0; i < AB_COUNT(lists); i++)
		if (ab_folder_is(q->repos[repo].fd, lists[i]))
			ab_repos_enter(q, q->repos[repo].fd, path, lists[i], GROW_DEPTH);
}

void ab_repos_look(struct ab_quarantine *q, size_t repo)
{
	struct ab_repo *r = &q->repos[repo];
	ab_autofree char *path = ab_strdup(r->path);

	if (!r->known && r->hooks < 0)
		r->hooks = openat(r->fd, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Before the look, so that nothing is missed. */
	ab_quarantine_watch_repo(q, r);
	if (!r->known) {
		ab_repos_clean(q, r->fd, path);
		find_tops(q, repo);
	}
	look_at_index(q, repo);
	look_at_pending(q, repo);
	if (q->live)
		watch_lists(q, repo);
}

bool ab_repos_concerns(const struct ab_repo *repo, const char *name)
{
	static const char *const read[] = { "",	     "config", "config.worktree", "commondir",
					    "hooks", "gitdir", "modules",	  "worktrees" };

	for (size_t i = 0; i < AB_COUNT(read); i++)
		if (ab_name_may_be(name, read[i]))
			return true;
	return ab_repo_index_has_name(name) || count_pending(repo) > 0;
}

/* The git directory of the checkout `top` is elsewhere: a .git file or link leads to it. */
static void look_elsewhere(struct ab_quarantine *q, const char *top, const char *real)
{
	ab_autoclose int fd = -1;

	if (!ab_strv_has(&q->survey->repos, real) && !ab_quarantine_is_writable(q, real)) {
		ab_quarantine_alert(q, "%s/.git was created by the run and points git to %s", top,
				    real);
		return;
	}
	fd = ab_open_beneath(AT_FDCWD, real, O_RDONLY | O_DIRECTORY);
	if (fd >= 0)
		add_repo(q, fd, real, top);
}

/* A link to a folder, as git itself never creates it. git also follows one to a file that names
 * the folder; no tool needs that. */
static char *follow_link(struct ab_quarantine *q, int fd, const char *path, const char *git,
			 const struct stat *link)
{
	char *real = realpath(git, NULL);
	struct stat st;

	if (real && stat(real, &st) == 0 && S_ISREG(st.st_mode) && ab_quarantine_is_new(q, link))
		ab_quarantine_take(q, fd, path, ".git", ".git", AB_TAKE_PART,
				   "through another file");
	return real;
}

/* False: there is no git directory, or not yet. */
static bool look_at_checkout(struct ab_quarantine *q, int fd, const char *path)
{
	ab_autofree char *git = ab_path_join(path, ".git"), *real = NULL;
	ab_autoclose int gitdir =
		openat(fd, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct ab_gitlink l;
	struct stat st;

	if (gitdir >= 0) {
		add_repo(q, gitdir, git, path);
		return true;
	}
	if (fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (S_ISLNK(st.st_mode)) {
		real = follow_link(q, fd, path, git, &st);
	} else if (S_ISREG(st.st_mode)) {
		if (ab_gitlink_read(path, &l) == 0)
			real = ab_strdup(l.gitdir);
		ab_gitlink_fini(&l);
	}
	if (real)
		look_elsewhere(q, path, real);
	return real;
}

static bool is_generated(const char *name)
{
	return ab_walk_is_generated(name) || strcmp(name, ".git") == 0;
}

static struct ab_held_folder *find_held(struct ab_quarantine *q, const struct stat *st)
{
	for (size_t i = 0; i < q->nheld; i++)
		if (q->held[i].ino == st->st_ino && q->held[i].dev == st->st_dev)
			return &q->held[i];
	return NULL;
}

/* There is a ".git" in a folder that grows. */
static void look_at_new_checkout(struct ab_quarantine *q, size_t held, int fd, const char *path)
{
	bool read = look_at_checkout(q, fd, path);

	/* It may have been written before the watch was set. */
	if (!q->held[held].gitfile && (!read || !ab_folder_is(fd, ".git"))) {
		q->held[held].gitfile = true;
		ab_quarantine_watch_writes(q, &q->held[held]);
		look_at_checkout(q, fd, path);
	}
}

void ab_repos_enter(struct ab_quarantine *q, int at, const char *path, const char *name,
		    unsigned grow)
{
	ab_autofree char *full = ab_path_join(path, name);
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	ab_autoclose int fd =
		at < 0 ? ab_open_beneath(AT_FDCWD, full, flags) : openat(at, name, flags);
	struct ab_held_folder *h;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	h = find_held(q, &st);
	if (!h && q->ngrown >= GROWN_MAX) {
		q->cut = true;
		return;
	}
	if (!h) {
		q->ngrown++;
		h = ab_quarantine_hold(q, ab_take_fd(&fd), full, false);
	} else if (h->grow >= grow) {
		return;
	}
	h->grow = grow;
	ab_quarantine_watch_held(q, h);
	ab_repos_list(q, (size_t)(h - q->held));
}

static void look_at_bare(struct ab_quarantine *q, size_t held)
{
	ab_autoclose int fd = openat(q->held[held].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autofree char *path = ab_strdup(q->held[held].path);
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0 || ab_listing_read(&l, fd, LIST_MAX) < 0 || !ab_repos_is_bare(fd, &l))
		return;
	q->held[held].grow = 0;
	add_repo(q, fd, path, NULL);
}

void ab_repos_appeared(struct ab_quarantine *q, size_t held, const char *name, bool folder)
{
	static const char *const parts[] = { "HEAD", "objects", "refs", "commondir", "config" };
	ab_autofree char *path = ab_strdup(q->held[held].path);
	int fd = q->held[held].fd;

	if (!folder)
		ab_shared_appeared(q, held, name);
	if (ab_name_may_be(name, ".git"))
		look_at_new_checkout(q, held, fd, path);
	for (size_t i = 0; i < AB_COUNT(parts); i++)
		if (ab_name_may_be(name, parts[i]))
			look_at_bare(q, held);
	if (folder && q->held[held].grow > 1 && !is_generated(name))
		ab_repos_enter(q, fd, path, name, q->held[held].grow - 1);
}

/* Old folders are not entered: nothing new appeared in them, or it has its own watch. */
static bool is_new_folder(const struct ab_quarantine *q, int fd, const struct ab_entry *e)
{
	struct stat st;

	return (e->type == DT_DIR || e->type == DT_UNKNOWN) && !is_generated(e->name) &&
	       fstatat(fd, e->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	       ab_quarantine_is_new(q, &st);
}

void ab_repos_list(struct ab_quarantine *q, size_t held)
{
	ab_autoclose int fd = openat(q->held[held].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_autofree char *path = ab_strdup(q->held[held].path);
	unsigned grow = q->held[held].grow;
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0 || ab_listing_read(&l, fd, LIST_MAX) < 0) {
		q->cut = true;
		return;
	}
	q->cut |= l.cut;
	ab_shared_list(q, held, &l);
	if (ab_listing_may_have(&l, ".git"))
		look_at_new_checkout(q, held, fd, path);
	if (ab_repos_is_bare(fd, &l)) {
		q->held[held].grow = 0;
		add_repo(q, fd, path, NULL);
		return;
	}
	for (size_t i = 0; i < l.len && grow > 1; i++)
		if (is_new_folder(q, fd, &l.v[i]))
			ab_repos_enter(q, fd, path, l.v[i].name, grow - 1);
}

void ab_repos_begin(struct ab_quarantine *q)
{
	const struct ab_survey *s = q->survey;

	for (size_t i = 0; i < q->nheld; i++)
		if (q->held[i].given && !ab_path_within_any(q->held[i].path, &s->repos))
			q->held[i].grow = GROW_DEPTH;
	for (size_t i = 0; i < s->repos.len; i++) {
		ab_autoclose int fd =
			ab_open_beneath(AT_FDCWD, s->repos.v[i], O_RDONLY | O_DIRECTORY);

		if (fd >= 0)
			add_repo(q, fd, s->repos.v[i], NULL);
	}
	/* A root without a watch of its own. */
	for (size_t i = 0; i < s->write.len; i++) {
		ab_autofree char *above = ab_path_parent(s->write.v[i]);

		if (!ab_path_within_any(s->write.v[i], &s->repos) &&
		    strcmp(s->write.v[i], "/") != 0)
			ab_repos_enter(q, -1, above, ab_path_name(s->write.v[i]), GROW_DEPTH);
	}
}

void ab_repos_free(struct ab_quarantine *q)
{
	for (size_t i = 0; i < q->nrepos; i++) {
		struct ab_repo *r = &q->repos[i];

		ab_close_all(&r->fd, &r->hooks);
		free(r->path);
		ab_strv_fini(&r->links);
		for (size_t k = 0; k < r->ntops; k++) {
			free(r->tops[k].path);
			ab_strv_fini(&r->tops[k].pending);
		}
		free(r->tops);
	}
	free(q->repos);
}
