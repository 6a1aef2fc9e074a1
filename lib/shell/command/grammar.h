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

struct ab_name_slot;

/* scripts/judge-tables makes the rows of tables/options.txt. */
extern const struct ab_grammar ab_grammars[];
extern const size_t ab_ngrammars;

/* Empty if the program has no row. */
const struct ab_grammar *ab_grammar(struct ab_text name);
const struct ab_grammar *ab_grammar_of(const char *name);
const struct ab_grammar *ab_grammar_row(const struct ab_name_slot *slot);
/* Of a program that the command is, or is like. */
static inline const struct ab_grammar *ab_grammar_as(const struct ab_simple *command,
						     const char *program)
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
const struct ab_grammar *ab_grammar_sub(const char *program, struct ab_text sub);
