#include "layer/diff/host_names.h"

#include <dirent.h>

#include "base/system/linkwalk.h"
#include "layer/diff/label_state.h"
#include "policy/model/policy.h"
#include "workspace/git/configured_path.h"
#include "workspace/git/gitconfig.h"
#include "workspace/git/gitkeys.h"
#include "workspace/survey/survey.h"
#include "workspace/tree/dir.h"
#include "workspace/tree/tree_walk.h"

enum {
	ENTRIES = 1000000,    /* of the tree that are read */
	GENERATED = 10000,    /* of node_modules and the like */
	GIT_ENTRIES = 200000, /* of all git directories; their data is only listed */
	LINKS_MAX = 50000,
	NAMES_MAX = 4096,
	ROUNDS = 8, /* links below the target of a link, and so on */
};

struct name {
	char *path; /* folded, relative to the root */
	enum ab_label_id id;
	char who[24];
	char *detail;
};

struct ab_host_names {
	struct name *v;
	size_t len;
	bool unknown; /* there may be more */
};

struct search {
	const char *root;
	struct ab_host_names *out;
	struct ab_strv links; /* absolute paths; those that were followed are removed */
	struct ab_walk git;   /* the budget */
};

/* The part of an absolute path behind the root; NULL: it is the root, or not in it. */
static const char *get_relative(const struct search *s, const char *path)
{
	size_t n = strlen(s->root);

	if (!ab_path_within(path, s->root) || strcmp(path, s->root) == 0)
		return NULL;
	return path + n + (n > 1);
}

static void add_name(struct search *s, const char *path, enum ab_label_id id, const char *who,
		     const char *detail)
{
	const char *below = get_relative(s, path);
	struct ab_host_names *o = s->out;
	struct ab_buf folded = { 0 };
	struct name *n;

	if (!below)
		return;
	if (o->len == NAMES_MAX) {
		o->unknown = true;
		return;
	}
	ab_label_fold(below, &folded);
	for (size_t i = 0; i < o->len; i++)
		if (o->v[i].id == id && strcmp(o->v[i].path, folded.data) == 0) {
			ab_buf_fini(&folded);
			return;
		}
	n = ab_append(o->v, o->len);
	*n = (struct name){ .path = ab_buf_take(&folded), .id = id, .detail = ab_strdup(detail) };
	snprintf(n->who, sizeof(n->who), "%s", who);
}

/* ---- git's configuration ---- */

/* Has label_git.c a rule for this file of a git directory? */
static bool is_judged(const struct ab_survey *survey, const char *path)
{
	static const char *const own[] = { "config", "config.worktree", "hooks" };
	ab_autofree char *dir = ab_path_parent(path);

	for (size_t i = 0; i < AB_COUNT(own); i++)
		if (strcmp(ab_path_name(path), own[i]) == 0)
			return ab_strv_has(&survey->repos, dir);
	return false;
}

static void add_git_name(struct search *s, const struct ab_survey *survey, const char *path)
{
	if (!is_judged(survey, path))
		add_name(s, path, AB_LABEL_GIT, "git", "the host's git obeys it");
}

struct commands {
	struct search *s;
	const char *top; /* of the checkout: git starts programs there */
};

/* Does git run or read what the word of a setting names? A file that is missing can be created, and
 * a single word may have nothing to do with a folder of that name. */
static bool is_obeyed(const struct commands *c, const char *word, const char *path, bool single)
{
	struct stat st;

	if (strcmp(path, c->top) == 0 || ab_git_is_checkout(path))
		return false;
	if (strchr(word, '/'))
		return true;
	return lstat(path, &st) == 0 && !(single && S_ISDIR(st.st_mode));
}

/* "sh scripts/clean.sh" runs a file of the tree, too: each word that is one counts. */
static void add_words(void *arg, const char *key, const char *value)
{
	static const char ends[] = " \t\n\"'\\;|&<>()$`=!";
	static const struct ab_gitkeys_terms terms = { .made = true };
	const struct commands *c = arg;

	if (!value || ab_gitkeys_allow(key, value, &terms))
		return;
	for (const char *p = value + strspn(value, ends); *p; p += strspn(p, ends)) {
		size_t n = strcspn(p, ends);
		ab_autofree char *word = ab_strndup(p, n), *path = NULL, *real = NULL;

		p += n;
		path = ab_path_resolve(word, c->top, getenv("HOME"));
		if (!path || !is_obeyed(c, word, path, p - n == value && !*p))
			continue;
		real = realpath(path, NULL);
		add_name(c->s, path, AB_LABEL_GIT, "git", "the host's git obeys it");
		if (real)
			add_name(c->s, real, AB_LABEL_GIT, "git", "the host's git obeys it");
	}
}

