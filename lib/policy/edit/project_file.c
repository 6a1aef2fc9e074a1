#include "policy/edit/project_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/path.h"
#include "policy/edit/edit_file.h"
#include "policy/edit/json_edit.h"
#include "policy/layers/trust.h"
#include "policy/read/settings_file.h"
#include "policy/values/paths.h"

void ab_project_file_fini(struct ab_project_file *file)
{
	free(file->path);
	free(file->text);
	*file = (struct ab_project_file){ .path = NULL };
}

static int refuse_untrusted(const struct ab_project_file *file, struct ab_error *err)
{
	ab_fail(err, AB_EREFUSED, 0, "%s is not trusted, so nothing can be allowed in it",
		file->path);
	return ab_hint(err, "review it first: agentbox trust");
}

int ab_project_file_open(const struct ab_policy_input *in, const char *workspace,
			 struct ab_project_file *ret, struct ab_error *err)
{
	ab_autofree char *state = ab_state_dir(in->environ, in->home, in->cwd);

	*ret = (struct ab_project_file){ .in = *in };
	ret->in.workspace = workspace;
	ret->in.judging = true;
	ret->path = ab_path_join(workspace, AB_PROJECT_CONFIG);
	if (ab_settings_file_read(ret->path, ret->path, true, &ret->text, &ret->len, err) < 0)
		return -1;
	if (ret->text &&
	    (!state || ab_trust_check(state, ret->path, ret->text, ret->len) != AB_TRUST_HOLDS))
		return refuse_untrusted(ret, err);
	return 0;
}

/* Trust the new text if it is the old one and our change, and nothing of anybody else. */
static int trust_change(const struct ab_project_file *file, const char *expected,
			struct ab_error *err)
{
	struct ab_trust_review review;
	int result;

	if (ab_trust_review(&file->in, NULL, &review, err) < 0)
		return -1;
	if (review.len != strlen(expected) || memcmp(review.text, expected, review.len) != 0) {
		ab_fail(err, AB_EREFUSED, 0, "%s was changed by another program at the same time",
			file->path);
		result = ab_hint(err, "review it: agentbox trust");
	} else {
		result = ab_trust_record(&file->in, &review, err);
	}
	ab_trust_review_fini(&review);
	return result;
}

int ab_project_file_change(const struct ab_project_file *file, const struct ab_project_change *c,
			   struct ab_strv *ret_diff, struct ab_error *err)
{
	ab_autofree char *expected = NULL;
	const char *old = file->text ? file->text : "";
	int changes = c->remove ? ab_json_edit_remove(old, file->len, c->keys, c->nkeys, c->value,
						      &expected, err)
				: ab_json_edit_add(old, file->len, c->keys, c->nkeys, c->value,
						   &expected, err);

	if (changes <= 0)
		return changes;
	if ((c->remove ? ab_edit_file_remove : ab_edit_file_add)(
		    &file->in, file->path, c->keys, c->nkeys, c->value, ret_diff, err) < 0)
		return -1;
	return trust_change(file, expected, err) < 0 ? -1 : 1;
}
