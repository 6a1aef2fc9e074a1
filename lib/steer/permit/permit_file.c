/*
 * The settings file that an answer for always goes to: the user's, or the project's, which must be
 * trusted, or new.
 */
#include "policy/edit/json_edit.h"
#include "policy/read/settings_file.h"
#include "state/file_claim.h"
#include "steer/permit/permit_state.h"

void ab_permit_file_fini(struct ab_permit_file *f)
{
	ab_project_file_fini(&f->file);
	free(f->workspace);
}

int ab_permit_file_user(struct ab_permit_job *job, struct ab_permit_file *ret, struct ab_error *err)
{
	struct ab_project_file *f = &ret->file;

	f->in = *job->ask->input;
	f->path = ab_policy_user_file(&f->in, err);
	if (!f->path)
		return -1;
	return ab_settings_file_read(f->path, f->path, false, &f->text, &f->len, err) < 0 ? -1 : 0;
}

int ab_permit_file_project(struct ab_permit_job *job, const char *workspace,
			   struct ab_permit_file *ret, struct ab_error *err)
{
	ret->workspace = ab_strdup(workspace);
	return ab_project_file_open(job->ask->input, ret->workspace, &ret->file, err);
}

/* The text of the user's file is not needed again. */
static int change_user_file(const struct ab_project_file *f, const struct ab_list_change *c,
			    struct ab_strv *diff, struct ab_error *err)
{
	size_t before = diff->len;

	if (ab_edit_file_change(&f->in, f->path, c, diff, err) < 0)
		return -1;
	return diff->len > before;
}

/* A run that is active would take a new file for its own, and move it to quarantine. */
static int change_project_file(struct ab_permit_job *job, struct ab_project_file *f,
			       const struct ab_list_change *c, struct ab_error *err)
{
	ab_auto(ab_file_claim_release) struct ab_file_claim claim = { 0 };

	if (ab_file_claim_take(job->ask->input, f->path, &claim, err) < 0) {
		if (err->code == AB_EREFUSED)
			ab_hint(err, "repeat this when the run has ended, or answer [p]roject when "
				     "it asks");
		return -1;
	}
	return ab_project_file_change(f, c, &job->ret->diff, err);
}

struct list_key {
	char group[16];
	const char *keys[2];
};

static void split_key(const char *key, struct list_key *ret)
{
	const char *dot = strchr(key, '.');

	snprintf(ret->group, sizeof(ret->group), "%.*s", (int)(dot - key), key);
	ret->keys[0] = ret->group;
	ret->keys[1] = dot + 1;
}

void ab_permit_file_list(const struct ab_permit_file *f, const char *key, struct ab_strv *ret)
{
	struct list_key names;

	split_key(key, &names);
	if (f->file.text)
		ab_json_edit_list(f->file.text, f->file.len, names.keys, AB_COUNT(names.keys), ret);
}

int ab_permit_file_change(struct ab_permit_job *job, struct ab_permit_file *f, const char *key,
			  const char *entry, bool remove, struct ab_error *err)
{
	struct list_key names;
	struct ab_list_change c = {
		.keys = names.keys, .nkeys = AB_COUNT(names.keys), .value = entry, .remove = remove
	};

	split_key(key, &names);
	if (!job->ret->file)
		job->ret->file = ab_strdup(f->file.path);
	return f->workspace ? change_project_file(job, &f->file, &c, err)
			    : change_user_file(&f->file, &c, &job->ret->diff, err);
}
