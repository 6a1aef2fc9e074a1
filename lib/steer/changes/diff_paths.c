#include "layer/walk/changes.h"
#include "policy/layers/layers.h"
#include "steer/changes/diff_state.h"

/* `diff --home` prints paths relative to the home folder, and the current folder is usually a
 * project in it: such a path may be meant. */
static bool may_be_shown(const char *path)
{
	size_t n = strcspn(path, "/");

	return n > 0 && path[0] != '~' && !(n == 1 && path[0] == '.') &&
	       !(n == 2 && path[0] == '.' && path[1] == '.');
}

int ab_diff_paths(const struct ab_policy_input *input, const struct ab_diff_request *request,
		  const char *root, struct ab_strv *ret, struct ab_error *err)
{
	/* Like other tools: relative to the current folder if that is in the root, else to the root. */
	const char *base = ab_path_within(input->cwd, root) ? input->cwd : root;
	size_t n = strlen(root);

	for (size_t i = 0; i < request->npaths; i++) {
		ab_autofree char *path = ab_path_resolve(request->paths[i], base, input->home);
		ab_autofree char *shown = request->home && may_be_shown(request->paths[i])
						  ? ab_path_resolve(request->paths[i], root, NULL)
						  : NULL;

		if (!path || !ab_path_within(path, root))
			return ab_fail(err, AB_EUSAGE, 0, "%s is not in %s", request->paths[i],
				       root);
		/* "/" ends with its slash, others do not. */
		ab_strv_add(ret, strcmp(path, root) == 0 ? "" : path + n + (n > 1));
		if (shown && ab_path_within(shown, root) && strcmp(shown, root) != 0)
			ab_strv_add_once(ret, shown + n + (n > 1));
	}
	return 0;
}

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return n == 0 || (strncmp(path, top, n) == 0 && (path[n] == '/' || !path[n]));
}

bool ab_diff_wants(const struct ab_strv *paths, const struct ab_change *change)
{
	for (size_t i = 0; i < paths->len; i++)
		if (is_below(change->path, paths->v[i]) ||
		    (change->was == AB_TYPE_DIR && change->is != AB_TYPE_DIR &&
		     is_below(paths->v[i], change->path)))
			return true;
	return paths->len == 0;
}
