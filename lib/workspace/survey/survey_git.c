#include "workspace/survey/survey_state.h"

#include <dirent.h>

#include "workspace/git/gitlink.h"
#include "workspace/tree/dir.h"

#define REPOS_MAX 256
#define LIST_MAX 1000	/* entries of a modules or worktrees folder */
#define MODULE_DEPTH 16 /* a submodule's name may contain slashes */

/* Files that decide which programs git runs. In a git directory that we make writable
 * they are always closed, whatever the policy contains. */
static const char *const always[] = {
	"hooks", "config", "config.worktree", "commondir", "remotes", "branches",
};

/* Folders that exist while git waits in the middle of an operation. Its next step may
 * run commands that are listed there. */
static const char *const paused[] = { "rebase-merge", "rebase-apply", "sequencer" };

static void add_extra(struct ab_surveyor *s, const char *path)
{
	ab_strv_add(&s->extra, path);
	ab_strv_add(&s->out->write, path);
}

/*
 * A bare repository with worktrees inside: making all of it writable would include the
 * other worktrees. Commits need only these parts.
 */
static void add_parts(struct ab_surveyor *s, const struct ab_gitlink *l)
{
	static const char *const parts[] = { "objects", "refs", "logs" };

	for (size_t i = 0; i < AB_COUNT(parts); i++) {
		ab_autofree char *part = ab_path_join(l->common, parts[i]);
		struct stat st;

		if (lstat(part, &st) == 0 && S_ISDIR(st.st_mode))
			add_extra(s, part);
		else
			ab_strv_add_safe(&s->out->findings,
					 "%s is not a folder, and git needs it to commit here; "
					 "create it before the run",
					 part);
	}
	if (strcmp(l->gitdir, l->common) != 0)
		add_extra(s, l->gitdir);
}

static void add_gitdir_of(struct ab_surveyor *s, const char *top)
{
	struct ab_gitlink l;
	const char *why;

	if (ab_gitlink_read(top, &l) == 0 && !ab_survey_inside(s, l.common ? l.common : l.gitdir)) {
		/* Files that the box can write prove nothing. */
		why = l.why			      ? l.why
		      : ab_survey_inside(s, l.gitdir) ? "only its own writable files confirm that"
						      : NULL;
		if (why)
			ab_strv_add_safe(
				&s->out->findings,
				"%s/.git names %s, which stays read-only: %s; use --write if it is yours",
				top, l.gitdir, why);
		else if (ab_path_contains_any(l.common, &s->roots) ||
			 (s->home && ab_path_within(s->home, l.common)))
			add_parts(s, &l);
		else
			add_extra(s, l.common);
	}
	ab_gitlink_fini(&l);
}

void ab_survey_extend(struct ab_surveyor *s)
{
	for (size_t i = 0; i < s->roots.len; i++) {
		ab_autofree char *git = ab_path_join(s->roots.v[i], ".git");
		struct stat st;

		if (lstat(git, &st) == 0 && S_ISREG(st.st_mode))
			add_gitdir_of(s, s->roots.v[i]);
	}
}

void ab_survey_add_later(struct ab_surveyor *s, const char *path)
{
	ab_autofree char *real = realpath(path, NULL);

	if (real && ab_survey_inside(s, real) && !ab_strv_has(&s->later, real))
		ab_strv_add(&s->later, real);
}

/* The open folder, or -1: one with too many entries is closed as a whole. */
static int list_folder(struct ab_surveyor *s, const char *dir, unsigned depth,
		       struct ab_listing *ret)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);

	if (fd < 0 || ab_listing_read(ret, fd, LIST_MAX) < 0) {
		ab_survey_unsure(s, dir, errno);
		return -1;
	}
	if (ret->cut || depth > MODULE_DEPTH) {
		ab_survey_guard_literal(s, "/", dir);
		return -1;
	}
	return ab_take_fd(&fd);
}

static void guard_modules(struct ab_surveyor *s, const char *dir, unsigned depth)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = list_folder(s, dir, depth, &l);

	if (fd < 0)
		return;
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *sub = ab_path_join(dir, l.v[i].name);

		if (l.v[i].type != DT_DIR && l.v[i].type != DT_UNKNOWN)
			continue;
		if (ab_is_gitdir(sub))
			ab_survey_gitdir(s, sub, NULL);
		else
			guard_modules(s, sub, depth + 1);
	}
}

static void guard_worktrees(struct ab_surveyor *s, const char *dir)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = list_folder(s, dir, 0, &l);

	if (fd < 0)
		return;
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *admin = ab_path_join(dir, l.v[i].name);
		ab_autofree char *file = ab_path_join(l.v[i].name, "gitdir");
		ab_autofree char *data = NULL, *back = NULL, *top = NULL;
		size_t len;

		if (ab_read_small(fd, file, AB_GITLINK_MAX, &data, &len) < 0)
			continue;
		ab_survey_guard_literal(s, admin, "gitdir");
		ab_survey_gitdir(s, admin, NULL);
		back = ab_gitlink_line(data, len);
		if (!back)
			continue;
		top = back[0] == '/' ? ab_path_parent(back) : NULL;
		if (!top) {
			ab_autofree char *full = ab_path_join(admin, back);

			top = ab_path_parent(full);
		}
		ab_survey_add_later(s, top);
	}
}

/*
 * A missing folder of hooks cannot be closed, so it is made, as `git init` does it. Only
 * where git would look for it: not in the folder of a linked worktree, and not in
 * a folder that is not a repository.
 */
