#ifndef AB_SHELL_COMMAND_GRAMMAR_H
#define AB_SHELL_COMMAND_GRAMMAR_H
/*
 * The option grammar: the options of each program that take a value. All
 * matchers use it to distinguish options from operands, so they all read a
 * command line in the same way.
 *
 * Options without a value need not be listed, with two exceptions: a prefix of
 * a longer name that takes a value ("pre" of pip, because of "prefix="), and
 * options that people write before a subcommand. An unlisted option may or may
 * not take a value, so tool.c tries both readings.
 *
 * Pure, no memory.
 */
#include "shell/command/simple.h"

/*
 * One row, or several with the same name: the others only continue the long
 * names of the first. Sorted by name. A row contains its texts: pointers would
 * have to be relocated at each start of the program.
 */
struct ab_name_slot;

struct ab_grammar {
	char name[20];	 /* "git"; for a subcommand "git checkout" */
	char values[32]; /* as in struct ab_opts; "=NAME": the row of that name */
	char longs[80];
	unsigned char ends;
	bool exact;
};

extern const struct ab_grammar ab_grammars[];
extern const size_t ab_ngrammars;

/* Empty if the program has no row. */
struct ab_opts ab_grammar(struct ab_text name);
struct ab_opts ab_grammar_of(const char *name);
struct ab_opts ab_grammar_row(const struct ab_name_slot *slot);
/* Of a command, which usually was looked up. */
static inline struct ab_opts ab_grammar_for(const struct ab_simple *command)
{
	return command->tables ? command->opts : ab_grammar(command->name);
}
/* Of a program that the command is, or is like. */
static inline struct ab_opts ab_grammar_as(const struct ab_simple *command, const char *program)
{
	return command->tables && ab_text_is(command->name, program) ? command->opts
								     : ab_grammar_of(program);
}
/* For a subcommand with its own options: "git", "checkout". */
struct ab_opts ab_grammar_sub(const char *program, struct ab_text sub);

#endif
