#ifndef AB_SESSION_WALLS_GIT_WIRE_H
#define AB_SESSION_WALLS_GIT_WIRE_H
/* Between the judge, which holds a rename of the box (session/writes/git_rename.h), and the broker,
 * which carries it out (session/walls/git_files.h). One struct per packet, each once. */
#include <stdint.h>

struct ab_git_ask {
	uint64_t id;
	uint64_t dev, ino;     /* of the folder of both names */
	char from[24], to[24]; /* NUL-terminated */
};

struct ab_git_answer {
	uint64_t id;
	int32_t errnum; /* 0: done; -1: not a file that agentbox closed */
	char path[1024];
	char reason[256];
};

#endif
