#pragma once
/*
 * Remembered answers: for a session, and "always".
 *
 * An answer applies to one key: this exact command, in this folder, under this
 * policy. It answers the question and nothing else: a forbidden command raises
 * no question, so it is never looked up here.
 *
 *	$XDG_RUNTIME_DIR/agentbox/sessions/SESSION/KEY	approved, or denied
 *	STATE/sessions/SESSION/KEY		without a runtime folder
 *	STATE/approvals.json			always, with an expiry date
 *
 * All of it is 0700/0600 and private to the user, and no box sees it. The next
 * session removes what an ended one left.
 */
#include "base/base.h"

struct ab_policy_input;

enum ab_answer {
	AB_ANSWER_NO,
	AB_ANSWER_ONCE,
	AB_ANSWER_SESSION,
	AB_ANSWER_ALWAYS,
};

extern const char *const ab_answer_names[AB_ANSWER_ALWAYS + 1];

#define AB_ALWAYS_DAYS 30

/* The name of a session, safe as a folder name; "": unknown. */
struct ab_session_key {
	char name[80];
};

/* The terminal's session: getsid(), and the start time of its leader. */
void ab_session_of_caller(struct ab_session_key *ret);
/* An agent's session; the agent chooses the id. */
void ab_session_of_agent(const char *id, struct ab_session_key *ret);

struct ab_approval {
	char id[8]; /* for people: "a3f09c1" */
	char key[65];
	bool session; /* for this session; else always */
	bool deny;
	char *command; /* as shown to the user */
	char *cwd, *rule;
	int64_t created, expires; /* seconds; expires 0: never */
};

struct ab_approval_list {
	struct ab_approval *v;
	size_t len;
};

void ab_approval_fini(struct ab_approval *approval);
void ab_approval_list_fini(struct ab_approval_list *list);

/* The key: a hash of the kind ("argv", "text"), the words, the folder, and the digest of the
 * policy. */
void ab_approval_key(const char *kind, const char *const *words, size_t nwords, const char *cwd,
		     const char *policy, char ret_key[65]);

/* The remembered answer for a key; this session's comes first. */
enum ab_memory {
	AB_MEMORY_NONE,
	AB_MEMORY_DENIED,
	AB_MEMORY_SESSION,
	AB_MEMORY_ALWAYS,
};

/* `in` locates the stores: environment, home, current folder. If a store cannot be read, this
 * fails, and *ret is as if the store were empty. */
int ab_approvals_find(const struct ab_policy_input *in, const struct ab_session_key *session,
		      const char *key, enum ab_memory *ret, char ret_id[8], struct ab_error *err);
/* approval->session: until the session ends, approved or denied; else always, and sets `expires`.
 * Sets id and created. */
int ab_approvals_add(const struct ab_policy_input *in, const struct ab_session_key *session,
		     struct ab_approval *approval, struct ab_error *err);
/* The session's, and all others that have not expired. */
int ab_approvals_list(const struct ab_policy_input *in, const struct ab_session_key *session,
		      struct ab_approval_list *ret, struct ab_error *err);
/* Forget answers; *ret_n: how many. `id`: NULL for all. */
enum ab_revoke { AB_REVOKE_BOTH, AB_REVOKE_SESSION };
int ab_approvals_revoke(const struct ab_policy_input *in, const struct ab_session_key *session,
			enum ab_revoke where, const char *id, size_t *ret_n, struct ab_error *err);
