#pragma once
/*
 * The supervisor's side of the broker of the tools: starts it, gives it the box's socket, writes its
 * notes to the record, hands its questions on, and waits for it at the end.
 */
#include "base/base.h"

struct ab_log;
struct ab_loop;
struct ab_tool_broker_setup;
struct ab_tool_note;
struct ab_tool_watch;

/* Before the supervisor locks itself in. `strict`: a note that cannot be recorded is an error. */
int ab_tool_watch_start(const struct ab_tool_broker_setup *setup, struct ab_log *log, bool strict,
			struct ab_tool_watch **ret, struct ab_error *err);

struct ab_tool_watch_hands {
	void (*fail)(void *arg, const struct ab_error *err); /* called once: a record failed */
	void (*wants)(void *arg, const struct ab_tool_note *note);
	void (*settled)(void *arg, uint32_t number, int how); /* enum ab_settled */
	void *arg;
};
int ab_tool_watch_attach(struct ab_tool_watch *watch, struct ab_loop *loop,
			 const struct ab_tool_watch_hands *hands, struct ab_error *err);
/* The socket that listens in the box. */
void ab_tool_watch_listen(struct ab_tool_watch *watch, int fd);
/* `answer`: enum ab_host_answer; `by`: who gave it, for the record. */
void ab_tool_watch_answer(struct ab_tool_watch *watch, uint32_t number, int answer, const char *by);

/* The box is gone: let the broker end the tools. It works between the two calls. */
void ab_tool_watch_end(struct ab_tool_watch *watch);
/* Wait for that, and free the watch. *ret_denied: lines about denials. -1: a note could not be
 * recorded. */
int ab_tool_watch_ended(struct ab_tool_watch *watch, struct ab_strv *ret_denied,
			struct ab_error *err);
