#include "session/home/home_registries.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/clock.h"
#include "base/system/path.h"
#include "policy/model/config.h"
#include "policy/model/policy.h"
#include "policy/toolchains/registries.h"
#include "sandbox/plan/plan.h"
#include "sandbox/plan/spec.h"
#include "workspace/tree/glob.h"
#include "workspace/tree/guard.h"

/* As long as a start takes. A file that appears meanwhile is like one that appears right after it. */
enum { FRESH_MS = 10 };

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

static void show_file(struct ab_spec *spec, struct ab_registry_view *view,
		      const struct ab_guard *closed, size_t nclosed)
{
	ab_autofree char *real = realpath(view->path, NULL);
	size_t len = strlen(view->text);
	struct ab_file *f;

	if (!real || !is_hidden(spec, real) || has_file(spec, real) ||
	    ab_guards_cover(closed, nclosed, real))
		return;
	f = ab_spec_add_file(spec, ab_take(real), ab_take(view->text), len);
	f->over_mask = true;
}

static bool is_visible(const struct ab_spec *spec, const char *path)
{
	const struct ab_mount *m = ab_plan_find(&spec->plan, path);

	return m ? m->op != AB_MOUNT_MASK && m->op != AB_MOUNT_PRIVATE : !spec->hidden_root;
}

/* Does an exception in filesystem.denyRead (--read) name it, or a folder above it? */
static bool is_opened(const struct ab_policy *policy, const char *path)
{
	for (size_t i = 0; i < policy->fs.deny_read.len; i++) {
		const char *entry = policy->fs.deny_read.v[i];
		ab_autofree char *named =
			entry[0] == '!' ? ab_path_resolve(entry + 1, "/", policy->home) : NULL;

		if (named && ab_path_within(path, named))
			return true;
	}
	return false;
}

/* The files of registries that exist; NULL: not known any more, since a question or the source of a secret
 * may have taken its time. */
static const struct ab_strv *list_registries(const struct ab_policy_store *store, bool again)
{
	return store->registries_protected &&
			       (again || ab_now_ms() - store->registries_ms < FRESH_MS)
		       ? &store->registries
		       : NULL;
}

/* Files that the box sees, and that have a login: show them without it. */
static void hide_logins(const struct ab_policy *policy, char *const *env, bool again,
			struct ab_spec *spec)
{
	struct ab_registry_views views = { 0 };

	ab_registries_logins(policy->home, env, list_registries(policy->store, again), &views);
	for (size_t i = 0; i < views.len; i++) {
		struct ab_registry_view *view = &views.v[i];
		ab_autofree char *real = realpath(view->path, NULL);
		size_t len = strlen(view->text);

		if (!real || !is_visible(spec, real) || has_file(spec, real) ||
		    is_opened(policy, view->path) || is_opened(policy, real))
			continue;
		ab_spec_add_file(spec, ab_take(real), ab_take(view->text), len)->over_mask = true;
	}
	ab_registry_views_fini(&views);
}

void ab_home_registries_fill(const struct ab_policy *policy, char *const *env, bool again,
			     struct ab_spec *spec)
{
	struct ab_registry_views views = { 0 };
	struct ab_guard *closed = NULL;
	struct ab_error unused = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < policy->net.groups.len; i++)
		ab_registries_views(policy->net.groups.v[i], policy->home, env, &views);
	/* What a person or the administrator denies stays closed; if that is not known, all of them. */
	if (views.len && ab_expand_deny(&policy->fs.deny_read_own, &closed, &n, &unused) == 0)
		for (size_t i = 0; i < views.len; i++)
			show_file(spec, &views.v[i], closed, n);
	ab_guards_free(closed, n);
	ab_registry_views_fini(&views);
	hide_logins(policy, env, again, spec);
}
