/* A second run with the layer of a profile or a workspace: it must see what is kept, if possible,
 * and must not change it. */
#include "workspace/tree/copy_tree.h"
#include "state/kept/kept_parts.h"

/* A copy of this size takes a moment, and is worth it. */
enum { COPY_BYTES = 64 << 20, COPY_ENTRIES = 10000 };

static void note_shared(const struct ab_layer_set *busy, const char *what, struct ab_strv *notes)
{
	const struct ab_strv *runs = &busy->meta.runs;

	ab_strv_addf(notes,
		     "run %s uses the home layer %s: %s, and what it writes to the home folder is "
		     "gone at its end",
		     runs->len ? runs->v[runs->len - 1] : "(unknown)", busy->key, what);
}

/* 0, or an errno. */
static int copy_upper(const struct ab_layer_set *set, int from)
{
	ab_autoclose int to = ab_layer_set_open(set, "home/upper", O_RDONLY | O_DIRECTORY);
	struct ab_copy_tree copy = { .max_entries = COPY_ENTRIES,
				     .max_bytes = COPY_BYTES,
				     .one_mount = true,
				     .skip_special = true,
				     .upper = true };
	int errnum = to < 0 ? errno : ab_copy_folder(&copy, from, to);

	ab_copy_tree_fini(&copy);
	return errnum;
}

/* A private copy as this run's layer. 0: it has one, or cannot have one, which *ret_why says. */
static int take_copy(const struct ab_kept_layers_wish *wish, const struct ab_layer_set *busy,
		     struct ab_kept_layers *kept, const char **ret_why, struct ab_error *err)
{
	ab_autoclose int from = ab_layer_set_open(busy, "home/upper", O_RDONLY | O_DIRECTORY);
	int errnum;

	if (from < 0) {
		*ret_why = strerror(errno);
		return 0;
	}
	if (ab_layers_open_private(&wish->store, &kept->set, err) < 0)
		return ab_step(err, "layers");
	kept->copy = true;
	if (ab_layer_set_make(&kept->set, "home", from, &kept->upper, &kept->work, err) < 0)
		return ab_step(err, "layers");
	errnum = copy_upper(&kept->set, from);
	if (errnum) {
		*ret_why = errnum == EFBIG ? "it is larger than 64 MB or 10000 files"
					   : strerror(errnum);
		ab_kept_layers_leave_home(kept, &wish->store, NULL);
	}
	return 0;
}

int ab_kept_layers_share(const struct ab_kept_layers_wish *wish, const char *key,
			 struct ab_kept_layers *kept, struct ab_strv *notes, struct ab_error *err)
{
	ab_autolayerset struct ab_layer_set busy = AB_LAYER_SET_NONE;
	ab_autofree char *what = NULL;
	const char *why = NULL;

	/* It may have been removed since; then there is nothing to see. */
	if (ab_layers_open(&wish->store, key, 0, &busy, err) < 0) {
		if (err->errnum != ENOENT)
			return ab_step(err, "layers");
		*err = (struct ab_error){ 0 };
		return 0;
	}
	ab_strv_extend(&kept->placeholders, &busy.meta.placeholders);
	/* The kernel refuses a lower folder that contains another one. */
	if (!ab_path_within(wish->store.path, kept->home)) {
		kept->below = ab_path_join(busy.path, "home/upper");
		note_shared(&busy, "this run sees it below a temporary one", notes);
		return 0;
	}
	if (take_copy(wish, &busy, kept, &why, err) < 0)
		return -1;
	if (!why) {
		note_shared(&busy, "this run has a private copy of it", notes);
		return 0;
	}
	what = ab_printf("this run begins with an empty one (no copy: %s)", why);
	note_shared(&busy, what, notes);
	return 0;
}
