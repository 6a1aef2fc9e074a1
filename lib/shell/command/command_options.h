#ifndef AB_SHELL_COMMAND_COMMAND_OPTIONS_H
#define AB_SHELL_COMMAND_COMMAND_OPTIONS_H
/*
 * The options of a command, as getopt_long would see them: "-xvf FILE",
 * "-fFILE", "--file=FILE", "--fil FILE". A field of which the beginning is not
 * known counts as an operand.
 */
#include "shell/syntax/field.h"

struct ab_opts {
	const char *values; /* letters that take a value: "fC"; NULL: none */
	const char *longs;  /* names that take one, or that may be
				 * abbreviated: "file= directory= recursive" */
	bool first;	    /* the first operand ends them (wrappers) */
};

/* The same in a row of a table, without pointers: they would have to be
 * relocated at each start of the program. "" is none. */
#define AB_OPTS_ROW(values_size, longs_size) \
	struct {                             \
		char values[values_size];    \
		char longs[longs_size];      \
		bool first;                  \
	}
#define AB_OPTS(row) ((struct ab_opts){ (row).values, (row).longs, (row).first })

enum ab_opt {
	AB_OPT_END,
	AB_OPT_LETTER,	/* `letter` */
	AB_OPT_LONG,	/* `name`: in full where an abbreviation of one
				 * of `longs` was given; else as written */
	AB_OPT_OPERAND, /* `value`, argv[index] */
};

struct ab_opt_walk {
	const struct ab_opts *opts;
	const struct ab_field *argv;
	size_t argc, next;
	size_t index;	 /* of the word it stands in */
	bool ended;	 /* "--" was seen */
	uint32_t inside; /* a bundle: the next letter's place */
	char letter;
	struct ab_text name;   /* without dashes */
	struct ab_field value; /* text.s NULL: none */
};

/* From argv[1] on. */
void ab_opt_begin(struct ab_opt_walk *w, const struct ab_opts *opts, const struct ab_field *argv,
		  size_t argc);
enum ab_opt ab_opt_next(struct ab_opt_walk *w);
/* This option, by letter (0: none) or long name (NULL, "": none). */
bool ab_opt_is(const struct ab_opt_walk *w, enum ab_opt what, char letter, const char *name);

#endif
