#pragma once
/*
 * Folders that are examined when the run has ended, wherever they are: there a call of the box may have
 * created a repository or a part of one, or put a folder. The guard notes them while the box runs, and
 * the broker reads them when it is gone.
 *
 * They are in memory that both share, so they survive a guard that is killed. The guard may be hostile:
 * the reader trusts no length, and looks at what it finds there only.
 */
#include "base/base.h"

struct ab_spots;

enum ab_spot {
	AB_SPOT_FOLDER = 'f', /* a repository may be in it, or it may be one */
	AB_SPOT_TREE = 't',   /* or below it: the folder was put there with everything in it */
};

/* Before the fork; NULL: there is no memory. `room`: bytes of paths, 0 for the usual. It lives as long as the
 * process. */
struct ab_spots *ab_spots_new(size_t room);

/* An absolute path, once. One without room is left out, and is_whole() is false from then on. */
void ab_spots_add(struct ab_spots *spots, enum ab_spot kind, const char *path);
/* Something could not be noted. */
void ab_spots_lose(struct ab_spots *spots);

bool ab_spots_is_whole(const struct ab_spots *spots);
/* The next one, to be freed; *at is 0 at first. NULL: there is none. */
char *ab_spots_next(const struct ab_spots *spots, size_t *at, enum ab_spot *ret_kind);
