#include "agents/obeyed.h"
#include "layer/diff/label_state.h"

static const enum ab_label_id labels[] = {
	[AB_OBEYED_AGENT] = AB_LABEL_AGENT,
	[AB_OBEYED_GIT] = AB_LABEL_GIT,
	[AB_OBEYED_LOGIN] = AB_LABEL_LOGIN,
	[AB_OBEYED_FOLDER] = AB_LABEL_FOLDER,
	[AB_OBEYED_CI] = AB_LABEL_CI,
	[AB_OBEYED_BUILD] = AB_LABEL_BUILD,
	[AB_OBEYED_SETTINGS] = AB_LABEL_BUILD,
	[AB_OBEYED_PACKAGES] = AB_LABEL_PACKAGES,
	[AB_OBEYED_CREDENTIALS] = AB_LABEL_CREDENTIALS,
};

bool ab_label_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name && *name != '/') {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (*pattern != ' ' && ab_lower((unsigned char)*pattern) == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern || *pattern == '/' || *pattern == ' ';
}

enum match { MATCH_NONE, MATCH_INSIDE, MATCH_WHOLE };

/* INSIDE: the path ends in the middle of the pattern. */
static enum match match_path(const char *pattern, const char *path)
{
	for (;;) {
		if (!ab_label_matches(pattern, path))
			return MATCH_NONE;
		pattern += strcspn(pattern, "/");
		path += strcspn(path, "/");
		if (!*pattern)
			return MATCH_WHOLE;
		if (!*path)
			return MATCH_INSIDE;
		pattern++;
		path++;
	}
}

static bool is_hit(const struct ab_change *change, const char *pattern, const char *path)
{
	enum match match = MATCH_NONE;

	if (ab_lower((unsigned char)pattern[0]) == path[0] || pattern[0] == '*')
		match = match_path(pattern, path);
	return match == MATCH_WHOLE || (match == MATCH_INSIDE && ab_label_replaces_folder(change));
}

static void add_row(const struct ab_change *change, const struct ab_obeyed *row,
		    struct ab_label_hits *hits)
{
	bool run = row->when == AB_OBEYED_BUILD || row->when == AB_OBEYED_PACKAGES;

	/* Nothing runs a build file that is gone. Without its settings, though, a program may run
	 * scripts or ask other hosts that they excluded. */
	if (row->when != AB_OBEYED_NEVER && (!run || change->is != AB_TYPE_NONE))
		ab_label_add(hits, labels[row->when], row->who, NULL);
}

static void add_rows(enum ab_obeyed_list list, const struct ab_change *change, const char *path,
		     struct ab_label_hits *hits)
{
	size_t n;
	const struct ab_obeyed_name *names = ab_obeyed_names(list, &n);

	for (size_t i = 0; i < n; i++)
		if (is_hit(change, names[i].pattern, path))
			add_row(change, names[i].by, hits);
}

/* BUILD and WORKSPACE of bazel. Folders of these names are usual, so only a file counts. */
static void check_bazel(const struct ab_change *change, const char *folded,
			struct ab_label_hits *hits)
{
	const char *name = strrchr(folded, '/') ? strrchr(folded, '/') + 1 : folded;

	if ((change->is == AB_TYPE_FILE || change->is == AB_TYPE_LINK) &&
	    (strcmp(name, "build") == 0 || strcmp(name, "workspace") == 0))
		ab_label_add(hits, AB_LABEL_BUILD, "bazel", NULL);
}

void ab_label_names(const struct ab_change *change, const char *folded, struct ab_label_hits *hits)
{
	const char *path = folded;

	check_bazel(change, folded, hits);
	for (;;) {
		add_rows(AB_OBEYED_CLOSED, change, path, hits);
		add_rows(AB_OBEYED_REPORTED, change, path, hits);
		add_rows(AB_OBEYED_OPEN, change, path, hits);
		path += strcspn(path, "/");
		if (!*path)
			return;
		path++;
	}
}

/*
 * Too many programs obey files in a home folder to list their names, so these are the exceptions:
 * what a program computed and would compute again, and runs nothing of. Caches of packages and of
 * compiled code are not among them: they have a label of their own.
 */
static const char *const home_caches[] = {
	".cache/fontconfig", ".cache/golangci-lint", ".cache/mypy",
	".cache/ruff",	     ".cache/thumbnails",    ".npm/_logs",
};

bool ab_label_is_home_cache(const struct ab_change *change)
{
	const char *path = change->path;
	size_t len = strlen(path);

	for (size_t i = 0; i < AB_COUNT(home_caches); i++) {
		size_t n = strlen(home_caches[i]);

		/* As it is spelled: another spelling may be another folder. */
		if (strncmp(path, home_caches[i], n) == 0 && path[n] == '/')
			return true;
		if (change->is == AB_TYPE_DIR && change->was == AB_TYPE_NONE && len <= n &&
		    strncmp(path, home_caches[i], len) == 0 &&
		    (home_caches[i][len] == '/' || !home_caches[i][len]))
			return true;
	}
	return false;
}
