#pragma once
/*
 * Where a path leads by its text, and what the plan and the survey say about that place. Pure.
 *
 * Most names of a run are absolute or relative to a folder whose real path is known, and pass no
 * link. For these the text is enough to see that nothing of the box denies them; every other name
 * must be looked up. A link that was overlooked only means that a denial is not reported.
 */
#include "base/base.h"

struct ab_plan;
struct ab_survey;

/* The clean absolute form of `path`, relative to the clean `dir`; trailing slashes and "." do not
 * count. NULL: the text does not say where it leads (empty, "..", longer than PATH_MAX). */
const char *ab_place_clean(struct ab_arena *arena, const char *dir, const char *path);

/* The last name of a path, and its length without the slashes at its end; everything before it. */
const char *ab_place_last(const char *path, size_t *ret_len);
const char *ab_place_above(struct ab_arena *arena, const char *path);

/* Can a name be created, replaced or removed here, and written to, as far as the box decides? False
 * in doubt, and for a mount point itself. */
bool ab_place_is_open(const struct ab_plan *plan, const char *path);

/* Does the path name a protected object that was missing at the start? */
bool ab_place_is_protected(const struct ab_survey *survey, const char *path);

/* The length of the folder that contains this path and is directly in a mount point or a watched
 * folder; 0: the path itself is. *ret_same: what the two above say about the path, they say about
 * everything below that folder. */
size_t ab_place_find_folder(const struct ab_plan *plan, const struct ab_survey *survey,
			    const char *path, bool *ret_same);
