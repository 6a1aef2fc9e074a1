#pragma once
/*
 * Finds credentials that the box would see: those that a placeholder cannot
 * replace (they sign), and variables that look like credentials and are passed
 * without a secret that covers them. Changes nothing.
 */
#include "base/base.h"

struct ab_policy;
struct ab_spec;

/* Adds a sentence for each. `spec`: the box as planned; NULL: derive it from
 * the policy and the caller's environment. */
void ab_uncovered_find(const struct ab_policy *policy, char *const *caller,
		       const struct ab_spec *spec, struct ab_strv *ret);

/* Adds a sentence for each variable of the environment that holds a key which no
 * placeholder can replace. */
void ab_uncovered_variables(const struct ab_policy *policy, const struct ab_strv *env,
			    struct ab_strv *ret);
