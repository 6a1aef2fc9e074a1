#pragma once
/*
 * Words to fields: quotes removed, ~ and known variables replaced, braces
 * expanded, unquoted values split. An unknown value becomes AB_UNKNOWN. File
 * names are not expanded: a pattern stays one marked field. A process
 * substitution is an unknown field with the taint of its output.
 *
 * Pure. The tree walker stores the output of command substitutions in their
 * parts first.
 */
#include "base/base.h"
#include "shell/expand/vars.h"
#include "shell/syntax/field.h"

/* The position of a text in the outermost text. */
struct ab_nesting {
	struct ab_span where; /* the word it came from */
	uint32_t verbatim;    /* offset of its bytes; 0: the outermost text */
};

struct ab_span ab_nesting_map(const struct ab_nesting *source, struct ab_span range);

/*
 * Each combination of possible values is one evaluation (a round): begin with
 * a zeroed struct, evaluate all words of the command, and repeat while
 * ab_choices_next() returns true. Beyond a bound the value is unknown.
 */
struct ab_choices {
	struct {
		const void *of;
		uint16_t n, at;
	} v[8];
	size_t len;
	size_t product; /* of all n; 0: there are none */
	bool spent;	/* the budget is used up */
	bool last;	/* then one last round treats every choice as unknown */
};

bool ab_choices_next(struct ab_choices *choices);

struct ab_eval {
	struct ab_arena *arena;
	const struct ab_vars *vars;
	const struct ab_nesting *source;
	struct ab_choices *choices;
};

/* As an argument of a command: adds any number of fields. Over the bound (a
 * brace bomb) it adds one unknown field that splits instead. */
void ab_eval_word(const struct ab_eval *e, const struct ab_shell_word *word,
		  struct ab_fields *fields);
/* As the value of an assignment, the target of a redirection, a here-document:
 * exactly one field, no splitting, no braces. */
void ab_eval_single(const struct ab_eval *e, const struct ab_shell_word *word,
		    struct ab_field *ret);

/* A copy of `n` fields, of which there may be none. */
struct ab_fields *ab_fields_of(struct ab_arena *arena, const struct ab_field *v, size_t n);
/* A new field at the end; the caller fills it. */
void ab_fields_grow(struct ab_arena *arena, struct ab_fields *fields);
static inline struct ab_field *ab_fields_next(struct ab_arena *arena, struct ab_fields *fields)
{
	if (fields->len == fields->room)
		ab_fields_grow(arena, fields);
	return &fields->v[fields->len++];
}
