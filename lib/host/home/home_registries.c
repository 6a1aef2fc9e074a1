#include "host/home/home_registries.h"

#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "policy/toolchains/registries.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/spec.h"
#include "workspace/tree/glob.h"
#include "workspace/tree/guard.h"

/* Does the plan leave the path out of the box? A mask counts if it is for this very file: whoever
 * hides a folder wants everything in it hidden. */
static bool is_hidden(const struct ab_spec *spec, const char *path)
{
	const struct ab_mount *m = ab_plan_find(&spec->plan, path);

	if (!m)
		return spec->hidden_root;
	return m->op == AB_MOUNT_PRIVATE || (m->op == AB_MOUNT_MASK && strcmp(m->path, path) == 0);
}

static void show_file(struct ab_spec *spec, struct ab_registry_view *view,
		      const struct ab_guard *closed, size_t nclosed)
{
	size_t len = strlen(view->text);

	if (is_hidden(spec, view->real) && !ab_spec_has_file(spec, view->real) &&
	    !ab_guards_cover(closed, nclosed, view->real))
		ab_spec_add_file(spec, ab_take(view->real), ab_take(view->text), len)->over_mask =
			true;
}

static void tell_view(const struct ab_registry_view *view, struct ab_strv *notes,
		      struct ab_strv *details)
{
	if (view->broken)
		ab_strv_add_safe(notes,
				 "%s cannot be read as settings of its tool, so the box sees "
				 "nothing of it; to show it as it is: --read %s",
				 view->path, view->path);
	else if (view->left)
		ab_strv_add_safe(details,
				 "%s: the box does not see %zu setting%s of it; to show the file "
				 "as it is: --read %s",
				 view->path, view->left, view->left == 1 ? "" : "s", view->path);
}

void ab_home_registries_find(const struct ab_policy *policy, struct ab_registry_views *ret)
{
	ab_registries_views(NULL, policy->store->registries, ret);
	for (size_t i = ret->len; i-- > 0;)
		if (ab_policy_reads(policy, ret->v[i].path, true) ||
		    ab_policy_reads(policy, ret->v[i].real, true))
			ab_registry_views_drop(ret, i);
}

/* Of files that the box sees, show what the view has. */
static void replace_visible(struct ab_registry_views *found, struct ab_spec *spec,
			    struct ab_strv *notes, struct ab_strv *details)
{
	for (size_t i = 0; i < found->len; i++) {
		struct ab_registry_view *view = &found->v[i];
		size_t len = strlen(view->text);

		if (!ab_plan_shows(&spec->plan, spec->hidden_root, view->real) ||
		    ab_spec_has_file(spec, view->real))
			continue;
		tell_view(view, notes, details);
		ab_spec_add_file(spec, ab_take(view->real), ab_take(view->text), len)->over_mask =
			true;
	}
}

void ab_home_registries_fill(const struct ab_policy *policy, struct ab_registry_views *found,
			     struct ab_spec *spec, struct ab_strv *notes, struct ab_strv *details)
{
	struct ab_registry_views views = { 0 };
	struct ab_guard *closed = NULL;
	struct ab_error unused = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < policy->net.groups.len; i++)
		ab_registries_views(policy->net.groups.v[i], policy->store->registries, &views);
	/* What a person or the administrator denies stays closed; if that is not known, all of them. */
	if (views.len && ab_expand_deny(&policy->fs.deny_read_own, &closed, &n, &unused) == 0)
		for (size_t i = 0; i < views.len; i++)
			show_file(spec, &views.v[i], closed, n);
	ab_guards_free(closed, n);
	ab_registry_views_fini(&views);
	replace_visible(found, spec, notes, details);
	ab_registry_views_fini(found);
}
