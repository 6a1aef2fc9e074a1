#include "workspace/survey/survey_state.h"

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
#include "workspace/tree/dir.h"

#define REPOS_MAX 256
#define LIST_MAX 1000	/* entries of a modules or worktrees folder */
#define MODULE_DEPTH 16 /* a submodule's name may contain slashes */

/* Files that decide which programs git runs. In a git directory that we make writable
 * they are always closed, whatever the policy contains. */
static const char *const always[] = { "hooks", "config", "config.worktree", "commondir" };

static bool contains_root(const struct ab_surveyor *s, const char *path)
{
	for (size_t i = 0; i < s->roots.len; i++)
		if (ab_path_within(s->roots.v[i], path))
			return true;
	return s->home && ab_path_within(s->home, path);
}

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

		if (lstat(part, &st) == 0 && S_ISDIR(st.st_mode)) {
			add_extra(s, part);
		} else {
			ab_autofree char *shown = ab_escape(part);

			ab_strv_addf(
				&s->out->findings,
				"%s is not a folder, and git needs it to commit here; create it before the run",
				shown);
		}
	}
	if (strcmp(l->gitdir, l->common) != 0)
		add_extra(s, l->gitdir);
}

static void add_gitdir_of(struct ab_surveyor *s, const char *top)
{
	struct ab_gitlink l;
	const char *why;

	if (ab_gitlink_read(top, &l) == 0 && !ab_survey_inside(s, l.common ? l.common : l.gitdir)) {
		ab_autofree char *shown = ab_escape(top);
		ab_autofree char *to = ab_escape(l.gitdir);

		/* Files that the box can write prove nothing. */
		why = !l.verified		      ? l.why
		      : ab_survey_inside(s, l.gitdir) ? "only its own writable files confirm that"
						      : NULL;
		if (why)
			ab_strv_addf(
				&s->out->findings,
				"%s/.git names %s, which stays read-only: %s; use --write if it is yours",
				shown, to, why);
		else if (contains_root(s, l.common))
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

static void add_later(struct ab_surveyor *s, const char *path)
{
	ab_autofree char *real = realpath(path, NULL);

	if (real && ab_survey_inside(s, real) && !ab_strv_has(&s->later, real))
		ab_strv_add(&s->later, real);
}

struct config {
	struct ab_surveyor *s;
	const char *gitdir, *top;
};

/* Collect the programs and further configuration files that it names. */
static void collect_config(void *arg, const char *key, const char *value)
{
	const struct config *c = arg;
	const char *base = NULL;
	ab_autofree char *home = NULL;

	if (!value || !value[0])
		return;
	if (strcmp(key, "core.hookspath") == 0)
		base = c->top ? c->top : c->gitdir;
	else if (strcmp(key, "include.path") == 0 || (strncmp(key, "includeif.", 10) == 0 &&
						      strcmp(key + strlen(key) - 5, ".path") == 0))
		base = c->gitdir;
	if (base) {
		if (value[0] == '~') {
			home = ab_path_resolve(value, "/", c->s->home);
			value = home;
		}
		if (value)
			ab_survey_guard_literal(c->s, value[0] == '/' ? "/" : base, value);
	} else if (strcmp(key, "core.worktree") == 0) {
		home = value[0] == '/' ? ab_strdup(value) : ab_path_join(c->gitdir, value);
		add_later(c->s, home);
	}
}

static void read_config(struct ab_surveyor *s, int fd, const char *name, const char *gitdir,
			const char *top)
{
	struct config c = { s, gitdir, top };
	ab_autofree char *data = NULL, *shown = NULL;
	unsigned line = 0;
	size_t len;

	if (ab_read_small(fd, name, AB_GITCONFIG_MAX, &data, &len) < 0) {
		if (errno == ENOENT || errno == ELOOP)
			return; /* a link: its target is closed */
	} else {
		line = ab_gitconfig_parse(data, len, collect_config, &c);
		if (!line)
			return;
	}
	shown = ab_escape(gitdir);
	ab_strv_addf(&s->out->notes, "%s/%s cannot be read as git configuration", shown, name);
}

static void guard_modules(struct ab_surveyor *s, const char *dir, unsigned depth)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0 || ab_listing_read(&l, fd, LIST_MAX) < 0) {
		ab_survey_unsure(s, errno);
		return;
	}
	if (l.cut || depth > MODULE_DEPTH) {
		/* Too many to examine: close it as a whole. */
		ab_survey_guard_literal(s, "/", dir);
		return;
	}
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
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY);
	ab_autolisting struct ab_listing l = { 0 };

	if (fd < 0 || ab_listing_read(&l, fd, LIST_MAX) < 0) {
		ab_survey_unsure(s, errno);
		return;
	}
	if (l.cut) {
		ab_survey_guard_literal(s, "/", dir);
		return;
	}
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
		add_later(s, top);
	}
}

