#pragma once
#include "base/base.h"

struct ab_judgement;
struct ab_policy_input;

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
