#include "workspace/quarantine/quarantine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "workspace/git/gitconfig.h"
#include "workspace/git/gitlink.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/survey/project_files.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/names.h"
#include "workspace/tree/tree_walk.h"

/*
 * The run created a repository if the survey did not know its git directory. A folder
 * can only have got one if its own entries changed, so the walk passes through
 * every folder but examines only changed ones. The kernel sets the change time,
 * and the box cannot set it back.
 */

#define REVIEW_DIRS 3000
#define REVIEW_ENTRIES 30000
#define REVIEW_DEPTH 8
#define REPOS_MAX 256
#define LIST_MAX 1000
#define MODULE_DEPTH 16
#define KEYS_MAX 20
#define SHOWN 20

struct review {
	struct ab_quarantine *q;
	struct ab_names names;
	struct ab_strv seen; /* examined git directories */
	struct ab_strv deep;
	size_t ndeep;
	bool cut;
};

static bool is_new(const struct review *r, const struct stat *st)
{
	const struct timespec *since = &r->q->survey->started;

	return st->st_ctim.tv_sec > since->tv_sec ||
	       (st->st_ctim.tv_sec == since->tv_sec && st->st_ctim.tv_nsec >= since->tv_nsec);
}

static bool is_inside(const struct review *r, const char *path)
{
	const struct ab_strv *write = &r->q->survey->write;

	for (size_t i = 0; i < write->len; i++)
		if (ab_path_within(path, write->v[i]))
			return true;
	return false;
}

static void add_finding(struct review *r, const char *path, const char *what)
{
	ab_autofree char *shown = ab_escape(path);

	ab_strv_addf(&r->q->report.findings, "%s %s", shown, what);
}

static void take_hooks(struct review *r, int gitdir, const char *path)
{
	ab_autofree char *hooks = ab_path_join(path, "hooks");
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd =
		openat(gitdir, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return;
	/* A link, or something that cannot be listed: take all of it. */
	if (fd < 0 || ab_listing_read(&l, fd, LIST_MAX) < 0 || l.cut) {
		ab_quarantine_take(r->q, gitdir, path, "hooks");
		return;
	}
	for (size_t i = 0; i < l.len; i++)
		if (!ab_name_is_sample(l.v[i].name))
			ab_quarantine_take(r->q, fd, hooks, l.v[i].name);
}

struct keys {
	struct ab_buf text;
	size_t n;
};

static void collect_key(void *arg, const char *key, const char *value)
{
	struct keys *k = arg;

	if (!ab_gitconfig_runs(key, value) || k->n++ >= KEYS_MAX)
		return;
	ab_buf_puts(&k->text, k->text.len ? ", " : "");
	ab_buf_escape(&k->text, key);
}

static void report_config(struct review *r, int gitdir, const char *path, const char *file)
{
	ab_autofree char *full = ab_path_join(path, file), *data = NULL;
	ab_autofree char *what = NULL;
	struct keys k = { 0 };
	size_t len;

	if (ab_read_small(gitdir, file, AB_GITCONFIG_MAX, &data, &len) < 0) {
		if (errno != ENOENT)
			add_finding(
				r, full,
				"was created by the run and cannot be read as git configuration");
		return;
	}
	if (ab_gitconfig_parse(data, len, collect_key, &k))
		add_finding(r, full, "was created by the run and is not valid git configuration");
	if (k.n > 0) {
		what = ab_printf(
			"was created by the run and names programs or files that git would use: %s%s",
			k.text.data, k.n > KEYS_MAX ? ", ..." : "");
		add_finding(r, full, what);
	}
	ab_buf_fini(&k.text);
}

static void review_lists(struct review *r, int gitdir, const char *path);

static void review_gitdir(struct review *r, int gitdir, const char *path, bool is_admin)
{
	struct stat st;

	if (ab_strv_has(&r->seen, path) || ab_strv_has(&r->q->survey->repos, path))
		return;
	if (r->seen.len >= REPOS_MAX) {
		r->cut = true;
		return;
	}
	ab_strv_add(&r->seen, path);
	take_hooks(r, gitdir, path);
	report_config(r, gitdir, path, "config");
	report_config(r, gitdir, path, "config.worktree");
	if (!is_admin && fstatat(gitdir, "commondir", &st, AT_SYMLINK_NOFOLLOW) == 0)
		add_finding(
			r, path,
			"was created by the run and takes its configuration from another folder (commondir)");
	review_lists(r, gitdir, path);
}

/* The git directories of submodules, at any depth of their name. */
static void review_modules(struct review *r, int at, const char *name, const char *path,
			   unsigned depth)
{
	ab_autoclose int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };
	struct stat st;

	if (fd < 0)
		return;
	if (depth > 0 && fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0) {
		review_gitdir(r, fd, path, false);
		return;
	}
	if (depth > MODULE_DEPTH || ab_listing_read(&l, fd, LIST_MAX) < 0 || l.cut) {
		r->cut = true;
		return;
	}
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *sub = ab_path_join(path, l.v[i].name);

		review_modules(r, fd, l.v[i].name, sub, depth + 1);
	}
}

