#ifndef AB_POLICY_MODEL_LIST_ELEMENT_H
#define AB_POLICY_MODEL_LIST_ELEMENT_H
/*
 * Inside lib/policy: one element of a list, from the text that somebody wrote
 * to its canonical form.
 */
#include "policy/model/config.h"

int ab_list_element_put(const struct ab_context *ctx, const struct ab_key *key, struct ab_value *v,
			const char *text, const struct ab_origin *from, struct ab_complaint *why);

/* The clean absolute path that `text` means, in the arena; NULL: none. */
const char *ab_list_element_path(const struct ab_context *ctx, const char *text,
				 struct ab_complaint *why);

/* Letters, digits, "_" and what is in `more`; at most 255 bytes. */
bool ab_is_variable(const char *s, size_t len, const char *more);
/* A name that a variable can have, and none of agentbox's own. `shell`: one
 * that a shell can use too, without "-", "." and a digit in front. */
int ab_variable_check(const char *s, size_t len, bool shell, struct ab_complaint *why);

#endif
