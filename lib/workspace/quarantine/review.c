/*
 * Theory of operation.
 *
 * Repositories are examined wherever the walk meets one: an edit of a file in place
 * does not change the folder above it (workspace/quarantine/repos.c). Other names
 * can only have appeared in a folder whose own entries changed. The kernel sets the
 * change time, and the box cannot set it back.
 *
 * The walk has the limits of the survey, which has walked the same folders before the
 * run. Of generated files (node_modules) it sees what is new, at any depth, and the first
 * of what is old. Where it did not come, the spots tell what calls of the box did there
 * (workspace/quarantine/spots.h). Whatever is left is named.
 *
 * A folder named .git is searched by itself, for repositories in it: nobody works there, but a file
 * "name.git" in a checkout, or the list of alternates, leads git to them.
 */
#include "workspace/git/gitlink.h"
#include "workspace/git/rebase_todo.h"
#include "workspace/quarantine/quarantine_state.h"
#include "workspace/quarantine/spots.h"
#include "workspace/survey/project_files.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/names.h"
#include "workspace/tree/tree_walk.h"

#define SHORT_ENTRIES 30000
#define REPOS_MAX 2000
#define TOPS_MAX 512
#define LIST_MAX 1000
#define MODULE_DEPTH 16
#define SHOWN 20
#define MISSED_SHOWN 3
#define COMMANDS_MAX 5

struct review {
	struct ab_quarantine *q;
	bool unlimited;
	bool whole; /* the spots have everything that calls of the box did in old folders */
	const struct ab_names *names; /* NULL: repositories only */
	struct ab_strv seen;	      /* examined git directories */
	struct ab_strv tops; /* "GITDIR//CHECKOUT": indexes whose submodules were examined */
	struct ab_strv deep;
	size_t ndeep;
	bool cut;	       /* the walk did not see everything */
	struct ab_strv inside; /* folders named .git, to be searched */
	size_t ninside;	       /* of them have been */
};

static void miss_folder(struct review *r, const char *path)
{
	const struct ab_survey *s = r->q->survey;
	struct ab_quarantine_report *report = &r->q->report;

	/* The box could not write there. */
	if (ab_guards_cover(s->closed, s->nclosed, path) ||
	    ab_path_within_any(path, &report->missed))
		return;
	if (report->nmissed++ < MISSED_SHOWN)
		ab_strv_add(&report->missed, path);
}

/* What could not be opened was not searched, unless nothing is there that git would enter. */
static void note_unopened(struct review *r, const char *path, int errnum)
{
	if (errnum != ENOENT && errnum != ENOTDIR && errnum != ELOOP)
		miss_folder(r, path);
}

/* Entries of a folder of git that are read. */
static size_t count_listed(const struct review *r)
{
	return r->unlimited ? SIZE_MAX : LIST_MAX;
}

static void add_finding(struct review *r, const char *path, const char *what)
{
	ab_autofree char *shown = ab_escape(path), *text = ab_printf("%s %s", shown, what);

	/* A spot may lead to it again. */
	ab_strv_add_once(&r->q->report.findings, text);
}

struct commands {
	struct ab_buf text;
	size_t n;
};

static void collect_command(void *arg, const char *command, size_t len)
{
	ab_autofree char *text = ab_strndup(command, len);
	struct commands *c = arg;

	if (c->n++ >= COMMANDS_MAX)
		return;
	ab_buf_puts(&c->text, c->text.len ? ", " : "");
	ab_buf_escape(&c->text, text);
}

/* A rebase that is in progress runs the commands of its list when it continues. */
static void review_todo(struct review *r, int gitdir, const char *path, const char *file)
{
	ab_autofree char *full = ab_path_join(path, file), *data = NULL, *what = NULL;
	ab_autoclose int fd = ab_open_beneath(gitdir, file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct commands c = { 0 };
	struct stat st;
	size_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !ab_quarantine_is_new(r->q, &st))
		return;
	if (ab_read_all(fd, AB_REBASE_TODO_MAX, &data, &len) < 0) {
		add_finding(r, full, "was created or changed by the run and cannot be examined");
		return;
	}
	ab_rebase_execs(data, len, collect_command, &c);
	if (c.n > 0) {
		what = ab_printf(
			"was created or changed by the run; git rebase --continue would run: "
			"%s%s",
			c.text.data, c.n > COMMANDS_MAX ? ", ..." : "");
		add_finding(r, full, what);
	}
	ab_buf_fini(&c.text);
}

