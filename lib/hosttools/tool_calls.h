#pragma once
/*
 * Inside the broker of the tools: one call, from the connection to the end of the program.
 *
 *	connected -> (judged) -> [waits for an answer] -> runs -> over
 */
#include "base/system/loop.h"
#include "hosttools/tool_broker.h"
#include "hosttools/tool_streams.h"

struct ab_tool_call;

struct ab_tool_calls {
	struct ab_loop loop;
	const struct ab_tool_broker_setup *setup;
	struct ab_source listener, supervisor, children;
	char *workspace; /* real */
	int root;	 /* the workspace */
	struct ab_tool_call *first;
	unsigned count, running;
	uint32_t numbers; /* used for denials and questions */
	struct {
		uint32_t number;
		char text[720];
	} rows[AB_TOOL_ROWS];
	unsigned nrows;
	struct ab_strv granted; /* words that were approved for this run */
	bool ending;
	struct ab_timer end; /* then the rest is killed */
};

/* The socket that listens in the box. */
int ab_tool_calls_listen(struct ab_tool_calls *calls, int fd, struct ab_error *err);
/* The answer to a question. */
void ab_tool_calls_answer(struct ab_tool_calls *calls, uint32_t number, uint32_t answer);
/* A program that we started has ended or stopped. */
void ab_tool_calls_reap(struct ab_tool_calls *calls);
/* The run ends: end the programs. The loop stops when they are gone. */
void ab_tool_calls_end(struct ab_tool_calls *calls);
