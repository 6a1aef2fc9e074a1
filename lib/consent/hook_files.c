#include "consent/hook_files.h"

#include <fnmatch.h>

#include "policy/layers/layers.h"
#include "policy/model/policy.h"
#include "policy/values/paths.h"
#include "workspace/tree/glob.h"
#include "workspace/tree/names.h"

/* The real path; of what does not exist, below the deepest folder that does. NULL: a link on the
 * way leads nowhere. */
static char *find_real(const char *clean)
{
	ab_autofree char *at = ab_strdup(clean);
	struct stat st;

	for (;;) {
		ab_autofree char *real = realpath(at, NULL);
		const char *rest = clean + strlen(at);
		char *above;

		rest += strspn(rest, "/");
		if (real)
			return rest[0] ? ab_path_join(real, rest) : ab_take(real);
		if (lstat(at, &st) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != EACCES))
			return NULL;
		above = ab_path_parent(at);
		free(at);
		at = above;
	}
}

/* Is this path, relative to the top of a root or repository, a protected name or below one? */
static bool matches_name(const struct ab_strv *names, const char *rel)
{
	for (size_t i = 0; i < names->len; i++)
		if (fnmatch(names->v[i], rel, FNM_PATHNAME | FNM_LEADING_DIR | FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool has_entry(const char *dir, const char *name)
{
	ab_autofree char *path = ab_path_join(dir, name);
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Names count at the top of a writable root and of each repository in it; git's own in each git
 * directory. */
static bool is_protected_below(const struct ab_names *names, const char *root, const char *real)
{
	ab_autofree char *dir = ab_path_parent(real);
	bool git;

	while (ab_path_within(dir, root)) {
		const char *rel = real + strlen(dir) + (dir[1] != '\0');
		bool top = strcmp(dir, root) == 0;
		char *above;

		git = has_entry(dir, "HEAD") && has_entry(dir, "objects");
		if ((top || has_entry(dir, ".git")) && matches_name(&names->top, rel))
			return true;
		if ((git || strcmp(ab_path_name(dir), ".git") == 0) &&
		    matches_name(&names->git, rel))
			return true;
		if (top || !dir[1])
			return false;
		above = ab_path_parent(dir);
		free(dir);
		dir = above;
	}
	return false;
}

/* The agent's folder, if it contains the home folder: `run` refuses such a workspace unless its user
 * names it, so nothing below is writable because the agent went there. */
static bool is_too_wide(const struct ab_policy_input *input, const char *root)
{
	ab_autofree char *cwd = realpath(input->cwd, NULL);
	ab_autofree char *home = input->home ? realpath(input->home, NULL) : NULL;

	return !input->workspace && cwd && strcmp(root, cwd) == 0 &&
	       (!root[1] || (home && ab_path_within(home, root)));
}

static enum ab_file_place find_write_place(const struct ab_policy *policy,
					   const struct ab_policy_input *input, const char *real)
{
	enum ab_file_place place = AB_FILE_OUTSIDE;
	struct ab_names names;

	ab_names_init(&names, &policy->fs.deny_write);
	for (size_t i = 0; i < policy->fs.write.len && place != AB_FILE_PROTECTED; i++) {
		ab_autofree char *root = realpath(policy->fs.write.v[i], NULL);

		if (!root || !ab_path_within(real, root) || is_too_wide(input, root))
			continue;
		place = is_protected_below(&names, root, real) ? AB_FILE_PROTECTED : AB_FILE_OPEN;
	}
	if (matches_name(&names.absolute, real))
		place = AB_FILE_PROTECTED;
	ab_names_fini(&names);
	return place;
}

/* Hidden itself, or a folder with something hidden below it? */
static int find_hidden(const struct ab_policy *policy, const struct ab_policy_input *input,
		       const char *real, enum ab_file_place *ret, struct ab_error *err)
{
	ab_autofree char *state = ab_state_dir(input->environ, input->home, input->cwd);
	ab_autofree char *at = state ? realpath(state, NULL) : NULL;
	struct ab_guard *hidden = NULL;
	size_t n = 0;

	if (ab_expand_deny(&policy->fs.deny_read, &hidden, &n, err) < 0)
		return -1;
	*ret = at && ab_path_within(at, real) ? AB_FILE_ABOVE : AB_FILE_OPEN;
	for (size_t i = 0; i < n && *ret == AB_FILE_OPEN; i++)
		if (ab_path_within(hidden[i].path, real))
			*ret = AB_FILE_ABOVE;
	if (ab_guards_cover(hidden, n, real) || (at && ab_path_within(real, at)))
		*ret = AB_FILE_HIDDEN;
	ab_guards_free(hidden, n);
	return 0;
}

int ab_file_find_place(const struct ab_policy *policy, const struct ab_policy_input *input,
		       const char *path, bool write, enum ab_file_place *ret, char **ret_real,
		       struct ab_error *err)
{
	ab_autofree char *clean = ab_path_resolve(path, input->cwd, input->home);
	ab_autofree char *real = NULL;
	enum ab_file_place hidden;

	if (!clean || strlen(clean) >= PATH_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "the event's path is not valid");
	real = find_real(clean);
	*ret = AB_FILE_OPEN;
	if (!real) {
		*ret = AB_FILE_DANGLING;
		*ret_real = ab_take(clean);
		return 0;
	}
	if (find_hidden(policy, input, real, &hidden, err) < 0)
		return -1;
	*ret = write && hidden != AB_FILE_HIDDEN ? find_write_place(policy, input, real) : hidden;
	*ret_real = ab_take(real);
	return 0;
}
