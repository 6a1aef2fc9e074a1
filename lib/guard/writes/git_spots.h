#pragma once
/*
 * Notes where a call of the box may make a repository that programs outside obey, for the search at the
 * end of the run (workspace/quarantine/spots.h): it creates or writes a name that belongs to one, or
 * moves a folder, whatever is in it.
 *
 * A second thread can change the name before the kernel reads it: then the search at the end finds the
 * repository by itself, as far as it goes.
 */
#include "base/base.h"

struct ab_held;
struct ab_call_name;
struct ab_spots;
struct ab_survey;
struct ab_touch;

struct ab_git_spots {
	struct ab_spots *spots;
	const struct ab_survey *survey; /* folders outside its roots are not noted */
};

/* `names`: those of the call, for a rename the new one first. */
void ab_git_spots_note(const struct ab_git_spots *spots, const struct ab_held *call,
		       const struct ab_touch *touch, const struct ab_call_name *names);
