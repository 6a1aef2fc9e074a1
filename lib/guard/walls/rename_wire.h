#pragma once
/* Between the guard, which holds a rename of the box (guard/writes/held_renames.h), and the broker,
 * which carries it out. One struct per packet, each once. The length tells the requests apart. */
#include "base/base.h"

/* A file of git (guard/walls/git_files.h). */
struct ab_git_ask {
	uint64_t id;
	uint64_t dev, ino;     /* of the folder of both names */
	char from[24], to[24]; /* NUL-terminated */
};

/* A folder in a layer (guard/moves/moves.h). Comes with two descriptors: the folder that contains
 * `from`, and the one for `to`. */
struct ab_move_ask {
	uint64_t id;
	uint32_t noreplace; /* RENAME_NOREPLACE was given */
	char from[NAME_MAX + 1], to[NAME_MAX + 1];
	char path[1024]; /* of `from`, to show */
};

struct ab_rename_answer {
	uint64_t id;
	int32_t errnum;	  /* 0: done; -1: the kernel decides */
	char path[1024];  /* if it is refused, what to report; or "" */
	char reason[256]; /* the same */
};

/* If it cannot be sent, nothing is any more: the guard sees the end, and leaves to the kernel what waits and
 * what comes. */
void ab_rename_answer(int sock, const struct ab_rename_answer *answer);
