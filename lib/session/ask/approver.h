#ifndef AB_SESSION_ASK_APPROVER_H
#define AB_SESSION_ASK_APPROVER_H
/*
 * A program that answers instead of a person. It runs on the host, outside of
 * any box: before there is one about a command, beside it about a host.
 *
 *	stdin	one JSON object that says what is asked
 *	stdout	{"answer": "once"|"session"|"run"|"always"|"no",
 *		 "reason": "..."}
 *
 * Of a session there is one run when it is about a host, so "run" and
 * "session" are the same answer.
 *
 * Whatever else happens is a no: another status than 0, other output, too much
 * of it, no end in time. Its process group is ended with it.
 */
#include "session/state/approvals.h"
#include "shell/judge/judge.h"

struct ab_buf;

#define AB_APPROVER_MS 60000

struct ab_approver_reply {
	enum ab_answer answer;
	bool failed;   /* it gave no answer; `why` says how */
	char why[256]; /* or what it gave as a reason, or "" */
};

/* What is asked, as JSON. `session` may be NULL. Pure. */
void ab_approver_request(struct ab_buf *b, const struct ab_judgement *judgement,
			 const char *const *argv, size_t argc, const char *cwd,
			 const char *session);
/* What an answer says. Pure. */
void ab_approver_parse(const char *text, size_t len, struct ab_approver_reply *ret);
/* Run `command` with /bin/sh and ask it. */
void ab_approver_ask(const char *command, const char *request, size_t len, unsigned timeout_ms,
		     struct ab_approver_reply *ret);

#endif
