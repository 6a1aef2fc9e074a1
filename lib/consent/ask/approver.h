#pragma once
/*
 * A program that answers instead of a person. It runs on the host, outside any
 * box: before the box exists for a command, beside it for a host.
 *
 *	stdin	the question, one JSON object
 *	stdout	{"answer": "once"|"session"|"run"|"always"|"no",
 *		 "reason": "..."}
 *
 * For hosts, "session" means this run, so "run" is the same answer.
 *
 * Anything else counts as no: a non-zero exit status, other output, too much
 * output, a timeout. Its process group is killed when it ends.
 */
#include "base/base.h"
#include "shell/judge/judge.h"
#include "state/approvals.h"

#define AB_APPROVER_MS 60000

struct ab_approver_reply {
	enum ab_answer answer;
	bool failed;   /* no valid answer; `why` says what went wrong */
	char why[256]; /* else the reason that it gave, or "" */
};

/* The question as JSON. `session` may be NULL. Pure. */
void ab_approver_request(struct ab_buf *b, const struct ab_judgement *judgement,
			 const char *const *argv, size_t argc, const char *cwd,
			 const char *session);
/* It has failed, and why. */
void ab_approver_fail(struct ab_approver_reply *ret, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Pure. */
void ab_approver_parse(const char *text, size_t len, struct ab_approver_reply *ret);
/* Run `command`, which ab_host_command_check() accepted, with /bin/sh and ask it. */
void ab_approver_ask(const char *command, const struct ab_strv *touched, const char *request,
		     size_t len, unsigned timeout_ms, struct ab_approver_reply *ret);
