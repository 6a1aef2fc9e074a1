#pragma once
/*
 * Folders for mount points that agentbox made in the layer of a home, because something is mounted below it:
 * each folder that becomes a mount needs one of its own in the layer. Untouched, it is empty and as it was made. Then it
 * is no change, and it goes away when the box has ended: the host may have something else there by then.
 *
 * An entry is "MODE PATH". The list (AB_RECORD_POINTS) is kept beside the layer; one that is damaged counts as
 * empty.
 */
#include "base/base.h"

/* `path` is relative to the layer. */
void ab_points_add(struct ab_strv *points, const char *path, mode_t mode);
/* Was it made, and with this mode? */
bool ab_points_has(const struct ab_strv *points, const char *path, mode_t mode);
/* Is it, and is `name` in the folder `dir`, which it is, untouched? */
bool ab_points_untouched(const struct ab_strv *points, const char *path, int dir, const char *name,
			 mode_t mode);

/* Remove untouched ones from the layer; in the list stay those that a box has written to. */
void ab_points_tidy(struct ab_strv *points, int upper);
