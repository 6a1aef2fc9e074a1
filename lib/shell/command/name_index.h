#pragma once
/*
 * Which tables of lib/shell have a row for a program, which row it is, and where its option
 * grammar is. A command is looked up once; then no table is searched for its name.
 * scripts/judge-tables makes the index from the tables at build time.
 */
#include "shell/command/judge_ids.h" /* enum ab_table, in the order of scripts/judge-tables */
#include "shell/command/simple.h"
#include "shell/syntax/name_table.h"

/* A slot of the hash table; an empty name ends a search. */
struct ab_name_slot {
	char name[22] ab_unterminated; /* not terminated if it is that long */
	uint8_t len;
	uint16_t grammar; /* first row + 1; 0: none */
	uint16_t rows;	  /* in ab_name_rows: one for each of its tables, in their order */
	uint32_t tables;
};

extern const struct ab_name_slot ab_name_index[];
/* Row of the table + 1. */
extern const uint16_t ab_name_rows[];
extern const uint32_t ab_name_slots; /* a power of two */

/* NULL: not in the index. */
const struct ab_name_slot *ab_name_find(struct ab_text name);
/* Find the tables that know the command's name, or the name without a version at its
 * end, the grammar of its options, and its signs. All else in it is set. Every command
 * must be looked up before it is judged. */
void ab_command_look_up(struct ab_simple *command);

/* May a table know the program? */
static inline bool ab_command_in(const struct ab_simple *command, unsigned tables)
{
	return command->tables & tables;
}

/* May it have one of these signs? */
static inline bool ab_command_shows(const struct ab_simple *command, unsigned signs)
{
	return command->signs & signs;
}

/* The row of one table + 1; 0: none. */
static inline size_t ab_name_row(const struct ab_name_slot *slot, unsigned table)
{
	if (!slot || !(slot->tables & table))
		return 0;
	return ab_name_rows[slot->rows + __builtin_popcount(slot->tables & (table - 1))];
}

/*
 * A row of a table in the index, and the programs that it is about: sorted, with blanks
 * between. scripts/judge-tables reads the names in the source, so the row does not have them.
 */
#define AB_PROGRAMS(names, ...) \
	{                       \
		__VA_ARGS__     \
	}

/* The row of a slot, of a name, of the command's name; or NULL. */
#define AB_SLOT_ROW(rows, table, slot)                    \
	({                                                \
		size_t row_ = ab_name_row((slot), table); \
		row_ ? &(rows)[row_ - 1] : NULL;          \
	})
#define AB_NAME_ROW(rows, table, name) AB_SLOT_ROW(rows, table, ab_name_find(name))
#define AB_COMMAND_ROW(rows, table, command) AB_SLOT_ROW(rows, table, (command)->slot)
