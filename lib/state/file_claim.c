#include "state/file_claim.h"

#include "policy/layers/layers.h"
#include "policy/values/paths.h"
#include "sandbox/mount/furniture.h"

int ab_file_claim_take(const struct ab_policy_input *in, const char *path,
		       struct ab_file_claim *ret, struct ab_error *err)
{
	ab_autofree char *parent = ab_path_parent(path);
	ab_autofree char *dir = ab_state_dir(in->environ, in->home, in->cwd);
	ab_autostrv struct ab_strv name = { 0 };

	ret->taken = false;
	if (ab_furniture_boxed())
		return 0;
	if (!dir)
		return ab_fail(err, AB_ESYSTEM, 0,
			       "cannot find the state folder: the home folder is unknown");
	if (ab_state_open(dir, &ret->state, err) < 0)
		return -1;
	ab_claim_init(&ret->claim, &ret->state, NULL);
	ab_strv_add(&name, ab_path_name(path));
	if (ab_claim_take(&ret->claim, parent, &name, err) < 0) {
		ab_state_fini(&ret->state);
		return -1;
	}
	ret->taken = true;
	return 0;
}

void ab_file_claim_release(struct ab_file_claim *claim)
{
	if (!claim->taken)
		return;
	ab_claim_release(&claim->claim);
	ab_state_fini(&claim->state);
	claim->taken = false;
}
