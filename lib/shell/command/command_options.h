#pragma once
/*
 * The options of a command, as getopt_long would see them: "-xvf FILE",
 * "-fFILE", "--file=FILE", "--fil FILE". A field with an unknown beginning
 * counts as an operand.
 */
#include "shell/syntax/field.h"

/* One per program: grammar.h. A row contains its texts: pointers would have to be relocated at each
 * start of the program. */
struct ab_grammar {
	/* Letters that take a value, then "-" and some that take none: "fC-qv". */
	char values[32];
	/* Names that take a value, and some that take none: "file= recursive". Sorted. */
	char longs[88];
	uint8_t ends; /* this many operands end the options; 0: none do */
	bool exact;   /* long names cannot be abbreviated */
	uint8_t more; /* so many rows that follow continue the long names */
};

enum ab_opt {
	AB_OPT_END,
	AB_OPT_LETTER,	/* `letter` */
	AB_OPT_LONG,	/* `name`: abbreviations of `longs` in full, others as written */
	AB_OPT_OPERAND, /* `value`, argv[index] */
};

/* An operand after an option that the grammar does not know may be its value. */
enum ab_unknown_option {
	AB_NO_UNKNOWN,
	AB_UNKNOWN_LETTER,
	AB_UNKNOWN_LONG,
};

struct ab_opt_walk {
	const struct ab_grammar *opts;
	const struct ab_field *argv;
	size_t argc, next;
	size_t index; /* of its word */
	bool ended;   /* after "--", or enough operands */
	size_t operands;
	enum ab_unknown_option unsure, maybe_value; /* the last; before this operand */
	uint32_t inside;			    /* a bundle: offset of the next letter */
	enum ab_opt what;
	char letter;
	struct ab_text name;   /* without dashes */
	struct ab_field value; /* text.s NULL: none */
};

/* From argv[1] on; grammar.h has the same for a command. */
static inline struct ab_opt_walk ab_opt_begin(const struct ab_grammar *opts,
					      const struct ab_field *argv, size_t argc)
{
	return (struct ab_opt_walk){ .opts = opts, .argv = argv, .argc = argc, .next = 1 };
}

/* False: at the end. */
bool ab_opt_next(struct ab_opt_walk *w);
/* The same, past all options. */
bool ab_opt_next_operand(struct ab_opt_walk *w);
/* Is it this option, by letter (0: none) or long name (NULL, "": none)? */
static inline bool ab_opt_is(const struct ab_opt_walk *w, char letter, const char *name)
{
	if (w->what == AB_OPT_LETTER)
		return letter && w->letter == letter;
	return w->what == AB_OPT_LONG && name && name[0] && ab_text_is(w->name, name);
}
/* Is its letter or its long name in a list: "o output"? */
bool ab_opt_listed(const struct ab_opt_walk *w, const char *list);
/* Is an option of the list given from here on? */
bool ab_opt_given(struct ab_opt_walk w, const char *list);
