#ifndef AB_SESSION_CONSENT_CONSENT_H
#define AB_SESSION_CONSENT_CONSENT_H
/*
 * Before anything of it is started: may this command run, and who says so?
 *
 *	judge -> forbidden: refused
 *	      -> escalated: what is remembered, --yes, the approver, a person
 *	      -> else: go
 *
 * The judge is asked every time, so nothing that is remembered lifts what is
 * forbidden. Nothing is looked up unless the decision is escalated. Whatever
 * the answer, the command runs in the box.
 */
#include "session/state/approvals.h"
#include "shell/judge/judge.h"

struct ab_arena;
struct ab_error;
struct ab_policy;
struct ab_policy_input;
struct ab_request;

/* A command in its surroundings: what is judged and what answers are for. */
struct ab_command {
	const struct ab_policy *policy;
	const char *cwd;
	const char *const *argv;
	size_t argc;
	/* The text that argv gives to a shell, judged in its place so that
	 * what is said about it is said in the user's own words; NULL: none.
	 * Without argv: a text by itself. */
	const char *script;
};

void ab_consent_judge(struct ab_arena *arena, const struct ab_command *command,
		      struct ab_judgement *ret);
/* The key that answers for it are remembered by. */
void ab_consent_key(const struct ab_command *command, char ret_key[65]);

/* How it came to run. */
struct ab_consent {
	enum ab_decision decision;
	const char *rule;      /* "": none; lives as long as the policy */
	const char *user_rule; /* which of the user's, or NULL */
	const char *approved;  /* once, session, always, yes, approver; NULL:
				 * nobody had to be asked */
	char reason[256];      /* why it is what it is; for the record */
};

/* Does the judge permit it, so that nobody has to be asked? Has no effects. */
bool ab_consent_given(const struct ab_request *request, const struct ab_policy *policy,
		      struct ab_consent *ret);

/* 0: go on. Refused: AB_EREFUSED, with the part that decided in the hint.
 * `inside`: in a box already, where nobody is asked. */
int ab_consent_get(const struct ab_request *request, const struct ab_policy *policy, bool inside,
		   struct ab_consent *ret, struct ab_error *err);

#endif
