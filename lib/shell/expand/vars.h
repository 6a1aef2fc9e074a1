#pragma once
/*
 * The known values of shell variables at one point of a script.
 *
 * A variable has one value, several possible values (set in a branch, the words
 * of a `for`), or is unknown (the environment's, `read`). Values set in a
 * branch are joined with those from before it. A bounded number of names is
 * kept; others are unknown.
 */
#include "base/base.h"
#include "shell/syntax/field.h"

enum { AB_VALUES_MAX = 16, AB_VARS_MAX = 256 };

struct ab_var {
	struct ab_text text; /* AB_UNKNOWN as in a field */
	bool unknown;
	bool pattern; /* globs if used unquoted */
	unsigned taint;
	const struct ab_data *stream;  /* as in a field */
	const struct ab_fields *items; /* of an array; text is the first */
	const struct ab_var *next;     /* another possible value */
};

struct ab_vars;

/* `home` may be NULL. HOME, PWD and SHELL are known from the start. */
struct ab_vars *ab_vars_new(struct ab_arena *arena, const char *home, const char *cwd);
/* NULL: unknown. */
const struct ab_var *ab_vars_get(const struct ab_vars *vars, struct ab_text name);
/* The same for PWD. */
const struct ab_var *ab_vars_folder(const struct ab_vars *vars);
/* value NULL: unknown from here on. */
void ab_vars_set(struct ab_vars *vars, struct ab_text name, const struct ab_var *value);

/*
 * A branch: mark before it. Afterwards merge (it may or may not have been
 * taken) or undo (a subshell: its changes are lost).
 */
size_t ab_vars_mark(struct ab_vars *vars);
void ab_vars_merge(struct ab_vars *vars, size_t mark);
void ab_vars_undo(struct ab_vars *vars, size_t mark);

/* The possible values of both (NULL: unknown): at most AB_VALUES_MAX, and an unknown one for the
 * rest. `a` itself if the other adds nothing: most branches set a value again. */
const struct ab_var *ab_vars_join(struct ab_arena *arena, const struct ab_var *a,
				  const struct ab_var *b);

/* "$0", "$1" ...: the arguments of a function or of `sh -c script name args`,
 * its name first; NULL: unknown. Returns the former ones, to be restored. */
const struct ab_fields *ab_vars_positional(struct ab_vars *vars, const struct ab_fields *fields);
const struct ab_fields *ab_vars_args(const struct ab_vars *vars);

/* Charges bytes to the budget of all expansions; false: used up, and the result
 * of the expansion is unknown. */
bool ab_vars_spend(const struct ab_vars *vars, size_t bytes);
