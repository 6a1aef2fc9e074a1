#include "policy/edit/project_file.h"

#include "base/text/sha256.h"
#include "policy/edit/json_edit.h"
#include "policy/layers/trust.h"
#include "policy/read/settings_file.h"
#include "policy/values/paths.h"

void ab_project_file_fini(struct ab_project_file *file)
{
	ab_free_all(file->path, file->text);
	*file = (struct ab_project_file){ .path = NULL };
}

int ab_project_file_open(const struct ab_policy_input *in, const char *workspace,
			 struct ab_project_file *ret, struct ab_error *err)
{
	ab_autofree char *state = ab_state_dir(in->environ, in->home, in->cwd);

	*ret = (struct ab_project_file){ .in = *in };
	ret->in.workspace = ret->in.cwd = workspace;
	ret->in.judging = true;
	ret->path = ab_path_join(workspace, AB_PROJECT_CONFIG);
	if (ab_settings_file_read(ret->path, ret->path, true, &ret->text, &ret->len, err) < 0)
		return -1;
	if (ret->text &&
	    (!state || ab_trust_check(state, ret->path, ret->text, ret->len) != AB_TRUST_HOLDS)) {
		ab_fail(err, AB_EREFUSED, 0, "%s is not trusted, so nothing can be allowed in it",
			ret->path);
		return ab_hint(err, "review it first: agentbox trust");
	}
	return 0;
}

/* Trust exactly this text. */
static int record_text(const struct ab_project_file *file, char *text, struct ab_error *err)
{
	ab_autofree char *folder = realpath(file->in.workspace, NULL);
	ab_autofree char *real = folder ? ab_path_join(folder, AB_PROJECT_CONFIG) : NULL;
	struct ab_trust_review review = { .path = real, .text = text, .len = strlen(text) };

	if (!real)
		return ab_fail(err, AB_ESYSTEM, 0, "%s cannot be found", file->in.workspace);
	ab_sha256(text, review.len, review.sha256);
	return ab_trust_record(&file->in, &review, err);
}

/* Is the file what we meant to write, and nothing of anybody else? */
static int check_written(const struct ab_project_file *file, const char *expected,
			 struct ab_error *err)
{
	ab_autofree char *text = NULL;
	size_t len;

	if (ab_settings_file_read(file->path, file->path, true, &text, &len, err) < 0)
		return -1;
	if (text && len == strlen(expected) && memcmp(text, expected, len) == 0)
		return 0;
	ab_fail(err, AB_EREFUSED, 0, "%s was changed by another program at the same time",
		file->path);
	return ab_hint(err, "review it: agentbox trust");
}

/* The trust is recorded first: active runs reload the file as soon as it changes. */
static int edit_trusted(const struct ab_project_file *file, const struct ab_list_change *c,
			char *expected, struct ab_strv *diff, struct ab_error *err)
{
	struct ab_error none = { 0 };
	bool had;

	if (record_text(file, expected, err) < 0)
		return -1;
	if (ab_edit_file_change(&file->in, file->path, c, diff, err) == 0)
		return check_written(file, expected, err);
	/* Another program could write that text later. */
	if (!file->text || record_text(file, file->text, &none) < 0)
		(void)ab_trust_revoke(&file->in, NULL, &had, &none);
	return -1;
}

int ab_project_file_change(struct ab_project_file *file, const struct ab_list_change *c,
			   struct ab_strv *ret_diff, struct ab_error *err)
{
	ab_autofree char *expected = NULL;
	const char *old = file->text ? file->text : "";
	int changes = (c->remove ? ab_json_edit_remove : ab_json_edit_add)(
		old, file->len, c->key, c->value, &expected, err);

	if (changes < 0)
		return ab_wrap(err, "%s", file->path);
	if (changes == 0)
		return 0;
	if (edit_trusted(file, c, expected, ret_diff, err) < 0)
		return -1;
	free(file->text);
	file->len = strlen(expected);
	file->text = ab_take(expected);
	return 1;
}
