#pragma once
/*
 * `agentbox secrets`: the secrets of a policy, as text and as JSON. A report
 * never contains values. `list` looks at sources without opening them and runs
 * nothing; `check` reads each one as a run would, and discards the value; `rotate`
 * gives new placeholders.
 */
#include "policy/model/secrets.h"

struct ab_policy;
struct ab_policy_input;

enum ab_source_state {
	AB_SOURCE_SET, /* a variable that is not empty */
	AB_SOURCE_EMPTY,
	AB_SOURCE_UNSET,
	AB_SOURCE_THERE, /* a file that can be read */
	AB_SOURCE_MISSING,
	AB_SOURCE_UNREADABLE,
	AB_SOURCE_COMMAND, /* unknown until it runs */
};

enum ab_source_result {
	AB_RESULT_OK,
	AB_RESULT_UNSET, /* a run skips it; not a failure */
	AB_RESULT_FAIL,
};

struct ab_secret_row {
	const struct ab_secret *secret; /* owned by the report's policy */
	enum ab_source_state state;
	/* Of `check`: */
	enum ab_source_result result;
	char *problem, *remedy; /* sentences, or "" */
};

struct ab_secrets_report {
	struct ab_policy *policy;
	struct ab_secret_row *v;
	size_t len;
	struct ab_strv uncovered; /* of `list`: exposed credentials, a line each */
	struct ab_strv unused;	  /* of `list`: keys that no secret uses (policy/show/summary.h) */
	bool failed;		  /* of `check` */
};

/* `ret_notes`: messages about the policy. */
int ab_secrets_report_list(const struct ab_policy_input *input, struct ab_secrets_report *ret,
			   struct ab_strv *ret_notes, struct ab_error *err);
/* All secrets, or those with these names; a name that the policy does not have
 * is treated as if --secret had named it. */
int ab_secrets_report_check(const struct ab_policy_input *input, const char *const *names,
			    size_t nnames, struct ab_secrets_report *ret, struct ab_strv *ret_notes,
			    struct ab_error *err);
/* Replace the placeholders of these secrets, or of all in the policy, for the runs that start from now
 * on. *ret: their names. `state`: the state folder. */
int ab_secrets_report_rotate(const struct ab_policy_input *input, int state,
			     const char *const *names, size_t nnames, struct ab_strv *ret,
			     struct ab_strv *ret_notes, struct ab_error *err);
void ab_secrets_report_fini(struct ab_secrets_report *report);

/* The caller frees the texts. */
char *ab_secrets_report_list_text(const struct ab_secrets_report *report);
char *ab_secrets_report_list_json(const struct ab_secrets_report *report);
char *ab_secrets_report_check_text(const struct ab_secrets_report *report);
char *ab_secrets_report_check_json(const struct ab_secrets_report *report);
/* The built-in services. */
char *ab_secrets_report_providers_text(void);
char *ab_secrets_report_providers_json(void);
