#pragma once
/*
 * Builds the fields of one word: pieces are added from left to right, and
 * unquoted separators end fields. Shared by expand.c, which walks the parts,
 * and param.c, which knows the values of parameters.
 *
 * A field of one piece stays a view of it. The bytes that expansions add to one
 * word are bounded; beyond the bound they are unknown.
 */
#include "shell/expand/expand.h"

enum {
	AB_BUILD_BYTES_MAX = 64 << 10, /* added to a word by expansions */
	AB_BUILD_FIELDS_MAX = 1000,    /* per word */
	AB_BUILD_FIELD_COST = 64,      /* charged with ab_vars_spend() */
};

struct ab_build {
	const struct ab_eval *e;
	struct ab_fields *fields; /* NULL: one field, not split */
	size_t first;		  /* number of fields before this word */
	struct ab_span range;
	size_t left; /* of AB_BUILD_BYTES_MAX */
	bool over;   /* too many fields */
	/* The field being built. */
	bool open;
	bool bracket; /* it contains an unquoted [ */
	struct ab_field field;
	char *own; /* its text, unless it is a view */
	uint32_t room;
};

/* Literal: never split. `verbatim` and `bytes` as in a field. */
void ab_build_text(struct ab_build *b, struct ab_text text, bool quoted, uint32_t verbatim,
		   uint8_t bytes);
/* The value of an expansion: split unless quoted. */
void ab_build_value(struct ab_build *b, struct ab_text value, bool quoted, unsigned taint);
/* An unknown value; `whole`: it does not split, like a number. */
void ab_build_unknown(struct ab_build *b, bool whole, unsigned taint);
/* Ends the open field, if any. */
void ab_build_break(struct ab_build *b);
/* All parts of a word; `operand`: of an expansion, so its unquoted text is
 * split like a value. */
void ab_build_parts(struct ab_build *b, const struct ab_part *parts, bool quoted, bool operand);

/* param.c */
void ab_build_param(struct ab_build *b, const struct ab_part *part, bool quoted);

/* The index of the value this round uses, below `n`; n: unknown. `of`
 * identifies the choice. */
size_t ab_choose(const struct ab_eval *e, const void *of, size_t n);

enum { AB_NUMBER_SIZE = 24 };

/* A number as text, at the end of `room` or in the arena. */
struct ab_text ab_number_text(int64_t n, char room[static AB_NUMBER_SIZE]);
struct ab_text ab_text_number(struct ab_arena *arena, int64_t n);
