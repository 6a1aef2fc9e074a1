#ifndef AB_SHELL_EXPAND_EXPAND_H
#define AB_SHELL_EXPAND_EXPAND_H
/*
 * Words to fields: quotes joined, ~ and known variables put in, braces
 * expanded, unquoted values split. What cannot be known becomes AB_UNKNOWN.
 * File names are not expanded: a pattern stays one field, marked. A process
 * substitution is an unknown field with the taint of what it prints.
 *
 * Pure. What command substitutions print stands in their parts: whoever walks
 * the tree puts it there first.
 */
#include "shell/expand/vars.h"
#include "shell/syntax/field.h"

struct ab_arena;

/* Where a text stands in the outermost one. */
struct ab_nesting {
	struct ab_span where; /* the word that it was */
	uint32_t verbatim;    /* where its first byte stands, byte for byte;
				 * the outermost text: 0 */
};

struct ab_span ab_nesting_map(const struct ab_nesting *source, struct ab_span range);

/*
 * Where several values are possible each combination is one evaluation:
 * begin with a zeroed struct, evaluate all words of the command, and again
 * while next() says so. Beyond a bounded number the value is unknown.
 */
struct ab_choices {
	struct {
		const void *of;
		uint16_t n, at;
	} v[8];
	size_t len;
	size_t product; /* of all n; 0: there are none */
	bool spent;	/* too much was made of them ... */
	bool last;	/* ... and this is the round for all others:
				 * in it every one of them is unknown */
};

bool ab_choices_next(struct ab_choices *choices);

struct ab_eval {
	struct ab_arena *arena;
	const struct ab_vars *vars;
	const struct ab_nesting *source;
	struct ab_choices *choices;
};

/* As an argument of a command: any number of fields is added. Over the bound
 * (a brace bomb) one unknown field that splits stands for all. */
void ab_eval_word(const struct ab_eval *e, const struct ab_shell_word *word,
		  struct ab_fields *fields);
/* As the value of an assignment, the target of a redirection, a here-document:
 * exactly one field, no splitting, no braces. */
void ab_eval_single(const struct ab_eval *e, const struct ab_shell_word *word,
		    struct ab_field *ret);

void ab_fields_add(struct ab_arena *arena, struct ab_fields *fields, const struct ab_field *field);

#endif
