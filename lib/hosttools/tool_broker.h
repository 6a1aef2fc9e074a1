#pragma once
/*
 * The broker of the tools: a process of its own, forked before the supervisor locks itself in, because
 * it starts programs of the host. Commands of the box connect to it (tool_wire.h). It judges their
 * words (tool_words.h), tells the supervisor, and starts the program in a box of its own: it executes
 * our binary again, which becomes a run with the settings of that tool. It ends with the supervisor,
 * and ends what it has started before.
 *
 *	broker -> supervisor	struct ab_tool_note
 *	supervisor -> broker	struct ab_tool_order; with a descriptor: the socket that listens in the box
 */
#include "base/base.h"

struct ab_helper;
struct ab_policy;

/* argv[0] of our binary when it becomes the run of a tool; see cmd/tool.c. */
#define AB_TOOL_RUN_NAME "agentbox-tool"

enum {
	AB_TOOL_RUNS_MAX = 16,	 /* at the same time */
	AB_TOOL_CALLS_MAX = 64,	 /* connections, also those that wait for an answer */
	AB_TOOL_ROWS = 64,	 /* denials that are told apart */
	AB_TOOL_ASKED_MAX = 240, /* bytes of words that a question can show */
};

enum ab_tool_news {
	AB_TOOL_NEWS_DENIED,  /* `number`, `rule`, `why` */
	AB_TOOL_NEWS_WAITS,   /* for the answer to the question `number` */
	AB_TOOL_NEWS_SETTLED, /* nobody waits for it any more; `status`: enum ab_settled; or it was
			       * answered before */
	AB_TOOL_NEWS_STARTED, /* `rule`, `why`: the pattern */
	AB_TOOL_NEWS_ENDED,   /* `status`, `ms` */
};

struct ab_tool_note {
	uint32_t news;
	uint32_t number; /* RUN-t1; 0: none */
	int32_t status;	 /* exit status, or minus the signal */
	uint64_t ms;
	bool unconfined;
	char tool[72];
	char words[600]; /* with the name of the tool, quoted; cut off */
	char cwd[512];	 /* in the box */
	char rule[32];
	char why[600];
};

struct ab_tool_order {
	uint32_t number; /* of a question; 0: none */
	uint32_t answer; /* enum ab_host_answer */
};

struct ab_tool_broker_setup {
	const struct ab_policy *policy;
	char *const *env; /* the caller's */
	const char *run;
};

int ab_tool_broker_start(const struct ab_tool_broker_setup *setup, struct ab_helper *ret,
			 struct ab_error *err);

/* In the run of a tool: the settings of its box, from the descriptor with this number; free it. */
char *ab_tool_settings(const char *number, struct ab_error *err);
