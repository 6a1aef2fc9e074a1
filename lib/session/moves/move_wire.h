#ifndef AB_SESSION_MOVES_MOVE_WIRE_H
#define AB_SESSION_MOVES_MOVE_WIRE_H
/* Between the judge, which holds a rename of the box (session/writes/folder_rename.h), and the
 * broker, which carries it out (session/moves/moves.h). One struct per packet, each once. They share
 * a socket with session/walls/git_wire.h: the length tells them apart. */
#include <limits.h>
#include <stdint.h>

/* Comes with two descriptors: the folder that contains `from`, and the one for `to`. */
struct ab_move_ask {
	uint64_t id;
	uint32_t noreplace; /* RENAME_NOREPLACE was given */
	char from[NAME_MAX + 1], to[NAME_MAX + 1];
	char path[1024]; /* of `from`, to show */
};

struct ab_move_answer {
	uint64_t id;
	int32_t errnum; /* 0: done; -1: the kernel decides */
};

#endif