/* Programs with arguments; the survey knows only the first word. */
static void add_commands(struct search *s, const char *gitdir)
{
	static const char *const files[] = { "config", "config.worktree" };
	ab_autofree char *top = strcmp(ab_path_name(gitdir), ".git") == 0 ? ab_path_parent(gitdir)
									  : ab_strdup(gitdir);
	ab_autoclose int fd = ab_open_beneath(AT_FDCWD, gitdir, O_PATH | O_DIRECTORY);
	struct commands c = { s, top };

	for (size_t i = 0; fd >= 0 && i < AB_COUNT(files); i++) {
		ab_autofree char *data = NULL;
		size_t len;

		if (ab_read_small(fd, files[i], AB_GITCONFIG_MAX, &data, &len) == 0)
			(void)ab_gitconfig_parse(data, len, add_words, &c);
	}
}

/* What a run without review would close, and the names that it would watch for. */
static void survey_git(struct search *s)
{
	static const struct ab_survey_limits limits = { .entries = ENTRIES,
							.generated = GENERATED,
							.look_only = true };
	struct ab_policy policy = { .workspace = s->root, .home = getenv("HOME") };
	struct ab_survey survey = { 0 };
	struct ab_error err;

	if (policy.home && policy.home[0] != '/')
		policy.home = NULL;
	ab_strv_add(&policy.fs.write, s->root);
	ab_strv_add(&policy.fs.touched, s->root);
	ab_strv_add(&policy.fs.deny_write, ".git/hooks");
	ab_strv_add(&policy.fs.deny_write, ".git/config");
	if (ab_survey_make(&policy, environ, &limits, &survey, &err) < 0 || !survey.complete)
		s->out->unknown = true;
	for (size_t i = 0; i < survey.nclosed; i++)
		add_git_name(s, &survey, survey.closed[i].path);
	for (size_t i = 0; i < survey.nwatch; i++)
		for (size_t k = 0; k < survey.watch[i].names.len; k++) {
			ab_autofree char *path =
				ab_path_join(survey.watch[i].dir, survey.watch[i].names.v[k]);

			add_git_name(s, &survey, path);
		}
	for (size_t i = 0; i < survey.repos.len; i++)
		add_commands(s, survey.repos.v[i]);
	ab_survey_fini(&survey);
	ab_strv_fini_all(&policy.fs.write, &policy.fs.touched, &policy.fs.deny_write);
}

/* ---- symbolic links ---- */

