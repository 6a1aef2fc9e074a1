#pragma once
/*
 * Inside lib/policy: one element of a list, from the text as written to its
 * canonical form.
 */
#include "policy/model/config.h"

/* A value that is being set from its text. */
struct ab_put {
	const struct ab_context *ctx;
	const struct ab_key *key;
	struct ab_value *v;
	const struct ab_origin *from;
	struct ab_complaint *why; /* may be NULL */
};
/* Set the scalar, or add the element or elements of the text; -1: `why` says what is wrong. */
typedef int ab_put_fn(const struct ab_put *p, const char *text);
/* Add the text as it is. Returns 0. */
ab_put_fn ab_put_copy;

/* Add to a list in the arena, whose memory may belong to another list as well; unless it is there.
 * Both return 0. */
int ab_list_add(struct ab_arena *a, struct ab_strv *list, const char *text);
int ab_list_add_once(struct ab_arena *a, struct ab_strv *list, const char *text);

/* The clean absolute path of `text`, in the arena; NULL: it is not a path. */
const char *ab_list_element_path(const struct ab_context *ctx, const char *text,
				 struct ab_complaint *why);

/* Only letters, digits, "_" and characters of `more`; at most 255 bytes. */
bool ab_is_variable(const char *s, size_t len, const char *more);
/* Check the name of a variable; names of agentbox's own are refused. `shell`:
 * a shell must accept it too (no "-", no ".", no leading digit). */
int ab_variable_check(const char *s, size_t len, bool shell, struct ab_complaint *why);
