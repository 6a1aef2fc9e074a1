#include "layer/journal/view.h"

#include "layer/store/store.h"
#include "layer/walk/index.h"
#include "layer/walk/records.h"

static struct timespec from_ns(int64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

int ab_layer_open_view(const struct ab_layer_set *set, bool home, struct ab_layer_view *ret,
		       struct ab_error *err)
{
	const struct ab_layer_meta *meta = &set->meta;
	ab_autoview struct ab_layer_view view = AB_LAYER_VIEW_NONE;
	ab_autoclose int undo = -1, project = -1;

	view.home = home;
	view.copy = !home && meta->form == AB_LAYER_FORM_COPY;
	view.since = from_ns(!home && meta->project_ns ? meta->project_ns : meta->first_ns);
	view.latest = from_ns(meta->last_ns);
	view.upper = ab_layer_set_open(set, ab_layer_part(set, home), O_RDONLY | O_DIRECTORY);
	if (view.upper < 0 && errno == ENOENT)
		return ab_fail(err, AB_ENOTFOUND, ENOENT, "%s has no layer above %s", set->key,
			       home ? "the home folder" : "the workspace");
	if (view.upper < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "cannot open the layer of %s", set->key);
	/* A copy of an older version has no list, and no placeholders. */
	if (view.copy && ab_record_list_load(set->dir, AB_RECORD_WITHHELD, &view.withheld) < 0 &&
	    errno != ENOENT)
		return ab_fail(err, AB_ESYSTEM, errno,
			       "cannot read which files were not copied for %s", set->key);
	view.lower = ab_layer_root_open(set, home, err);
	if (view.lower < 0)
		return -1;
	ab_strv_sort(&view.withheld);
	if (home)
		(void)ab_record_list_load(set->dir, AB_RECORD_POINTS, &view.points);
	project = home ? -1 : ab_layer_set_open(set, "project", O_RDONLY | O_DIRECTORY);
	if (project >= 0)
		ab_index_recall(project, view.index);
	undo = ab_layer_set_open(set, "undo", O_RDONLY | O_DIRECTORY);
	if (undo >= 0)
		ab_known_read(&view.known, undo, ab_layer_known_name(home));
	*ret = view;
	view = (struct ab_layer_view)AB_LAYER_VIEW_NONE;
	return 0;
}

void ab_layer_view_fini(struct ab_layer_view *view)
{
	ab_close_all(&view->upper, &view->lower);
	ab_known_fini(&view->known);
	ab_strv_fini_all(&view->withheld, &view->points);
	*view = (struct ab_layer_view)AB_LAYER_VIEW_NONE;
}
