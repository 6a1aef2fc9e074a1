#pragma once
/*
 * Reads both sides of a change, as far as it is compared, and finds its labels.
 *
 * Files are opened beneath their folder, without links, and only if they are still the files that
 * were looked at (ab_look_open_known()).
 */
#include "base/base.h"
#include "layer/diff/gitdirs.h"

struct ab_change;
struct ab_changes;
struct ab_host_names;
struct ab_label_hits;
struct ab_layer_view;

/* A regular file, or the target of a link; at most AB_TEXT_MAX bytes of it. */
struct ab_content {
	char *data; /* NULL: there is none, or it could not be read */
	size_t len;
	bool cut;   /* there is more */
	int errnum; /* why it could not be read, or 0 */
};

struct ab_contents {
	struct ab_content old, fresh;
	bool binary; /* one of the two is not text */
};

void ab_contents_read(const struct ab_layer_view *view, const struct ab_change *change,
		      struct ab_contents *ret);
void ab_contents_fini(struct ab_contents *contents);
#define ab_autocontents __attribute__((cleanup(ab_contents_fini)))

/* Can the two be compared line by line? */
bool ab_contents_are_text(const struct ab_contents *contents);

/* What the labels of one change depend on besides itself. Zero-initialized is empty. */
struct ab_label_scene {
	bool mass;		    /* they delete many files, or more than half of the tree */
	struct ab_host_names *host; /* NULL: do not add their labels */
	struct ab_gitdirs gitdirs;
};
void ab_label_scene_init(struct ab_label_scene *scene, const struct ab_layer_view *view,
			 const struct ab_changes *changes);
void ab_label_scene_fini(struct ab_label_scene *scene);
#define ab_autoscene __attribute__((cleanup(ab_label_scene_fini)))

/* The labels of one of these changes. Sets change->labels. */
void ab_contents_label(const struct ab_layer_view *view, const struct ab_label_scene *scene,
		       struct ab_change *change, const struct ab_contents *contents,
		       struct ab_label_hits *ret);

/* Read all of them and set their `labels`; true: there are some. `again`: the host's files may have
 * changed since, so only those that have none are looked at. */
bool ab_changes_label(const struct ab_layer_view *view, struct ab_changes *changes, bool again);