static bool in_extra(const struct ab_surveyor *s, const char *path)
{
	for (size_t i = 0; i < s->extra.len; i++)
		if (ab_path_within(path, s->extra.v[i]))
			return true;
	return false;
}

void ab_survey_gitdir(struct ab_surveyor *s, const char *gitdir, const char *top)
{
	ab_autofree char *modules = NULL, *worktrees = NULL;
	ab_autoclose int fd = -1;
	bool opened = in_extra(s, gitdir);

	if (ab_strv_has(&s->out->repos, gitdir))
		return;
	ab_strv_add(&s->out->repos, gitdir);
	if (s->names.git.len == 0 && !opened)
		return;
	if (s->out->repos.len > REPOS_MAX) {
		/* One mount instead of several. */
		s->out->searched = false;
		ab_survey_guard_literal(s, "/", gitdir);
		return;
	}
	for (size_t i = 0; i < s->names.git.len; i++)
		ab_survey_guard(s, gitdir, s->names.git.v[i]);
	for (size_t i = 0; i < AB_COUNT(always) && opened; i++)
		ab_survey_guard(s, gitdir, always[i]);
	fd = ab_open_beneath(AT_FDCWD, gitdir, O_PATH | O_DIRECTORY);
	if (fd < 0) {
		ab_survey_unsure(s, errno);
		return;
	}
	read_config(s, fd, "config", gitdir, top);
	read_config(s, fd, "config.worktree", gitdir, top);
	modules = ab_path_join(gitdir, "modules");
	guard_modules(s, modules, 0);
	worktrees = ab_path_join(gitdir, "worktrees");
	guard_worktrees(s, worktrees);
}

/* The common configuration applies to each checkout, and a relative hooksPath means a
 * folder of that checkout. */
static void share_config(struct ab_surveyor *s, const char *common, const char *top)
{
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, common, O_PATH | O_DIRECTORY);

	ab_survey_gitdir(s, common, top);
	if (fd >= 0 && (s->names.git.len > 0 || in_extra(s, common)))
		read_config(s, fd, "config", common, top);
}

static void follow_gitfile(struct ab_surveyor *s, const char *top)
{
	struct ab_gitlink l;

	/* If it was rewritten, git would use a repository that the box created. */
	ab_survey_guard_literal(s, top, ".git");
	if (ab_gitlink_read(top, &l) == 0) {
		ab_survey_gitdir(s, l.gitdir, top);
		if (l.common)
			share_config(s, l.common, top);
	}
	ab_gitlink_fini(&l);
}

void ab_survey_checkout(struct ab_surveyor *s, const char *top)
{
	ab_autofree char *git = ab_path_join(top, ".git"), *real = NULL;
	struct stat st;

	if (lstat(git, &st) < 0) {
		ab_survey_unsure(s, errno);
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		ab_survey_gitdir(s, git, top);
	} else if (S_ISREG(st.st_mode)) {
		follow_gitfile(s, top);
	} else if (S_ISLNK(st.st_mode) && s->names.git.len > 0) {
		real = ab_survey_pin(s, top, ".git");
		if (real && ab_is_gitdir(real))
			ab_survey_gitdir(s, real, top);
	}
}
