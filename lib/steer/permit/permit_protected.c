/*
 * A protected name (".envrc"): `allow PATH --always` takes it out of filesystem.denyWrite in the
 * project's own settings, so that it counts for this project and no other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/edit/project_file.h"
#include "policy/layers/layers.h"
#include "steer/permit/permit_state.h"
#include "workspace/tree/names.h"
#include "workspace/tree/obeyed.h"

static const char *const keys[] = { "filesystem", "denyWrite" };

#define auto_project __attribute__((cleanup(ab_project_file_fini)))

static int change_project(struct ab_permit_job *job, const struct ab_project_file *p,
			  const char *entry, bool remove, struct ab_error *err)
{
	struct ab_project_change change = {
		.keys = keys, .nkeys = AB_COUNT(keys), .value = entry, .remove = remove
	};

	job->ret->file = ab_strdup(p->path);
	return ab_project_file_change(p, &change, &job->ret->diff, err);
}

/* Agentbox's own files, and what was protected as a path, stay protected. */
static bool is_listed(const struct ab_strv *deny_write, const char *path)
{
	for (size_t i = 0; i < deny_write->len; i++)
		if (deny_write->v[i][0] == '/' && ab_path_within(path, deny_write->v[i]))
			return true;
	return false;
}

/* The entry of denyWrite that protects a path of the workspace by its name, or NULL. */
static char *find_entry(struct ab_permit_job *job, const char *workspace, const char *path,
			struct ab_error *err)
{
	struct ab_policy_input in = ab_permit_input(job);
	struct ab_policy *policy;
	const char *entry;
	char *found = NULL;
	bool holds;

	in.workspace = workspace;
	if (!ab_path_within(path, workspace) || ab_policy_load(&in, &policy, NULL, err) < 0)
		return NULL;
	entry = ab_names_opened(&policy->fs.deny_write, path, &holds);
	if (entry && !holds && !is_listed(&policy->fs.deny_write, path))
		found = ab_strdup(entry);
	ab_policy_free(policy);
	return found;
}

/* Every command of git obeys these: no run should be able to change them from now on. */
static bool is_for_one_run(const char *entry)
{
	return strncmp(entry, ".git/", 5) == 0;
}

static int refuse_once(const struct ab_permit_job *job, const char *path, const char *entry,
		       struct ab_error *err)
{
	ab_autofree char *back = ab_printf("!%s", entry),
			 *flag = ab_permit_flag("--deny-write", back);

	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: %s is a protected name, %s", path,
		entry, ab_obeyed_by(entry));
	if (is_for_one_run(entry))
		return ab_hint(err, "in a new run, if you are sure:  agentbox run %s -- ...", flag);
	return ab_hint(err,
		       "in a new run, if you are sure:  agentbox run %s -- ...\n"
		       "in every run in this project:   agentbox allow %s --always",
		       flag, job->ask->what);
}

int ab_permit_protected(struct ab_permit_job *job, const char *workspace, const char *path,
			struct ab_error *err)
{
	struct ab_error none = { 0 };
	ab_autofree char *entry = find_entry(job, workspace, path, &none), *back = NULL;
	auto_project struct ab_project_file p = { 0 };

	if (!entry)
		return 0;
	if (!job->ask->always || is_for_one_run(entry))
		return refuse_once(job, path, entry, err);
	back = ab_printf("!%s", entry);
	if (ab_project_file_open(job->ask->input, workspace, &p, err) < 0 ||
	    change_project(job, &p, back, false, err) < 0)
		return -1;
	job->ret->path = ab_strdup(path);
	job->ret->workspace = ab_strdup(workspace);
	ab_strv_addf(&job->ret->said, "runs in %s can create and change %s from now on", workspace,
		     entry);
	ab_strv_addf(&job->ret->notes, "%s: look at it after a run", ab_obeyed_by(entry));
	job->ret->command = ab_permit_again(&job->again, "");
	return 1;
}

/* "!.envrc", as the project's file spells it, that takes back the protection of this path. */
static char *find_exception(const struct ab_project_file *p, const char *path)
{
	json_t *file = p->text ? json_loadb(p->text, p->len, 0, NULL) : NULL, *one;
	const json_t *list = json_object_get(json_object_get(file, keys[0]), keys[1]);
	char *found = NULL;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *text = json_string_value(one);
		ab_autostrv struct ab_strv name = { 0 };
		bool holds;

		if (!text || text[0] != '!' || text[1] == '/' || found)
			continue;
		ab_strv_add(&name, text + 1);
		if (ab_names_opened(&name, path, &holds) && !holds)
			found = ab_strdup(text);
	}
	json_decref(file);
	return found;
}

/* 0: the path is not protected, so it may be in other settings. */
static int refuse_undo(struct ab_permit_job *job, const char *workspace, const char *path,
		       struct ab_error *err)
{
	struct ab_error none = { 0 };
	ab_autofree char *entry = find_entry(job, workspace, path, &none);

	if (!entry)
		return 0;
	ab_fail(err, AB_EREFUSED, 0, "there is nothing to take back: %s is protected in %s", entry,
		workspace);
	return ab_hint(err, "exceptions are in filesystem.denyWrite: agentbox config show");
}

int ab_permit_undo_protected(struct ab_permit_job *job, const char *workspace, const char *path,
			     struct ab_error *err)
{
	auto_project struct ab_project_file p = { 0 };
	ab_autofree char *entry = NULL;
	struct ab_error none = { 0 };
	int result;

	/* A file that is not trusted takes nothing back. */
	if (!ab_path_within(path, workspace) ||
	    ab_project_file_open(job->ask->input, workspace, &p, &none) < 0)
		return 0;
	entry = find_exception(&p, path);
	if (!entry)
		return refuse_undo(job, workspace, path, err);
	result = change_project(job, &p, entry, true, err);
	if (result > 0)
		ab_strv_addf(&job->ret->said, "%s is protected again in %s", entry + 1, workspace);
	return result;
}
