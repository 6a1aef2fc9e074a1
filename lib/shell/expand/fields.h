#ifndef AB_SHELL_EXPAND_FIELDS_H
#define AB_SHELL_EXPAND_FIELDS_H
/*
 * The fields of one word while they are put together: pieces are added from
 * left to right, and what is unquoted ends fields. Between expand.c, which goes
 * through the parts, and param.c, which knows what parameters stand for.
 *
 * A field that is one piece stays a view of it. What expansions add to one
 * word is bounded; beyond the bound it is not known.
 */
#include "shell/expand/expand.h"

enum {
	AB_BUILD_BYTES_MAX = 64 << 10, /* that expansions add to a word */
	AB_BUILD_FIELDS_MAX = 1000,    /* that a word becomes */
	/* What a field costs of what all expansions may make. */
	AB_BUILD_FIELD_COST = 64,
};

struct ab_build {
	const struct ab_eval *e;
	struct ab_fields *fields; /* NULL: one field, nothing is split */
	size_t first;		  /* fields there were before this word */
	struct ab_span range;
	size_t left; /* of AB_BUILD_BYTES_MAX */
	bool over;   /* too many fields */
	/* The field that is not ended yet. */
	bool open;
	bool bracket; /* an unquoted [ is in it */
	struct ab_field field;
	char *own; /* its text, where it is no view */
	uint32_t room;
};

/* Literal: never split. `verbatim` as in a field. */
void ab_build_text(struct ab_build *b, struct ab_text text, bool quoted, uint32_t verbatim);
/* What came of an expansion: split where it is not quoted. */
void ab_build_value(struct ab_build *b, struct ab_text value, bool quoted, unsigned taint);
/* Nothing known; `whole`: but it is one piece of a word, as a number is. */
void ab_build_unknown(struct ab_build *b, bool whole, unsigned taint);
/* Ends the field that is open, if one is. */
void ab_build_break(struct ab_build *b);
/* All parts of a word; `operand`: it stands in an expansion, its unquoted text
 * is split like a value. */
void ab_build_parts(struct ab_build *b, const struct ab_part *parts, bool quoted, bool operand);

/* param.c */
void ab_build_param(struct ab_build *b, const struct ab_part *part, bool quoted);

/* Which of `n` possible things this evaluation takes; n: none of them, it is
 * unknown. `of` says where it is chosen. */
size_t ab_choose(const struct ab_eval *e, const void *of, size_t n);

/* A number as text. */
struct ab_text ab_text_number(struct ab_arena *arena, int64_t n);

#endif
