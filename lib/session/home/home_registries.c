#include "session/home/home_registries.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "policy/toolchains/registries.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/spec.h"

/* Does the plan leave the path out of the box? A mask counts if it is for this very file: whoever
 * hides a folder wants everything in it hidden. */
static bool is_hidden(const struct ab_spec *spec, const char *path)
{
	const struct ab_mount *m = ab_plan_find(&spec->plan, path);

	if (!m)
		return spec->hidden_root;
	return m->op == AB_MOUNT_PRIVATE || (m->op == AB_MOUNT_MASK && strcmp(m->path, path) == 0);
}

static bool has_file(const struct ab_spec *spec, const char *path)
{
	for (size_t i = 0; i < spec->nfiles; i++)
		if (strcmp(spec->files[i].path, path) == 0)
			return true;
	return false;
}

static void show_file(const struct ab_policy *policy, struct ab_spec *spec,
		      struct ab_registry_view *view)
{
	ab_autofree char *real = realpath(view->path, NULL);
	size_t len = strlen(view->text);
	struct ab_file *f;

	if (!real || !is_hidden(spec, real) || has_file(spec, real) ||
	    ab_strv_has(&policy->fs.deny_read_own, view->path) ||
	    ab_strv_has(&policy->fs.deny_read_own, real))
		return;
	f = ab_spec_add_file(spec, ab_take(real), ab_take(view->text), len);
	f->over_mask = true;
}

void ab_home_registries_fill(const struct ab_policy *policy, char *const *env, struct ab_spec *spec)
{
	for (size_t i = 0; i < policy->net.groups.len; i++) {
		struct ab_registry_views views = { 0 };

		ab_registries_views(policy->net.groups.v[i], policy->home, env, &views);
		for (size_t k = 0; k < views.len; k++)
			show_file(policy, spec, &views.v[k]);
		ab_registry_views_fini(&views);
	}
}
