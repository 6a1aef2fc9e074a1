#pragma once
/*
 * Programs with subcommands and options, as tables (lib/shell/tables): what each combination of
 * words does. A subcommand follows the tool's own options, which are in the grammar. An
 * operand after an unknown option may be its value, so deeds are matched with and
 * without that operand: an unknown option hides nothing. A request for help or the
 * version matches no deed, except one that allows.
 *
 * Pure, no memory.
 */
#include "shell/command/command_options.h"
#include "shell/command/name_index.h"
#include "shell/command/rules.h"

/* How the programs are asked for help, in the first of their deeds. */
enum ab_help {
	AB_ALSO,	/* not the first: another deed of the same programs */
	AB_HELP_ALONE,	/* --help; -h -V -? as the only argument: if a table does not say */
	AB_HELP_LETTER, /* "help: -h": also -h as the last word */
	AB_HELP_LONG,	/* "help: --help only": -h has another meaning */
};

/*
 * Options in a list are separated by blanks: "-f --force" "--dry-run=client". A
 * letter also matches in a bundle, a long name also when abbreviated; "-XPOST" is
 * a letter with its value, "-delete" a whole word. "*" matches anything. An item
 * without a dash matches an operand after the words.
 */
struct ab_deed {
	enum ab_help help;
	/*
	 * The first operands, separated by blanks: "compose up|down|restart".
	 * "|" separates choices, "create-*" matches a prefix, "**" any number
	 * of words. "": no operand is needed.
	 */
	char words[256];
	char with[160];	   /* requires one of these options; "": any */
	char without[160]; /* excludes these options; "": none */
	enum ab_rule_id rule;
	bool bare;	 /* no operand follows the words */
	char reason[56]; /* more specific than the rule's; "": use the rule's */
};

/*
 * Rows contain texts instead of pointers: a pointer would be relocated at each start of
 * the program, which copies its page.
 */
struct ab_toolbox {
	const struct ab_deed *deeds; /* those of a program stand together */
	size_t len;
	unsigned table; /* enum ab_table */
};

/* One for each text of tables/ with deeds. */
extern const struct ab_toolbox ab_tools_system, ab_tools_packages, ab_tools_git, ab_tools_git_reads,
	ab_tools_publish, ab_tools_containers, ab_tools_clouds, ab_tools_hosts, ab_tools_devices,
	ab_tools_reads, ab_tools_settings, ab_tools_keyrings;

enum { AB_OPERANDS_MAX = 8 };

/* The first operands of a command. */
struct ab_operands {
	const struct ab_field *v[AB_OPERANDS_MAX];
	bool maybe_value[AB_OPERANDS_MAX]; /* see struct ab_opt_walk */
	size_t len;
};

/* The command's program in the box, or that without a version at its end: pip3.11 is pip. NULL
 * if there is none. */
const struct ab_name_slot *ab_toolbox_find(const struct ab_toolbox *box,
					   const struct ab_simple *command);
/* Add a hit for every deed of a program that the command does: `first` in the box, and those
 * that belong to it. */
void ab_tool_match(const struct ab_toolbox *box, const struct ab_deed *first,
		   const struct ab_grammar *opts, const struct ab_simple *command,
		   struct ab_hits *hits);
/* The same for the program of a slot, with its grammar. NULL: does nothing. */
void ab_toolbox_match_as(const struct ab_toolbox *box, const struct ab_name_slot *slot,
			 const struct ab_simple *command, struct ab_hits *hits);
/* Most boxes do not have the command: they cost one test. */
static inline void ab_toolbox_match(const struct ab_toolbox *box, const struct ab_simple *command,
				    struct ab_hits *hits)
{
	if (ab_command_in(command, box->table))
		ab_toolbox_match_as(box, ab_toolbox_find(box, command), command, hits);
}

void ab_tool_operands(const struct ab_grammar *opts, const struct ab_simple *command,
		      struct ab_operands *ret);
/* Is one of the options in `list` given? `skip`: leading operands that are the
 * tool's subcommands. */
bool ab_tool_given(const struct ab_grammar *opts, const struct ab_simple *command, size_t skip,
		   const char *list);
/* The command cannot write or run anything beyond what its words say: no output goes
 * to a file, every word is known, the program belongs to the system, and no variable
 * is set that may name another program. */
bool ab_tool_plain(const struct ab_simple *command);
