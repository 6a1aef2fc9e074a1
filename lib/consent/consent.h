#pragma once
/*
 * Decides whether a command may run, before any of it is started.
 *
 *	judge -> forbidden: refused
 *	      -> escalated: a remembered answer, --yes, the approver, a person;
 *		 not if it would only read what the box hides (closed_files.h)
 *	      -> else: it runs
 *
 * The judge is asked every time, so no remembered answer can permit what is
 * forbidden. Answers are looked up only if the verdict is escalated. Whatever
 * the answer, the command only ever runs in the box.
 */
#include "base/base.h"
#include "shell/judge/judge.h"
#include "state/approvals.h"

struct ab_policy;
struct ab_request;

/* What the judge sees, and what an answer applies to. */
struct ab_command {
	const struct ab_policy *policy;
	const char *cwd;
	const char *const *argv;
	size_t argc;
	/* The text that argv hands to a shell, or NULL. It is judged in place
	 * of argv, so that messages quote what the user wrote. Without argv: a
	 * text by itself. */
	const char *script;
};

void ab_consent_judge(struct ab_arena *arena, const struct ab_command *command,
		      struct ab_judgement *ret);
/* The same by other rules than the policy's. */
struct ab_ruling;
void ab_consent_judge_by(struct ab_arena *arena, const struct ab_command *command,
			 const struct ab_ruling *ruling, struct ab_judgement *ret);
/* The key under which its answers are remembered. */
void ab_consent_key(const struct ab_command *command, char ret_key[65]);

/* Why the command may run. */
struct ab_consent {
	enum ab_decision decision;
	const char *rule;      /* "": none; lives as long as the policy */
	const char *user_rule; /* the user's own rule, or NULL */
	/* once, session, always, yes, approver; NULL: no approval needed */
	const char *approved;
	char reason[256]; /* of the verdict; for the record */
};

/* Does the judge permit it without approval? Has no effects. */
bool ab_consent_given(const struct ab_request *request, const struct ab_policy *policy,
		      struct ab_consent *ret);

/* 0: it may run. Refused: AB_EREFUSED, with the deciding part in the hint.
 * `inside`: we run in a box ourselves and cannot ask anybody. */
int ab_consent_get(const struct ab_request *request, const struct ab_policy *policy, bool inside,
		   struct ab_consent *ret, struct ab_error *err);

/*
 * The same for a command that another process has judged, which runs a box that stays: refuse it,
 * or get the approval. `key` is that of ab_consent_key() there.
 */
int ab_consent_act(const struct ab_request *request, const struct ab_judgement *judgement,
		   const char key[65], struct ab_consent *ret, struct ab_error *err);
