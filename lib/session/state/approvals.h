#ifndef AB_SESSION_STATE_APPROVALS_H
#define AB_SESSION_STATE_APPROVALS_H
/*
 * Answers that are remembered: for a session, and "always".
 *
 * An answer holds for one key: this very command, in this folder, under this
 * policy. It answers the question and nothing else: what is forbidden is never
 * asked, so never looked up here.
 *
 *	$XDG_RUNTIME_DIR/agentbox/sessions/SESSION/KEY	approved, or denied
 *	STATE/sessions/SESSION/KEY		where there is no such folder
 *	STATE/approvals.json			always, with an end
 *
 * All of it is 0700/0600 and ours, and no box sees it. What a session left is
 * swept when the next one looks.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_error;
struct ab_policy_input;

enum ab_answer {
	AB_ANSWER_NO,
	AB_ANSWER_ONCE,
	AB_ANSWER_SESSION,
	AB_ANSWER_ALWAYS,
};

extern const char *const ab_answer_names[AB_ANSWER_ALWAYS + 1];
bool ab_answer_parse(const char *name, enum ab_answer *ret);

#define AB_ALWAYS_DAYS 30

/* Whose session: a name that is safe as one of a folder; "": not known. */
struct ab_session_key {
	char name[80];
};

/* That of the terminal: getsid(), and when its leader was started. */
void ab_session_of_caller(struct ab_session_key *ret);
/* That of an agent, which names it as it likes. */
void ab_session_of_agent(const char *id, struct ab_session_key *ret);

struct ab_approval {
	char id[8]; /* for people: "a3f09c1" */
	char key[65];
	bool session; /* of this one; else kept */
	bool deny;
	char *command; /* as it was shown */
	char *cwd, *rule;
	int64_t created, expires; /* seconds; expires 0: never */
};

struct ab_approval_list {
	struct ab_approval *v;
	size_t len;
};

void ab_approval_fini(struct ab_approval *approval);
void ab_approval_list_fini(struct ab_approval_list *list);

/*
 * The key: of a `kind` ("argv", "text"), its words, the folder, and the digest
 * of the policy.
 */
void ab_approval_key(const char *kind, const char *const *words, size_t nwords, const char *cwd,
		     const char *policy, char ret_key[65]);

/* What is remembered for a key, by this session first. */
enum ab_memory {
	AB_MEMORY_NONE,
	AB_MEMORY_DENIED,
	AB_MEMORY_SESSION,
	AB_MEMORY_ALWAYS,
};

/* `in` says where the stores are: environment, home, current folder. A store
 * that cannot be read counts as empty for *ret, and fails. */
int ab_approvals_find(const struct ab_policy_input *in, const struct ab_session_key *session,
		      const char *key, enum ab_memory *ret, char ret_id[8], struct ab_error *err);
/* By `session`: until it ends, approved or denied; else always, and `expires`
 * is set. Makes id and created. */
int ab_approvals_add(const struct ab_policy_input *in, const struct ab_session_key *session,
		     struct ab_approval *approval, struct ab_error *err);
/* Those of the session, and all that are kept and have not expired. */
int ab_approvals_list(const struct ab_policy_input *in, const struct ab_session_key *session,
		      struct ab_approval_list *ret, struct ab_error *err);
/* Forget; *ret_n says how many. `id`: NULL for all. */
enum ab_revoke { AB_REVOKE_BOTH, AB_REVOKE_SESSION };
int ab_approvals_revoke(const struct ab_policy_input *in, const struct ab_session_key *session,
			enum ab_revoke where, const char *id, size_t *ret_n, struct ab_error *err);

#endif
