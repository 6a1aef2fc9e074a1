#include "broker/cleanup/shared_folders.h"

#include "layer/giveback/share.h"
#include "state/claim.h"
#include "workspace/tree/dir.h"

static void remove_folder(const struct ab_state *state, const char *own,
			  const struct ab_share *share)
{
	ab_autofree char *parent = ab_path_parent(share->path);
	const char *name = ab_path_name(share->path);
	ab_autoclose int at = -1;
	struct ab_claim claim;
	struct ab_error err = { 0 };

	ab_claim_init(&claim, state, own);
	claim.hasty = true;
	claim.unlisted = true; /* see ab_share_check() */
	if (ab_claim_take(&claim, share->path, NULL, &err) < 0)
		return;
	at = ab_open_beneath(AT_FDCWD, parent, O_PATH | O_DIRECTORY);
	if (at >= 0 && ab_share_is(share, at, name))
		(void)unlinkat(at, name, AT_REMOVEDIR);
	ab_claim_release(&claim);
}

void ab_shared_folders_remove(const struct ab_state *state, const char *own,
			      const struct ab_shares *shares)
{
	for (size_t i = shares->len; i-- > 0;)
		if (shares->v[i].created)
			remove_folder(state, own, &shares->v[i]);
}
