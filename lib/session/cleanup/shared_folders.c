#include "session/cleanup/shared_folders.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "session/state/claim.h"
#include "session/state/state.h"
#include "workspace/tree/dir.h"

static void remove_folder(const struct ab_run *run, const char *path)
{
	ab_autofree char *parent = ab_path_parent(path);
	ab_autoclose int at = -1;
	struct ab_claim claim;
	struct ab_error err = { 0 };

	ab_claim_init(&claim, run->state, run->id);
	claim.hasty = true;
	if (ab_claim_take(&claim, path, NULL, &err) < 0)
		return;
	at = ab_open_beneath(AT_FDCWD, parent, O_PATH | O_DIRECTORY);
	if (at >= 0)
		(void)unlinkat(at, ab_path_name(path), AT_REMOVEDIR);
	ab_claim_release(&claim);
}

void ab_shared_folders_remove(const struct ab_run *run, const struct ab_strv *created)
{
	for (size_t i = created ? created->len : 0; i-- > 0;)
		remove_folder(run, created->v[i]);
}
