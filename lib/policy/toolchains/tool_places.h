#pragma once
/*
 * Where the files of a user's tools are: in the home folder, and where a variable of the caller has moved
 * them, as CARGO_HOME moves ~/.cargo. One table, for the files that are hidden (policy/layers) and for those
 * that name registries (registries.h). It is about the host's files, so it does not matter whether the box
 * gets the variable.
 *
 * What a variable moves into the workspace is the project's, and is left out: the box sees and changes it,
 * and no registry in it counts.
 */
#include "base/base.h"

struct ab_tool_place {
	const struct ab_tool_place *next;
	const char *from; /* "~/.cargo"; "~": the home folder itself, the last one */
	const char *to;	  /* clean absolute ("" for "/"); links are not resolved */
	bool linked;	  /* a link in the workspace leads there: no registry in it counts */
};

/* In the arena. `cwd` and `workspace` are clean; `home` may be NULL. NULL: there is no place. */
const struct ab_tool_place *ab_tool_places_find(struct ab_arena *arena, char *const *environ,
						const char *home, const char *cwd,
						const char *workspace);

/* Where this place has a path ("~/.cargo/config.toml", perhaps with "!" before it), or what of it is
 * there if the path is a folder above; NULL: nothing. */
char *ab_tool_place_path(const struct ab_tool_place *place, const char *path);