static void note_links(struct search *s, int fd, const char *path, const struct ab_listing *l)
{
	for (size_t i = 0; i < l->len; i++) {
		struct stat st;

		if (l->v[i].type != DT_LNK &&
		    (l->v[i].type != DT_UNKNOWN ||
		     fstatat(fd, l->v[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		     !S_ISLNK(st.st_mode)))
			continue;
		if (s->links.len < LINKS_MAX)
			ab_strv_give(&s->links, ab_path_join(path, l->v[i].name));
		else
			s->out->unknown = true;
	}
}

static bool search_gitdir(void *arg, int fd, const char *path, unsigned depth,
			  const struct ab_listing *l)
{
	static const char *const data[] = { "objects", "refs", "logs", "lfs" };

	(void)depth;
	for (size_t i = 0; i < AB_COUNT(data); i++)
		if (strcmp(ab_path_name(path), data[i]) == 0)
			return false;
	note_links(arg, fd, path, l);
	return true;
}

static bool search_folder(void *arg, int fd, const char *path, unsigned depth,
			  const struct ab_listing *l)
{
	struct search *s = arg;
	ab_autofree char *git = NULL;

	(void)depth;
	note_links(s, fd, path, l);
	if (!ab_listing_find(l, ".git"))
		return true;
	/* If it is a file or a link, the walk fails. */
	git = ab_path_join(path, ".git");
	(void)ab_walk(&s->git, git, search_gitdir, s);
	return true;
}

/* Which label does the link have, by its name or because something above it is obeyed? */
static bool label_link(const struct search *s, const char *path, struct ab_label_hits *ret)
{
	ab_autofree char *below = ab_strdup(path);
	ab_autobuf struct ab_buf folded = { 0 };
	struct ab_change change = {
		.path = below,
		.kind = AB_CHANGE_MODIFIED,
		.was = AB_TYPE_LINK,
		.is = AB_TYPE_LINK,
	};
	struct ab_label_input in = { .change = &change };

	*ret = (struct ab_label_hits){ 0 };
	ab_label_fold(path, &folded);
	ab_label_names(&change, folded.data, ret);
	ab_label_git(&in, folded.data, ret);
	for (size_t i = 0; i < s->out->len; i++)
		if (ab_label_within(folded.data, s->out->v[i].path))
			ab_label_add(ret, s->out->v[i].id, s->out->v[i].who, NULL);
	return ret->len > 0;
}

/* All places on the way, and the end, also if it is missing. */
static void add_targets(struct search *s, const char *path, const struct ab_label_hits *hits)
{
	ab_autolinkwalk struct ab_linkwalk w;
	ab_autofree char *detail = ab_printf("%s leads to it", get_relative(s, path));
	ab_autofree char *end = NULL;
	enum ab_linkwalk_step step;

	ab_linkwalk_init(&w, "/", path);
	while ((step = ab_linkwalk_step(&w)) == AB_LINKWALK_LINK ||
	       (step == AB_LINKWALK_NAME && w.left[0] && S_ISDIR(w.st.st_mode)))
		for (size_t i = 0; i < hits->len && step == AB_LINKWALK_LINK; i++)
			add_name(s, w.path, hits->v[i].id, hits->v[i].who, detail);
	if (step == AB_LINKWALK_END)
		end = ab_strdup(w.at);
	else if (step == AB_LINKWALK_NAME || !w.left[0])
		end = ab_strdup(w.path);
	else
		end = ab_path_join(w.path, w.left);
	for (size_t i = 0; i < hits->len; i++)
		add_name(s, end, hits->v[i].id, hits->v[i].who, detail);
}

/* A target may be a folder with more links. */
static void follow_links(struct search *s)
{
	bool more = true;

	for (unsigned int round = 0; more && round < ROUNDS; round++) {
		more = false;
		for (size_t i = 0; i < s->links.len; i++) {
			struct ab_label_hits hits;

			if (!s->links.v[i][0] ||
			    !label_link(s, get_relative(s, s->links.v[i]), &hits))
				continue;
			add_targets(s, s->links.v[i], &hits);
			s->links.v[i][0] = '\0';
			more = true;
		}
	}
	s->out->unknown |= more;
}

static void search_links(struct search *s)
{
	struct ab_walk w = { .dirs = SIZE_MAX,
			     .entries = ENTRIES,
			     .depth = UINT_MAX,
			     .thorough = true,
			     .late = GENERATED };

	s->git = (struct ab_walk){
		.dirs = GIT_ENTRIES, .entries = GIT_ENTRIES, .depth = UINT_MAX, .everything = true
	};
	if (ab_walk(&w, s->root, search_folder, s) < 0 || w.cut || s->git.cut)
		s->out->unknown = true;
	follow_links(s);
}

struct ab_host_names *ab_host_names_find(int lower)
{
	struct ab_host_names *ret = ab_alloc(sizeof(*ret));
	ab_autofree char *root = ab_real_path(lower);
	struct search s = { .root = root, .out = ret };

	if (!root || root[0] != '/') {
		ret->unknown = true;
		return ret;
	}
	survey_git(&s);
	search_links(&s);
	ab_strv_fini(&s.links);
	return ret;
}

void ab_host_names_free(struct ab_host_names *names)
{
	for (size_t i = 0; names && i < names->len; i++)
		ab_free_all(names->v[i].path, names->v[i].detail);
	if (names)
		free(names->v);
	free(names);
}

void ab_host_names_label(const struct ab_host_names *names, const struct ab_change *change,
			 struct ab_label_hits *hits)
{
	ab_autobuf struct ab_buf folded = { 0 };

	if (names->unknown)
		ab_label_add(hits, AB_LABEL_UNCHECKED, NULL,
			     "not all files of the host were searched");
	if (!names->len)
		return;
	ab_label_fold(change->path, &folded);
	for (size_t i = 0; i < names->len; i++) {
		const struct name *n = &names->v[i];

		if (ab_label_within(folded.data, n->path) ||
		    (ab_label_replaces_folder(change) && ab_label_within(n->path, folded.data)))
			ab_label_add(hits, n->id, n->who, n->detail);
	}
}
