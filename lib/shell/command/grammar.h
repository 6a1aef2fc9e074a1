#pragma once
/*
 * The option grammar: the options of each program that take a value. All
 * matchers use it to distinguish options from operands, so they all read a
 * command line in the same way.
 *
 * An unlisted option may or may not take a value, so tool.c tries both readings.
 *
 * Pure, no memory.
 */
#include "shell/command/simple.h"

/*
 * scripts/judge-tables makes the rows of tables/options.txt. Some continue the long names of the row
 * above, in order. A row contains its texts: pointers would have to be relocated at each start of
 * the program.
 */
struct ab_name_slot;

struct ab_grammar {
	char values[32]; /* as in struct ab_opts */
	char longs[88];
	unsigned char ends;
	bool exact;
};

extern const struct ab_grammar ab_grammars[];
extern const size_t ab_ngrammars;

/* Empty if the program has no row. */
struct ab_opts ab_grammar(struct ab_text name);
struct ab_opts ab_grammar_of(const char *name);
struct ab_opts ab_grammar_row(const struct ab_name_slot *slot);
/* Of a program that the command is, or is like. */
static inline struct ab_opts ab_grammar_as(const struct ab_simple *command, const char *program)
{
	return ab_text_is(command->name, program) ? command->opts : ab_grammar_of(program);
}
/* The options of a command, by its own grammar, and by that of a program that it is like. */
static inline struct ab_opt_walk ab_opt_begin_own(const struct ab_simple *command)
{
	return ab_opt_begin(command->opts, command->argv, command->argc);
}
static inline struct ab_opt_walk ab_opt_begin_as(const struct ab_simple *command,
						 const char *program)
{
	return ab_opt_begin(ab_grammar_as(command, program), command->argv, command->argc);
}
/* For a subcommand with its own options: "git", "checkout". */
struct ab_opts ab_grammar_sub(const char *program, struct ab_text sub);
