#include "layer/diff/label_state.h"
#include "workspace/git/gitchange.h"
#include "workspace/git/gitconfig.h"
#include "workspace/git/gitconfig_clean.h"
#include "workspace/git/gitindex.h"
#include "workspace/git/rebase_todo.h"

enum { SUBMODULES_MAX = 1000 }; /* that are compared */

/* Files of a git directory that make git read or run something else. The last names of
 * their paths, in lower case. Everything else there is data: objects, refs, the index. */
static const struct {
	char path[24];
	char detail[48];
} leads[] = {
	{ "commondir", "reads its configuration elsewhere" },
	{ "gitdir", "names a checkout elsewhere" },
	{ "remotes/*", "gives a remote its address" },
	{ "branches/*", "gives a remote its address" },
	{ "info/attributes", "chooses filters and drivers" },
	{ "objects/info/alternates", "reads objects elsewhere" },
	{ "info/grafts", "changes the history" },
};

/* The rest of the path behind the last component that is .git; NULL: there is none. */
static const char *skip_gitdir(const char *folded)
{
	const char *rest = NULL;

	for (const char *p = folded;;) {
		size_t n = strcspn(p, "/");

		if (n == 4 && strncmp(p, ".git", 4) == 0)
			rest = p[n] ? p + n + 1 : p + n;
		if (!p[n])
			return rest;
		p += n + 1;
	}
}

/* Is a component that folds to .git spelled otherwise? Then git finds the folder only on a
 * file system that folds names, where it takes the place of the real one. */
static bool has_odd_spelling(const char *path)
{
	ab_autobuf struct ab_buf name = { 0 };

	for (;;) {
		size_t n = strcspn(path, "/");
		ab_autofree char *part = ab_strndup(path, n);

		name.len = 0;
		ab_label_fold(part, &name);
		if (strcmp(name.data, ".git") == 0 && strcmp(part, ".git") != 0)
			return true;
		if (!path[n])
			return false;
		path += n + 1;
	}
}

/* Does the path end like this inside a git directory? That may begin after the names of submodules
 * and linked worktrees, which have any number of components. */
static bool ends_with(const char *path, const char *pattern)
{
	for (const char *p = path;; p++) {
		const char *a = p, *b = pattern;

		while (ab_label_matches(b, a)) {
			a += strcspn(a, "/");
			b += strcspn(b, "/");
			if (!*b || !*a)
				break;
			a++;
			b++;
		}
		if (!*a && !*b)
			return true;
		p += strcspn(p, "/");
		if (!*p)
			return false;
	}
}

static void check_config(const struct ab_label_input *in, struct ab_label_hits *hits)
{
	static const struct ab_gitkeys_terms old_terms = { 0 }, new_terms = { .made = true };
	ab_autobuf struct ab_buf text = { 0 }, keys = { 0 };
	const struct ab_label_side *old = &in->old, *fresh = &in->fresh;
	struct ab_gitchange change;

	if (in->change->is != AB_TYPE_FILE || !fresh->data || fresh->cut ||
	    fresh->len > AB_GITCONFIG_MAX) {
		ab_label_add(hits, AB_LABEL_GIT, "git", NULL);
		return;
	}
	/* A new repository has settings that a box may not change in an old one. A path as an address
	 * may be any repository of the box, with its hooks. */
	if (in->change->was == AB_TYPE_NONE) {
		if (ab_gitconfig_clean(fresh->data, fresh->len, &new_terms, &text, &keys))
			ab_label_add(hits, AB_LABEL_GIT, "git",
				     keys.len ? keys.data : "cannot be read");
		return;
	}
	if (!old->data || old->cut) {
		ab_label_add(hits, AB_LABEL_GIT, "git", NULL);
	} else if (!ab_gitchange_allowed(old->data, old->len, fresh->data, fresh->len, &old_terms,
					 &change, NULL)) {
		ab_buf_printf(&keys, "%s%s%s", change.key, change.key[0] ? " " : "", change.why);
		ab_label_add(hits, AB_LABEL_GIT, "git", keys.data);
	}
}

static void add_submodule(void *arg, const char *path)
{
	struct ab_strv *list = arg;

	if (list->len < SUBMODULES_MAX)
		ab_strv_add_once(list, path);
}

/* git enters each submodule and obeys its settings. */
static void check_index(const struct ab_label_input *in, struct ab_label_hits *hits)
{
	ab_autostrv struct ab_strv old = { 0 }, fresh = { 0 };

	if (in->change->is != AB_TYPE_FILE)
		return;
	if (!in->fresh.data || in->fresh.cut) {
		ab_label_add(hits, AB_LABEL_UNCHECKED, "git", "the index may name submodules");
		return;
	}
	if (ab_gitindex_parse(in->fresh.data, in->fresh.len, add_submodule, &fresh).unnamed)
		ab_label_add(hits, AB_LABEL_UNCHECKED, "git", "the index may name submodules");
	if (fresh.len && in->old.data && !in->old.cut)
		ab_gitindex_parse(in->old.data, in->old.len, add_submodule, &old);
	for (size_t i = 0; i < fresh.len; i++)
		if (!ab_strv_has(&old, fresh.v[i]) || fresh.len == SUBMODULES_MAX) {
			ab_autofree char *detail = ab_printf("submodule %s", fresh.v[i]);

			ab_label_add(hits, AB_LABEL_GIT, "git", detail);
			return;
		}
}

