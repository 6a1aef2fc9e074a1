#pragma once
/*
 * The addresses of a name.
 */
#include "base/base.h"

enum { AB_ANSWER_MAX = 16 }; /* addresses of each family; more are ignored */

enum ab_answer_kind {
	AB_ANSWER_NONE,	   /* no server answered */
	AB_ANSWER_NO_NAME, /* the name does not exist, or has no address */
	AB_ANSWER_OK,
};

struct ab_answer {
	enum ab_answer_kind kind;
	unsigned n4, n6;
	uint8_t v4[AB_ANSWER_MAX][4], v6[AB_ANSWER_MAX][16];
};

static inline void ab_answer_add(struct ab_answer *answer, bool v6, const void *addr)
{
	if (v6 && answer->n6 < AB_ANSWER_MAX)
		memcpy(answer->v6[answer->n6++], addr, 16);
	else if (!v6 && answer->n4 < AB_ANSWER_MAX)
		memcpy(answer->v4[answer->n4++], addr, 4);
}
