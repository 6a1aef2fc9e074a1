#ifndef AB_SESSION_BROKER_WIRE_H
#define AB_SESSION_BROKER_WIRE_H
/* Between the supervisor (broker_ask.c) and its broker (broker.c). */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum kind { ASK_SWEEP, ASK_CONFIG, ASK_SECRET, ASK_LEAVE };

enum { PATH_ROOM = 4096, ANSWER_ROOM = 48 * 1024 };

struct ask {
	uint32_t kind;
	uint32_t secret;	/* ASK_SECRET */
	char path[PATH_ROOM];	/* ASK_CONFIG */
};

#define ASK_LEN(last) \
	(offsetof(struct ask, last) + sizeof(((struct ask *)0)->last))

struct answer {
	uint32_t news;		/* not an answer: about this secret, from 1 */
	int32_t result;
	struct ab_error error;	/* when result < 0 */
	/* ASK_SWEEP: one sentence each; news: the value */
	char lines[ANSWER_ROOM];
};

#define ANSWER_LEN(n) (offsetof(struct answer, lines) + (n))

struct ab_broker {
	pid_t pid;
	int sock;
};

#endif