static void note_command(void *arg, const char *command, size_t len)
{
	struct ab_buf *first = arg;

	if (!first->len)
		ab_buf_printf(first, "exec %.*s", len < 80 ? (int)len : 80, command);
}

static void check_todo(const struct ab_label_input *in, struct ab_label_hits *hits)
{
	ab_autobuf struct ab_buf first = { 0 };

	if (in->change->is == AB_TYPE_NONE)
		return;
	if (!in->fresh.data || in->fresh.cut)
		ab_label_add(hits, AB_LABEL_GIT, "git", "cannot be checked");
	else if (ab_rebase_execs(in->fresh.data, in->fresh.len, note_command, &first))
		ab_label_add(hits, AB_LABEL_GIT, "git", first.data);
}

/* `rest` is the path in the git directory. */
static void check_file(const struct ab_label_input *in, const char *rest,
		       struct ab_label_hits *hits)
{
	const char *name = strrchr(rest, '/') ? strrchr(rest, '/') + 1 : rest;
	size_t n = strlen(rest);

	if (!in->gitdir &&
	    (ab_label_within(rest, "refs") || ab_label_within(rest, "logs") ||
	     ab_label_within(rest, "lfs") ||
	     (ab_label_within(rest, "objects") && !ab_label_within(rest, "objects/info")))) {
		/* The folder itself is not data that git replaces. */
		if (!strchr(rest, '/') && in->change->is != AB_TYPE_DIR)
			ab_label_add(hits, AB_LABEL_GIT, "git", "removes the repository's data");
		return;
	}
	for (const char *p = rest; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
		if (ab_label_within(p, "hooks") &&
		    !(n > 7 && strcmp(rest + n - 7, ".sample") == 0) &&
		    !(in->change->is == AB_TYPE_DIR && in->change->was == AB_TYPE_NONE))
			ab_label_add(hits, AB_LABEL_GIT, "git", "a hook");
	if (in->change->kind == AB_CHANGE_MODE)
		return;
	if (strcmp(name, "config") == 0 || strcmp(name, "config.worktree") == 0)
		check_config(in, hits);
	if (strcmp(name, "git-rebase-todo") == 0)
		check_todo(in, hits);
	if (strcmp(name, "index") == 0)
		check_index(in, hits);
	/* What is there may change later. git makes only its HEAD a link, and that where it is told to. */
	if (in->change->is == AB_TYPE_LINK && strcmp(name, "head") != 0)
		ab_label_add(hits, AB_LABEL_GIT, "git", "a link in the repository");
	for (size_t i = 0; i < AB_COUNT(leads); i++)
		if (ends_with(rest, leads[i].path))
			ab_label_add(hits, AB_LABEL_GIT, "git", leads[i].detail);
}

void ab_label_git(const struct ab_label_input *in, const char *folded, struct ab_label_hits *hits)
{
	const struct ab_change *change = in->change;
	const char *rest = skip_gitdir(folded);
	size_t at = 0, len;

	if (in->completes) {
		ab_autofree char *detail =
			ab_printf("makes it a repository with %s", in->completes);

		ab_label_add(hits, AB_LABEL_GIT, "git", detail);
	}
	if (rest && has_odd_spelling(change->path))
		ab_label_add(hits, AB_LABEL_GIT, "git", "another spelling of .git");
	if (rest && *rest) {
		check_file(in, rest, hits);
	} else if (rest && !(change->is == AB_TYPE_DIR && change->was == AB_TYPE_NONE) &&
		   change->kind != AB_CHANGE_MODE) {
		/* A file or a link leads git elsewhere; nothing at all means no repository. */
		ab_label_add(hits, AB_LABEL_GIT, "git",
			     change->is == AB_TYPE_NONE ? "removes the repository"
							: "leads to another repository");
	} else if (in->repository) {
		ab_label_add(hits, AB_LABEL_GIT, "git", "removes a repository in it");
	} else {
		while (in->gitdir && ab_label_maybe_gitdir(folded, &at, &len))
			check_file(in, folded + len + (len > 0), hits);
	}
}

bool ab_label_is_git_data(const char *path)
{
	const char *rest = skip_gitdir(path);

	return rest && *rest;
}

size_t ab_label_gitdir_len(const char *path)
{
	const char *rest = skip_gitdir(path);

	if (!rest)
		return 0;
	return (size_t)(rest - path) - (rest > path && rest[-1] == '/');
}

bool ab_label_maybe_gitdir(const char *path, size_t *at, size_t *ret_len)
{
	static const char *const parts[] = { "hooks", "config",	 "config.worktree", "commondir",
					     "info",  "remotes", "branches",	    "objects/info" };

	for (const char *p = path + *at; *p; p += *p == '/') {
		const char *name = p;

		p += strcspn(p, "/");
		for (size_t i = 0; i < AB_COUNT(parts); i++)
			if (ab_label_within(name, parts[i])) {
				*at = (size_t)(p - path) + (*p == '/');
				*ret_len = name == path ? 0 : (size_t)(name - path - 1);
				return true;
			}
	}
	return false;
}

bool ab_label_is_gitdir_part(const char *folded)
{
	static const char *const parts[] = { "head", "objects", "refs", "commondir" };

	return ab_has_word(parts, AB_COUNT(parts), ab_path_name(folded));
}

const char *ab_label_git_lead(size_t i)
{
	return i < AB_COUNT(leads) ? leads[i].path : NULL;
}