static void make_hooks(struct ab_surveyor *s, int fd, const char *gitdir)
{
	struct stat st;

	if (fstatat(fd, "hooks", &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT ||
	    !ab_survey_inside(s, gitdir) || !ab_is_gitdir_at(fd) ||
	    fstatat(fd, "commondir", &st, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	if (mkdirat(fd, "hooks", 0777) == 0 || errno == EEXIST)
		return;
	/* The box has our rights at most. */
	if (errno == EROFS || errno == EACCES)
		ab_strv_add_safe(&s->out->notes,
				 "%s/hooks does not exist and cannot be created: %s", gitdir,
				 strerror(errno));
	else
		ab_strv_add_safe(
			&s->out->findings,
			"%s/hooks does not exist and cannot be created, so it is only watched: "
			"%s",
			gitdir, strerror(errno));
}

/* The user stopped in the middle of a rebase or cherry-pick, and will continue it:
 * what git will do then is not the box's to change. */
static void close_paused(struct ab_surveyor *s, int fd, const char *gitdir)
{
	for (size_t i = 0; i < AB_COUNT(paused); i++) {
		struct stat st;

		if (fstatat(fd, paused[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		ab_survey_guard_literal(s, gitdir, paused[i]);
		ab_strv_add_safe(
			&s->out->findings,
			"%s/%s is read-only: an operation of git is in progress there; continue "
			"it outside the box",
			gitdir, paused[i]);
	}
}

/* The common configuration applies to each checkout, and a relative hooksPath means a
 * folder of that checkout. */
static void share_config(struct ab_surveyor *s, const char *common, const char *top)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, common, O_PATH | O_DIRECTORY);

	ab_survey_gitdir(s, common, top);
	if (fd >= 0 && top && (s->names.git.len > 0 || ab_path_within_any(common, &s->extra)))
		ab_survey_config(s, fd, common, top);
}

/* Git takes hooks and configuration from the folder in this file, if there is one. */
static void follow_commondir(struct ab_surveyor *s, int fd, const char *gitdir, const char *top)
{
	ab_autofree char *data = NULL, *line = NULL, *real = NULL;
	size_t len;

	if (ab_read_small(fd, "commondir", AB_GITLINK_MAX, &data, &len) < 0)
		return;
	line = ab_gitlink_line(data, len);
	real = line ? ab_survey_follow(s, line[0] == '/' ? "/" : gitdir, line, false) : NULL;
	if (real)
		share_config(s, real, top);
}

static void guard_gitdir(struct ab_surveyor *s, int fd, const char *gitdir, const char *top,
			 bool opened)
{
	ab_autofree char *modules = ab_path_join(gitdir, "modules");
	ab_autofree char *worktrees = ab_path_join(gitdir, "worktrees");

	if (!s->limits->look_only && (opened || ab_strv_has(&s->names.git, "hooks")))
		make_hooks(s, fd, gitdir);
	for (size_t i = 0; i < s->names.git.len; i++)
		ab_survey_guard(s, gitdir, s->names.git.v[i]);
	for (size_t i = 0; i < AB_COUNT(always) && opened; i++)
		ab_survey_guard(s, gitdir, always[i]);
	close_paused(s, fd, gitdir);
	ab_survey_config(s, fd, gitdir, top);
	follow_commondir(s, fd, gitdir, top);
	if (!top)
		ab_survey_share(s, gitdir);
	guard_modules(s, modules, 0);
	guard_worktrees(s, worktrees);
}

void ab_survey_gitdir(struct ab_surveyor *s, const char *gitdir, const char *top)
{
	ab_autoclose int fd = -1;
	bool opened = ab_path_within_any(gitdir, &s->extra);

	if (ab_strv_has(&s->out->repos, gitdir))
		return;
	ab_strv_add(&s->out->repos, gitdir);
	if (s->names.git.len == 0 && !opened)
		return;
	if (s->out->repos.len > REPOS_MAX) {
		/* One mount instead of several. */
		if (s->out->repos.len == REPOS_MAX + 1)
			ab_strv_addf(
				&s->out->findings,
				"the writable folders contain more than %d repositories; the git "
				"directories of the others are read-only",
				REPOS_MAX);
		ab_survey_guard_literal(s, gitdir, "config");
		ab_survey_guard_literal(s, gitdir, "hooks");
		ab_survey_close_folder(s, gitdir);
		return;
	}
	fd = ab_open_beneath(AT_FDCWD, gitdir, O_PATH | O_DIRECTORY);
	if (fd < 0)
		ab_survey_unsure(s, gitdir, errno);
	else
		guard_gitdir(s, fd, gitdir, top, opened);
}

static void follow_gitfile(struct ab_surveyor *s, const char *top)
{
	struct ab_gitlink l;

	/* If it was rewritten, git would use a repository that the box created. */
	ab_survey_guard_literal(s, top, ".git");
	if (ab_gitlink_read(top, &l) == 0) {
		share_config(s, l.gitdir, top);
		if (l.common && strcmp(l.common, l.gitdir) != 0)
			share_config(s, l.common, top);
	}
	ab_gitlink_fini(&l);
}

void ab_survey_checkout(struct ab_surveyor *s, const char *top)
{
	ab_autofree char *git = ab_path_join(top, ".git"), *real = NULL;
	struct stat st;

	if (lstat(git, &st) < 0) {
		ab_survey_unsure(s, git, errno);
		return;
	}
	ab_survey_share(s, top);
	if (S_ISDIR(st.st_mode)) {
		ab_survey_gitdir(s, git, top);
	} else if (S_ISREG(st.st_mode)) {
		follow_gitfile(s, top);
	} else if (S_ISLNK(st.st_mode) && s->names.git.len > 0) {
		real = ab_survey_follow(s, top, ".git", false);
		if (real && ab_is_gitdir(real))
			ab_survey_gitdir(s, real, top);
	}
}
