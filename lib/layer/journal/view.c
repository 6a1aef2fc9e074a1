#include "layer/journal/view.h"

#include "layer/store/store.h"
#include "layer/walk/index.h"
#include "layer/walk/withheld.h"

static struct timespec from_ns(int64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

int ab_layer_open_view(const struct ab_layer_set *set, bool home, struct ab_layer_opened *ret,
		       struct ab_error *err)
{
	const struct ab_layer_meta *meta = &set->meta;
	int64_t first = !home && meta->project_ns ? meta->project_ns : meta->first_ns;
	bool copy = !home && meta->form == AB_LAYER_FORM_COPY;
	ab_autoclose int upper = -1, lower = -1, undo = -1, project = -1;

	upper = ab_layer_set_open(set, ab_layer_part(set, home), O_RDONLY | O_DIRECTORY);
	if (upper < 0 && errno == ENOENT)
		return ab_fail(err, AB_ENOTFOUND, ENOENT, "%s has no layer above %s", set->key,
			       home ? "the home folder" : "the workspace");
	if (upper < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot open the layer of %s", set->key);
	ret->withheld = (struct ab_strv){ 0 };
	/* A copy of an older version has no list, and no placeholders. */
	if (copy && ab_withheld_load(&ret->withheld, set) < 0 && errno != ENOENT)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "cannot read which files were not copied for %s", set->key);
	lower = ab_layer_root_open(set, home, err);
	if (lower < 0) {
		ab_strv_fini(&ret->withheld);
		return -1;
	}
	ret->view = (struct ab_layer_view){
		.upper = ab_take_fd(&upper),
		.lower = ab_take_fd(&lower),
		.home = home,
		.copy = copy,
		.since = from_ns(first),
		.latest = from_ns(meta->last_ns),
		.known = &ret->known,
		.withheld = &ret->withheld,
	};
	ret->known = (struct ab_known){ 0 };
	project = home ? -1 : ab_layer_set_open(set, "project", O_RDONLY | O_DIRECTORY);
	if (project >= 0)
		ab_index_recall(project, ret->view.index);
	undo = ab_layer_set_open(set, "undo", O_RDONLY | O_DIRECTORY);
	if (undo >= 0)
		ab_known_read(&ret->known, undo, ab_layer_known_name(home));
	return 0;
}

void ab_layer_opened_fini(struct ab_layer_opened *opened)
{
	ab_close_all(&opened->view.upper, &opened->view.lower);
	ab_known_fini(&opened->known);
	ab_strv_fini(&opened->withheld);
	*opened = (struct ab_layer_opened)AB_LAYER_OPENED_NONE;
}
