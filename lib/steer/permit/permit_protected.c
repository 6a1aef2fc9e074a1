/*
 * A protected name (".envrc"): `allow PATH --always` takes it out of filesystem.denyWrite in the
 * project's own settings, so that it counts for this project and no other.
 */
#include "agents/obeyed.h"

#include "steer/permit/permit_state.h"
#include "workspace/tree/names.h"

static const char key[] = "filesystem.denyWrite";

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
	ab_autopolicy struct ab_policy *policy = NULL;
	const char *entry;
	char *found = NULL;
	bool holds;

	in.workspace = workspace;
	if (!ab_path_within(path, workspace) || ab_policy_load(&in, &policy, NULL, err) < 0)
		return NULL;
	entry = ab_names_opened(&policy->fs.deny_write, path, &holds);
	if (entry && !holds && !is_listed(&policy->fs.deny_write, path))
		found = ab_strdup(entry);
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
	ab_auto_permit_file struct ab_permit_file f = { 0 };

	if (!entry)
		return 0;
	if (!job->ask->always || is_for_one_run(entry))
		return refuse_once(job, path, entry, err);
	back = ab_printf("!%s", entry);
	if (ab_permit_file_project(job, workspace, &f, err) < 0 ||
	    ab_permit_file_change(job, &f, key, back, false, err) < 0)
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
static char *find_exception(const struct ab_permit_file *f, const char *path)
{
	ab_autostrv struct ab_strv list = { 0 };

	ab_permit_file_list(f, key, &list);
	for (size_t i = 0; i < list.len; i++) {
		const char *text = list.v[i];
		ab_autostrv struct ab_strv name = { 0 };
		bool holds;

		if (text[0] != '!' || text[1] == '/')
			continue;
		ab_strv_add(&name, text + 1);
		if (ab_names_opened(&name, path, &holds) && !holds)
			return ab_strdup(text);
	}
	return NULL;
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
	ab_auto_permit_file struct ab_permit_file f = { 0 };
	ab_autofree char *entry = NULL;
	struct ab_error none = { 0 };
	int result;

	/* A file that is not trusted takes nothing back. */
	if (!ab_path_within(path, workspace) ||
	    ab_permit_file_project(job, workspace, &f, &none) < 0)
		return 0;
	entry = find_exception(&f, path);
	if (!entry)
		return refuse_undo(job, workspace, path, err);
	result = ab_permit_file_change(job, &f, key, entry, true, err);
	if (result > 0)
		ab_strv_addf(&job->ret->said, "%s is protected again in %s", entry + 1, workspace);
	return result;
}
