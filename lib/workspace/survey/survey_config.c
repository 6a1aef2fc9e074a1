#include "workspace/survey/survey_state.h"

#include "policy/values/paths.h"
#include "workspace/git/configured_path.h"
#include "workspace/git/gitconfig.h"
#include "workspace/tree/dir.h"

/*
 * Git's configuration names files that git obeys: further configuration, folders of
 * hooks, programs. Those in a writable root are closed like the configuration itself.
 * Included files are read too, to the depth that git accepts, whatever condition
 * includeIf has: the box could make it true.
 *
 * The user's and the system's files apply to every repository. A relative path in them
 * means a place in each checkout, so these are collected first (surveyor.shared).
 */

#define INCLUDE_DEPTH 10 /* git fails beyond that */
#define PATHS_MAX 4096	 /* paths in all files together */

struct reading {
	struct ab_surveyor *s;
	/* The folder of the file, as git writes it: a relative include begins here,
	 * and links are followed when it is opened. */
	const char *dir;
	const char *base;   /* relative programs begin here; NULL: in each checkout */
	const char *gitdir; /* whose configuration it is; NULL: everybody's */
	unsigned depth;
};

static void read_include(const struct reading *from, const char *text, const char *real);

static bool spend_path(struct ab_surveyor *s)
{
	if (s->paths++ < PATHS_MAX)
		return true;
	if (s->paths == PATHS_MAX + 1) {
		s->out->complete = false;
		ab_strv_addf(&s->out->findings,
			     "git's configuration names more than %d files; the others are not "
			     "protected",
			     PATHS_MAX);
	}
	return false;
}

/* Folders that a setting names for another purpose than to run what is in them. */
static bool is_place(const struct ab_surveyor *s, const char *path)
{
	ab_autofree char *real = realpath(path, NULL);

	return real && (ab_path_contains_any(real, &s->roots) || ab_git_is_checkout(real));
}

static void collect_config(void *arg, const char *key, const char *value)
{
	const struct reading *r = arg;
	ab_autofree char *path = NULL, *full = NULL, *real = NULL;
	bool include;

	if (value && strcmp(key, "core.worktree") == 0 && r->gitdir) {
		full = value[0] == '/' ? ab_strdup(value) : ab_path_join(r->gitdir, value);
		ab_survey_add_later(r->s, full);
		return;
	}
	path = ab_git_configured_path(key, value, &include);
	if (!path || !spend_path(r->s))
		return;
	if (path[0] == '~') {
		full = ab_path_resolve(path, "/", r->s->home);
		if (!full) /* another user's home */
			return;
		free(path);
		path = ab_take(full);
	}
	if (path[0] != '/' && !include && !r->base) {
		ab_strv_add_once(&r->s->shared, path);
		return;
	}
	full = path[0] == '/' ? ab_take(path) : ab_path_join(include ? r->dir : r->base, path);
	if (strcmp(key, "core.hookspath") != 0 && is_place(r->s, full))
		return;
	real = ab_survey_follow(r->s, "/", full, true);
	if (real && include)
		read_include(r, full, real);
}

/* Git fails where the syntax is wrong, but reads a large file. */
static void note_unread(struct ab_surveyor *s, const char *path, int errnum)
{
	if (errnum == EFBIG) {
		s->out->complete = false;
		ab_strv_add_safe(&s->out->findings,
				 "%s is too large to find out which files git would obey", path);
	} else {
		ab_strv_add_safe(&s->out->notes, "%s cannot be read as git configuration", path);
	}
}

/* Parse `name` in the open folder; `path` is for messages. -1 if it is a link. */
static int parse_at(const struct reading *r, int dir, const char *name, const char *path)
{
	ab_autofree char *data = NULL;
	size_t len;

	if (ab_read_small(dir, name, AB_GITCONFIG_MAX, &data, &len) < 0) {
		if (errno == ELOOP)
			return -1;
		/* If we cannot read it, git cannot either. */
		if (errno != ENOENT && errno != EACCES)
			note_unread(r->s, path, errno);
	} else if (ab_gitconfig_parse(data, len, collect_config, (void *)r)) {
		note_unread(r->s, path, EINVAL);
	}
	return 0;
}

static void parse_file(const struct reading *r, const char *real)
{
	ab_autofree char *dir = ab_path_parent(real);
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, dir, O_PATH | O_DIRECTORY);

	if (fd < 0 || parse_at(r, fd, ab_path_name(real), real) < 0)
		r->s->out->complete = false; /* it was replaced meanwhile */
}

static void read_include(const struct reading *from, const char *text, const char *real)
{
	ab_autofree char *dir = ab_path_parent(text);
	struct reading r = *from;

	r.dir = dir;
	if (++r.depth <= INCLUDE_DEPTH)
		parse_file(&r, real);
}

void ab_survey_config(struct ab_surveyor *s, int fd, const char *gitdir, const char *top)
{
	static const char *const names[] = { "config", "config.worktree" };
	const struct reading r = {
		.s = s, .dir = gitdir, .base = top ? top : gitdir, .gitdir = gitdir
	};

	for (size_t i = 0; i < AB_COUNT(names); i++) {
		ab_autofree char *path = ab_path_join(gitdir, names[i]), *real = NULL;

		if (parse_at(&r, fd, names[i], path) == 0)
			continue;
		real = ab_survey_follow(s, gitdir, names[i], false);
		if (real)
			parse_file(&r, real);
	}
}

static void read_shared(struct ab_surveyor *s, const char *path)
{
	const struct reading r = { .s = s };
	ab_autofree char *real = NULL;

	if (!path || path[0] != '/' || strcmp(path, "/dev/null") == 0)
		return;
	/* It may be a link into a writable root, as people who keep their settings
	 * in a repository have it. */
	real = ab_survey_follow(s, "/", path, true);
	if (real)
		read_include(&r, path, real);
}

static void read_shared_in(struct ab_surveyor *s, const char *dir, const char *name)
{
	ab_autofree char *path = dir && dir[0] == '/' ? ab_path_join(dir, name) : NULL;

	read_shared(s, path);
}

void ab_survey_shared_config(struct ab_surveyor *s, char *const *env)
{
	const char *xdg = ab_environ_get(env, "XDG_CONFIG_HOME");

	read_shared(s, "/etc/gitconfig");
	read_shared_in(s, s->home, ".gitconfig");
	if (!xdg || !xdg[0])
		read_shared_in(s, s->home, ".config/git/config");
	read_shared_in(s, xdg, "git/config");
	read_shared(s, ab_environ_get(env, "GIT_CONFIG_GLOBAL"));
	read_shared(s, ab_environ_get(env, "GIT_CONFIG_SYSTEM"));
}

void ab_survey_share(struct ab_surveyor *s, const char *base)
{
	for (size_t i = 0; i < s->shared.len; i++)
		ab_survey_guard_literal(s, base, s->shared.v[i]);
}
