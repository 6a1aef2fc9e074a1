#ifndef AB_SHELL_EXPAND_VARS_H
#define AB_SHELL_EXPAND_VARS_H
/*
 * What is known of the shell's variables at one place of a script.
 *
 * A variable has one value, or several of which any may be the one (set in a
 * branch, the words of a `for`), or is not known at all (the environment's,
 * `read`). What was set in a branch is joined with what was there before it.
 * A bounded number of names is kept; what is beyond is not known.
 */
#include "shell/syntax/field.h"

struct ab_arena;

enum { AB_VALUES_MAX = 16, AB_VARS_MAX = 256 };

struct ab_var {
	struct ab_text text; /* AB_UNKNOWN as in a field */
	bool unknown;
	bool pattern; /* globs when it is used unquoted */
	unsigned taint;
	const struct ab_data *stream;  /* as of a field */
	const struct ab_fields *items; /* of an array; text is the first */
	const struct ab_var *next;     /* another that it may have */
};

struct ab_vars;

/* `home` may be NULL. HOME, PWD and SHELL are known from the start. */
struct ab_vars *ab_vars_new(struct ab_arena *arena, const char *home, const char *cwd);
/* NULL: nothing is known of it. */
const struct ab_var *ab_vars_get(const struct ab_vars *vars, struct ab_text name);
/* value NULL: from here on nothing is known of it. */
void ab_vars_set(struct ab_vars *vars, struct ab_text name, const struct ab_var *value);

/*
 * A branch: mark before it. Afterwards merge (it may have been taken, or not)
 * or undo (a subshell: what was set in it is gone).
 */
size_t ab_vars_mark(struct ab_vars *vars);
void ab_vars_merge(struct ab_vars *vars, size_t mark);
void ab_vars_undo(struct ab_vars *vars, size_t mark);

/* "$0", "$1" ...: what a function or `sh -c script name args` was given, its
 * name first; NULL fields: not known. Returns the former ones, to be put
 * back. */
const struct ab_fields *ab_vars_positional(struct ab_vars *vars, const struct ab_fields *fields);
const struct ab_fields *ab_vars_args(const struct ab_vars *vars);

/* All expansions together may make so many bytes: takes from what is left, and
 * is false when nothing is. What would come of it is not known then. */
bool ab_vars_spend(const struct ab_vars *vars, size_t bytes);

#endif
