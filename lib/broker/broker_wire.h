#pragma once
/* Between the supervisor (broker_client.c) and its broker (broker.c). */
#include "base/base.h"
#include "base/process/helper.h"
#include "broker/broker.h"
#include "proxy/record/events.h"

enum kind {
	ASK_SWEEP,	 /* when init is gone */
	ASK_SWEEP_EMPTY, /* now: init is the only process of the box */
	ASK_SECRET,	 /* secret */
	ASK_LEAVE,
	ASK_OWNER,    /* peer */
	ASK_APPROVE,  /* text: the question */
	ASK_REMEMBER, /* text: '0' + enum ab_remember, and the entry */
	ASK_RELOAD,
	ASK_VIOLATION, /* text: the record */
	ASK_NOTICE,    /* text */
	ASK_GUARD,     /* built; one fd: the listener */
	ASK_UNHELD,
	ASK_WALLS, /* fds of ab_mounts_apply() */
	ASK_AGENT, /* connect to duty->agent */
	ASK_BEGIN, /* before the run: text: '1' or '0' (--yes), and the folder; fd: the copy of the
			* record, or none */
	ASK_COUNT,
};

enum { ENTRY_ROOM = 512, NOTICE_ROOM = 512, TEXT_ROOM = 48 * 1024 };

/* Kinds of answers beside the news. */
enum {
	ANSWER_FATAL = AB_NEWS_COUNT, /* the run must end */
	ANSWER_SWEPT,		      /* the reply to ASK_SWEEP; number: so many of its lines, the
				 * first ones, are notes */
	ANSWER_CHECKED, /* the reply to `wake`; claims; with result < 0 the text says why not */
};

struct ask {
	uint32_t kind;
	uint32_t ticket;
	union {
		uint32_t secret;
		struct ab_peer peer;
		struct ab_built built;
		char text[TEXT_ROOM + 1]; /* sent without a NUL */
	};
};

#define ASK_LEN(n) (offsetof(struct ask, text) + (n))

struct answer {
	/* enum ab_news_kind, or one of the above */
	uint32_t kind;
	uint32_t ticket;
	uint32_t number;
	int32_t result;
	uint64_t claims;
	struct ab_error error; /* when result < 0 */
	/* ASK_SWEEP: one sentence each; news: the text, unless it comes in a memfd */
	char lines[TEXT_ROOM + 1]; /* sent without a NUL */
};

#define ANSWER_LEN(n) (offsetof(struct answer, lines) + (n))

struct ab_broker {
	struct ab_helper helper;
	int wake;   /* an eventfd that asks whether a box that waits is still right; or -1 */
	bool swept; /* it exits by itself */
	bool dismissed;
};
