/* A second run with the layer of a profile or a workspace: it must see what is kept, if possible,
 * and must not change it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "base/system/path.h"
#include "session/kept/kept_parts.h"

static void note_shared(const struct ab_layer_set *busy, const char *what, struct ab_strv *notes)
{
	const struct ab_strv *runs = &busy->meta.runs;

	ab_strv_addf(notes, "run %s uses the home layer %s: %s",
		     runs->len ? runs->v[runs->len - 1] : "(unknown)", busy->key, what);
}

int ab_kept_layers_share(const struct ab_kept_layers_wish *wish, const char *key,
			 struct ab_kept_layers *kept, struct ab_strv *notes, struct ab_error *err)
{
	ab_autolayerset struct ab_layer_set busy = AB_LAYER_SET_NONE;
	ab_autoclose int upper = -1;

	/* It may have been removed since; then there is nothing to see. */
	if (ab_layers_open(&wish->store, key, 0, &busy, err) < 0 && err->errnum != ENOENT)
		return ab_step(err, "layers");
	*err = (struct ab_error){ 0 };
	if (busy.dir >= 0)
		upper = ab_layer_set_open(&busy, "home/upper", O_PATH | O_DIRECTORY);
	if (upper < 0)
		return 0;
	/* The kernel refuses a lower folder that contains another one. */
	if (!ab_path_within(wish->store.path, kept->home)) {
		kept->below = ab_path_join(busy.path, "home/upper");
		note_shared(&busy,
			    "this run sees it, and what it writes to the home folder is gone at "
			    "its end",
			    notes);
		return 0;
	}
	note_shared(&busy,
		    "this run does not see it, and what it writes to the home folder is gone at "
		    "its end",
		    notes);
	return 0;
}
