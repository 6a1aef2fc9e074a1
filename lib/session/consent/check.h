#ifndef AB_SESSION_CONSENT_CHECK_H
#define AB_SESSION_CONSENT_CHECK_H
#include <stddef.h>

struct ab_error;
struct ab_judgement;
struct ab_policy_input;
struct ab_strv;

/*
 * Judges commands without running them. A judgement, and what it points to, is
 * valid until the next call; shell/judge/judge_report.h turns it into text.
 * ret_notes: messages about the policy.
 */
struct ab_check;

int ab_check_new(const struct ab_policy_input *input, struct ab_check **ret,
		 struct ab_strv *ret_notes, struct ab_error *err);
void ab_check_free(struct ab_check *check);
const struct ab_judgement *ab_check_text(struct ab_check *check, const char *text, size_t len);
const struct ab_judgement *ab_check_argv(struct ab_check *check, const char *const *argv,
					 size_t argc);

#endif