static void review_todos(struct review *r, int gitdir, const char *path)
{
	static const char *const files[] = { "rebase-merge/git-rebase-todo",
					     "rebase-apply/git-rebase-todo", "sequencer/todo" };

	for (size_t i = 0; i < AB_COUNT(files); i++)
		review_todo(r, gitdir, path, files[i]);
}

static void review_lists(struct review *r, int gitdir, const char *path);
static void review_checkout(struct review *r, int fd, const char *path);

static void review_submodules(struct review *r, const char *top, const struct ab_strv *links)
{
	ab_autoclose int at = ab_open_beneath(AT_FDCWD, top, O_PATH | O_DIRECTORY);

	if (at < 0) {
		note_unopened(r, top, errno);
		return;
	}
	for (size_t i = 0; i < links->len; i++) {
		ab_autoclose int fd = ab_open_beneath(at, links->v[i], O_RDONLY | O_DIRECTORY);
		ab_autofree char *full = ab_path_join(top, links->v[i]);

		if (fd < 0)
			note_unopened(r, full, errno);
		else if (ab_quarantine_is_writable(r->q, full))
			review_checkout(r, fd, full);
	}
}

/* True: leave it out. */
static bool is_reviewed_top(struct review *r, int gitdir, const char *path, const char *top)
{
	size_t most = TOPS_MAX + 2 * r->q->survey->repos.len;
	ab_autofree char *pair = ab_printf("%s//%s", path, top);

	if (ab_strv_has(&r->tops, pair) || ab_repos_has_top(r->q, gitdir, top))
		return true;
	if (r->tops.len >= most && !r->unlimited) {
		miss_folder(r, top);
		return true;
	}
	ab_strv_add(&r->tops, pair);
	return false;
}

/*
 * The search may not come as far as the submodules of a repository. They are below its checkout:
 * that is `top`, whose ".git" led here, or the one that the git directory names itself.
 */
static void review_index(struct review *r, int gitdir, const char *path, const char *top)
{
	ab_autostrv struct ab_strv links = { 0 }, tops = { 0 };

	if (top)
		ab_strv_add(&tops, top);
	ab_repos_tops(gitdir, path, &tops);
	for (size_t i = tops.len; i-- > 0;)
		if (is_reviewed_top(r, gitdir, path, tops.v[i]))
			ab_strv_remove(&tops, i);
	if (!tops.len)
		return;
	ab_repos_submodules(r->q, gitdir, path, &links);
	for (size_t i = 0; i < tops.len && links.len; i++)
		review_submodules(r, tops.v[i], &links);
}

/* `top`: the checkout that leads to it, or NULL. */
static void review_gitdir(struct review *r, int gitdir, const char *path, const char *top)
{
	if (!ab_strv_has(&r->seen, path) && !ab_strv_has(&r->q->survey->repos, path)) {
		if (r->seen.len >= REPOS_MAX && !r->unlimited) {
			miss_folder(r, path);
			return;
		}
		ab_strv_add(&r->seen, path);
		ab_repos_clean(r->q, gitdir, path);
		review_todos(r, gitdir, path);
		review_lists(r, gitdir, path);
	}
	review_index(r, gitdir, path, top);
}

/* The git directories of submodules, at any depth of their name. */
static void review_modules(struct review *r, int at, const char *name, const char *path,
			   unsigned depth)
{
	ab_autoclose int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ab_autolisting struct ab_listing l = { 0 };
	struct stat st;

	if (fd < 0) {
		note_unopened(r, path, errno);
		return;
	}
	if (depth > 0 && fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0) {
		review_gitdir(r, fd, path, NULL);
		return;
	}
	if (depth > MODULE_DEPTH || ab_listing_read(&l, fd, count_listed(r)) < 0 || l.cut) {
		miss_folder(r, path);
		return;
	}
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *sub = ab_path_join(path, l.v[i].name);

		review_modules(r, fd, l.v[i].name, sub, depth + 1);
	}
}

