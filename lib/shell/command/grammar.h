#ifndef AB_SHELL_COMMAND_GRAMMAR_H
#define AB_SHELL_COMMAND_GRAMMAR_H
/*
 * The option grammar: which options of a program take a value. Every matcher
 * that has to tell options from operands asks here, by the program's name, so
 * that all of them read a command line in the same way.
 *
 * Options that take no value need not be listed, with two exceptions: one that
 * is the beginning of a longer name that takes a value ("pre" of pip, beside
 * "prefix="), and one that people write before a subcommand. What the grammar
 * does not list may or may not take a value, so tool.c tries both readings.
 *
 * Pure, no memory.
 */
#include "shell/command/command_options.h"

/*
 * One row, or several with the same name, of which the first has everything
 * but the rest of the long names. Sorted by name. The texts stand in the row:
 * a pointer would have to be relocated at each start of the program.
 */
struct ab_grammar {
	char name[20];	 /* "git"; of a subcommand "git checkout" */
	char values[32]; /* as in struct ab_opts; "=NAME": the row of that name */
	char longs[80];
	unsigned char ends;
	bool exact;
};

extern const struct ab_grammar ab_grammars[];
extern const size_t ab_ngrammars;

/* Without options where the program has no row. */
struct ab_opts ab_grammar(struct ab_text name);
struct ab_opts ab_grammar_of(const char *name);
/* Of a subcommand that has options of its own: "git", "checkout". */
struct ab_opts ab_grammar_sub(const char *program, struct ab_text sub);

#endif
