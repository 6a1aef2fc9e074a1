#ifndef AB_POLICY_MODEL_LIST_ELEMENT_H
#define AB_POLICY_MODEL_LIST_ELEMENT_H
/*
 * Inside lib/policy: one element of a list, from the text as written to its
 * canonical form.
 */
#include "policy/model/config.h"

/* The clean absolute path of `text`, in the arena; NULL: it is not a path. */
const char *ab_list_element_path(const struct ab_context *ctx, const char *text,
				 struct ab_complaint *why);

/* Only letters, digits, "_" and characters of `more`; at most 255 bytes. */
bool ab_is_variable(const char *s, size_t len, const char *more);
/* Check the name of a variable; names of agentbox's own are refused. `shell`:
 * a shell must accept it too (no "-", no ".", no leading digit). */
int ab_variable_check(const char *s, size_t len, bool shell, struct ab_complaint *why);

#endif