/* "../..": git itself creates admin folders only there. */
static bool commondir_is_usual(int admin)
{
	ab_autofree char *data = NULL, *line = NULL;
	size_t len;

	if (ab_read_small(admin, "commondir", AB_GITLINK_MAX, &data, &len) < 0)
		return errno == ENOENT;
	line = ab_gitlink_line(data, len);
	return line && strcmp(line, "../..") == 0;
}

static void review_lists(struct review *r, int gitdir, const char *path)
{
	ab_autofree char *modules = ab_path_join(path, "modules");
	ab_autofree char *worktrees = ab_path_join(path, "worktrees");
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = -1;

	review_modules(r, gitdir, "modules", modules, 0);
	fd = openat(gitdir, "worktrees", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (ab_listing_read(&l, fd, LIST_MAX) < 0 || l.cut)
		r->cut = true;
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *admin = ab_path_join(worktrees, l.v[i].name);
		ab_autoclose int sub =
			openat(fd, l.v[i].name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (sub < 0 || ab_strv_has(&r->q->survey->repos, admin))
			continue;
		if (!commondir_is_usual(sub))
			add_finding(
				r, admin,
				"was created by the run and takes its configuration from another folder");
		review_gitdir(r, sub, admin, true);
	}
}

/* The git directory is elsewhere: a .git file or link leads to it. */
static void review_elsewhere(struct review *r, const char *git, const char *real)
{
	ab_autoclose int fd = -1;

	if (ab_strv_has(&r->q->survey->repos, real))
		return;
	if (!is_inside(r, real)) {
		ab_autofree char *to = ab_escape(real);
		ab_autofree char *what =
			ab_printf("was created by the run and points git to %s", to);

		add_finding(r, git, what);
		return;
	}
	fd = ab_open_beneath(AT_FDCWD, real, O_RDONLY | O_DIRECTORY);
	if (fd < 0) {
		add_finding(r, git, "points to a git directory that cannot be opened");
		return;
	}
	/* Admin folders are reviewed with the list that contains them. */
	if (faccessat(fd, "commondir", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		ab_autofree char *list = ab_path_parent(real);
		ab_autofree char *common = ab_path_parent(list);

		if (strcmp(ab_path_name(list), "worktrees") == 0) {
			review_elsewhere(r, git, common);
			review_gitdir(r, fd, real, true);
			return;
		}
	}
	review_gitdir(r, fd, real, false);
}

static void review_checkout(struct review *r, int fd, const char *path)
{
	ab_autofree char *git = ab_path_join(path, ".git"), *real = NULL;
	ab_autoclose int gitdir = -1;
	struct ab_gitlink l;
	struct stat st;

	if (fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	gitdir = openat(fd, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (gitdir >= 0) {
		review_gitdir(r, gitdir, git, false);
	} else if (S_ISLNK(st.st_mode)) {
		real = realpath(git, NULL);
		if (real)
			review_elsewhere(r, git, real);
	} else if (S_ISREG(st.st_mode)) {
		if (ab_gitlink_read(path, &l) == 0)
			review_elsewhere(r, git, l.gitdir);
		ab_gitlink_fini(&l);
	} else if (S_ISDIR(st.st_mode)) {
		add_finding(r, git, "was created by the run and cannot be examined");
	}
}

static bool is_watched(const struct review *r, const char *path)
{
	const struct ab_survey *s = r->q->survey;

	for (size_t i = 0; i < s->nwatch; i++)
		if (strcmp(s->watch[i].dir, path) == 0)
			return true;
	return false;
}

static void find_names(struct review *r, int fd, const char *path, const struct ab_listing *l)
{
	const char *rest;
	struct stat st;

	for (size_t i = 0; i < l->len; i++) {
		const char *name = l->v[i].name;

		if (!ab_names_touch(&r->names, name))
			continue;
		for (size_t k = 0; k < r->names.top.len; k++) {
			if (!ab_name_starts(r->names.top.v[k], name, &rest))
				continue;
			if (fstatat(fd, rest[0] ? r->names.top.v[k] : name, &st,
				    AT_SYMLINK_NOFOLLOW) < 0 ||
			    !is_new(r, &st))
				continue;
			if (r->ndeep++ < SHOWN)
				ab_strv_give(&r->deep, ab_path_join(path, name));
			break;
		}
	}
}

static bool review_folder(void *arg, int fd, const char *path, unsigned depth,
			  const struct ab_listing *l)
{
	struct review *r = arg;
	struct stat st;

	(void)depth;
	if (fstat(fd, &st) < 0 || !is_new(r, &st))
		return true;
	if (ab_listing_find(l, ".git"))
		review_checkout(r, fd, path);
	if (ab_listing_find(l, "HEAD") && ab_listing_find(l, "objects") &&
	    ab_listing_find(l, "refs"))
		review_gitdir(r, fd, path, false);
	if (!is_watched(r, path))
		find_names(r, fd, path, l);
	return true;
}

static void report_names(struct review *r)
{
	ab_autobuf struct ab_buf b = { 0 };

	if (r->ndeep == 0)
		return;
	ab_buf_printf(
		&b,
		"the run created or changed %zu file%s in deeper folders that tools may run or obey: ",
		r->ndeep, r->ndeep == 1 ? "" : "s");
	for (size_t i = 0; i < r->deep.len; i++) {
		ab_buf_puts(&b, i ? ", " : "");
		ab_buf_escape(&b, r->deep.v[i]);
	}
	ab_buf_puts(&b, r->ndeep > r->deep.len ? ", ..." : "");
	ab_strv_give(&r->q->report.findings, ab_buf_take(&b));
}

void ab_quarantine_review(struct ab_quarantine *q)
{
	const struct ab_survey *s = q->survey;
	struct review r = { .q = q };
	struct ab_walk w = { .dirs = REVIEW_DIRS,
			     .entries = REVIEW_ENTRIES,
			     .depth = REVIEW_DEPTH };

	ab_names_init(&r.names, &s->names);
	for (size_t i = 0; i < s->repos.len; i++) {
		ab_autoclose int fd =
			ab_open_beneath(AT_FDCWD, s->repos.v[i], O_RDONLY | O_DIRECTORY);

		if (fd >= 0)
			review_lists(&r, fd, s->repos.v[i]);
	}
	for (size_t i = 0; i < s->write.len; i++)
		if (ab_walk(&w, s->write.v[i], review_folder, &r) < 0)
			r.cut |= errno != ENOTDIR && errno != ENOENT;
	report_names(&r);
	ab_project_files_report(s, &q->report.findings);
	/* If the first scan was complete, the box has created too much. */
	if (r.cut || w.cut)
		ab_strv_add(
			s->searched ? &q->report.findings : &q->report.notes,
			"the writable folders are too large to search completely for what the run created");
	ab_names_fini(&r.names);
	ab_strv_fini(&r.seen);
	ab_strv_fini(&r.deep);
}
