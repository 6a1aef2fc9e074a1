#ifndef AB_SESSION_SECRETS_SECRETS_REPORT_H
#define AB_SESSION_SECRETS_SECRETS_REPORT_H
/*
 * What a policy's secrets mean here, before any run: for people and programs.
 * Values are never part of it. A list looks at sources without opening them
 * and runs nothing; a check reads each one, as a run would, and forgets it.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/data/strv.h"
#include "policy/model/secrets.h"

struct ab_error;
struct ab_policy;
struct ab_policy_input;

enum ab_source_state {
	AB_SOURCE_SET, /* a variable that has a text */
	AB_SOURCE_EMPTY,
	AB_SOURCE_UNSET,
	AB_SOURCE_THERE, /* a file that can be read */
	AB_SOURCE_MISSING,
	AB_SOURCE_UNREADABLE,
	AB_SOURCE_COMMAND, /* nobody knows before it is run */
};

enum ab_source_result {
	AB_RESULT_OK,
	AB_RESULT_UNSET, /* left out of a run; no failure */
	AB_RESULT_FAIL,
};

struct ab_secret_row {
	const struct ab_secret *secret; /* the report's policy has it */
	enum ab_source_state state;
	/* Of a check: */
	enum ab_source_result result;
	char *problem, *remedy; /* sentences; "": there is none */
};

struct ab_secrets_report {
	struct ab_policy *policy;
	struct ab_secret_row *v;
	size_t len;
	struct ab_strv uncovered; /* of a list: credentials that nothing
					 * stands for, a line each */
	bool failed;		  /* of a check */
};

/* `ret_notes`: what a person should know of the policy. */
int ab_secrets_report_list(const struct ab_policy_input *input, struct ab_secrets_report *ret,
			   struct ab_strv *ret_notes, struct ab_error *err);
/* All of them, or those with these names; one that the policy has not is taken
 * as if --secret had named it. */
int ab_secrets_report_check(const struct ab_policy_input *input, const char *const *names,
			    size_t nnames, struct ab_secrets_report *ret, struct ab_strv *ret_notes,
			    struct ab_error *err);
void ab_secrets_report_fini(struct ab_secrets_report *report);

/* The caller frees what these give. */
char *ab_secrets_report_list_text(const struct ab_secrets_report *report);
char *ab_secrets_report_list_json(const struct ab_secrets_report *report);
char *ab_secrets_report_check_text(const struct ab_secrets_report *report);
char *ab_secrets_report_check_json(const struct ab_secrets_report *report);
/* The services that are known by name. */
char *ab_secrets_report_providers_text(void);
char *ab_secrets_report_providers_json(void);

#endif