static void review_lists(struct review *r, int gitdir, const char *path)
{
	ab_autofree char *modules = ab_path_join(path, "modules");
	ab_autofree char *worktrees = ab_path_join(path, "worktrees");
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = -1;

	/* Not now: they may be nested. */
	if (strcmp(ab_path_name(path), ".git") == 0 && ab_quarantine_is_writable(r->q, path))
		ab_strv_add(&r->inside, path);
	review_modules(r, gitdir, "modules", modules, 0);
	fd = openat(gitdir, "worktrees", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		note_unopened(r, worktrees, errno);
		return;
	}
	if (ab_listing_read(&l, fd, count_listed(r)) < 0 || l.cut)
		miss_folder(r, worktrees);
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *admin = ab_path_join(worktrees, l.v[i].name);
		ab_autoclose int sub =
			openat(fd, l.v[i].name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (sub < 0)
			note_unopened(r, admin, errno);
		else
			review_gitdir(r, sub, admin, NULL);
	}
}

/* The git directory of the checkout `top` is elsewhere: a .git file or link leads to it. */
static void review_elsewhere(struct review *r, const char *top, const char *real)
{
	ab_autofree char *git = ab_path_join(top, ".git");
	bool known = ab_strv_has(&r->q->survey->repos, real);
	ab_autoclose int fd = -1;

	if (!known && !ab_quarantine_is_writable(r->q, real)) {
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
	if (!known && faccessat(fd, "commondir", F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		ab_autofree char *list = ab_path_parent(real);
		ab_autofree char *common = ab_path_parent(list);

		if (strcmp(ab_path_name(list), "worktrees") == 0)
			review_elsewhere(r, top, common);
	}
	review_gitdir(r, fd, real, top);
}

static void review_checkout(struct review *r, int fd, const char *path)
{
	ab_autofree char *git = ab_path_join(path, ".git"), *real = NULL;
	ab_autoclose int gitdir = -1;
	struct ab_gitlink l;
	struct stat st;

	if (fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0) {
		note_unopened(r, git, errno);
		return;
	}
	gitdir = openat(fd, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (gitdir >= 0) {
		review_gitdir(r, gitdir, git, path);
	} else if (S_ISLNK(st.st_mode)) {
		real = realpath(git, NULL);
		if (real)
			review_elsewhere(r, path, real);
		else
			note_unopened(r, git, errno);
	} else if (S_ISREG(st.st_mode)) {
		if (ab_gitlink_read(path, &l) == 0)
			review_elsewhere(r, path, l.gitdir);
		else
			note_unopened(r, git, errno);
		ab_gitlink_fini(&l);
	} else if (S_ISDIR(st.st_mode)) {
		add_finding(r, git, "was created by the run and cannot be examined");
	}
}

static void find_names(struct review *r, int fd, const char *path, const struct ab_listing *l)
{
	char as[NAME_MAX + 1];
	const char *rest;
	struct stat st;

	for (size_t i = 0; i < l->len; i++) {
		const char *name = l->v[i].name;

		if (!ab_names_touch(r->names, name))
			continue;
		for (size_t k = 0; k < r->names->top.len; k++) {
			if (!ab_entry_starts(fd, r->names->top.v[k], name, as, &rest))
				continue;
			if (fstatat(fd, rest[0] ? r->names->top.v[k] : as, &st,
				    AT_SYMLINK_NOFOLLOW) < 0 ||
			    !ab_quarantine_is_new(r->q, &st))
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
	if (ab_listing_may_have(l, ".git"))
		review_checkout(r, fd, path);
	if (ab_repos_is_bare(fd, l))
		review_gitdir(r, fd, path, NULL);
	if (!r->names || fstat(fd, &st) < 0 || !ab_quarantine_is_new(r->q, &st))
		return true;
	if (!ab_find_row(r->q->survey->watch, r->q->survey->nwatch, dir, path))
		find_names(r, fd, path, l);
	return true;
}

/* In old folders of generated files the spots have everything. */
static void miss_walked(void *arg, const char *path, bool late)
{
	struct review *r = arg;

	r->cut = true;
	if (!late || !r->whole)
		miss_folder(r, path);
}

static void walk_folders(struct review *r, struct ab_walk *w, const char *top)
{
	if (ab_walk(w, top, review_folder, r) < 0) {
		r->cut = true;
		note_unopened(r, top, errno);
	}
}

static bool review_inside(void *arg, int fd, const char *path, unsigned depth,
			  const struct ab_listing *l)
{
	struct review *r = arg;

	if (depth > 0 && ab_listing_may_have(l, ".git"))
		review_checkout(r, fd, path);
	if (depth > 0 && ab_repos_is_bare(fd, l))
		review_gitdir(r, fd, path, NULL);
	return true;
}

static void miss_inside(void *arg, const char *path, bool late)
{
	(void)late;
	miss_walked(arg, path, true);
}

/* Each may lead to more. */
static void review_insides(struct review *r, const struct ab_walk *walk)
{
	struct ab_walk w = *walk;

	w.missed = miss_inside;
	for (; r->ninside < r->inside.len; r->ninside++) {
		ab_autofree char *top = ab_strdup(r->inside.v[r->ninside]);

		/* Of hundreds of folders with objects in a new one none is older. */
		w.since = ab_strv_has(&r->q->survey->repos, top) ? walk->since
								 : &(struct timespec){ 0 };
		if (ab_walk(&w, top, review_inside, r) < 0)
			note_unopened(r, top, errno);
	}
}

static void review_known(struct review *r)
{
	const struct ab_strv *repos = &r->q->survey->repos;

	for (size_t i = 0; i < repos->len; i++) {
		ab_autoclose int fd =
			ab_open_beneath(AT_FDCWD, repos->v[i], O_RDONLY | O_DIRECTORY);

		if (fd < 0) {
			note_unopened(r, repos->v[i], errno);
			continue;
		}
		review_todos(r, fd, repos->v[i]);
		review_lists(r, fd, repos->v[i]);
		review_gitdir(r, fd, repos->v[i], NULL);
	}
}

static void review_spot(struct review *r, struct ab_walk *tree, const char *path, enum ab_spot kind)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = -1;

	if (!ab_quarantine_is_writable(r->q, path))
		return;
	if (kind == AB_SPOT_TREE) {
		walk_folders(r, tree, path);
		return;
	}
	fd = ab_open_beneath(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		note_unopened(r, path, errno);
	else if (ab_listing_read(&l, fd, tree->entries) < 0 || l.cut)
		miss_folder(r, path);
	else
		review_folder(r, fd, path, 0, &l);
}

/* Where the walk did not come. It leaves out old folders without a folder in them, and a file that is
 * written in place does not make its folder new: so the others count, whatever the walk has seen. */
static void review_spots(struct review *r, const struct ab_spots *spots, const struct ab_walk *walk)
{
	struct ab_walk tree = *walk;
	bool trees = r->cut;
	enum ab_spot kind;
	size_t at = 0;
	char *path;

	tree.since = &(struct timespec){ 0 };
	tree.entries = (struct ab_survey_limits){ AB_SURVEY_USUAL }.entries;
	r->names = NULL;
	while ((path = ab_spots_next(spots, &at, &kind)) != NULL) {
		if (trees || kind == AB_SPOT_FOLDER)
			review_spot(r, &tree, path, kind);
		free(path);
	}
}

static struct ab_walk plan_walk(const struct ab_survey *s, enum ab_search_depth search)
{
	const struct ab_survey_limits usual = { AB_SURVEY_USUAL };
	const size_t entries[] = { [AB_SEARCH_SHORT] = SHORT_ENTRIES,
				   [AB_SEARCH_USUAL] = usual.entries,
				   [AB_SEARCH_ALL] = SIZE_MAX };

	return (struct ab_walk){ .dirs = SIZE_MAX,
				 .entries = entries[search],
				 .late = search == AB_SEARCH_ALL ? SIZE_MAX : usual.generated,
				 .depth = UINT_MAX,
				 .thorough = true,
				 .since = &s->started,
				 .missed = search == AB_SEARCH_SHORT ? NULL : miss_walked };
}

void ab_quarantine_review(struct ab_quarantine *q, enum ab_search_depth search,
			  const struct ab_spots *spots)
{
	const struct ab_survey *s = q->survey;
	struct review r = { .q = q,
			    .names = &s->names,
			    .unlimited = search == AB_SEARCH_ALL,
			    .whole = spots && ab_spots_is_whole(spots) };
	struct ab_walk w = plan_walk(s, search);

	w.leaves = r.unlimited || (search != AB_SEARCH_SHORT && !r.whole);
	review_known(&r);
	for (size_t i = 0; i < s->write.len; i++)
		walk_folders(&r, &w, s->write.v[i]);
	if (search != AB_SEARCH_SHORT)
		review_insides(&r, &w);
	if (search != AB_SEARCH_SHORT && spots) {
		review_spots(&r, spots, &w);
		review_insides(&r, &w);
	}
	ab_names_tell(&q->report.findings, "the run created or changed", r.ndeep, "file",
		      "in deeper folders that tools may run or obey", &r.deep);
	ab_project_files_report(s, &q->report.findings);
	ab_strv_fini_all(&r.seen, &r.tops, &r.deep, &r.inside);
}
